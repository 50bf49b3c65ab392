import { isRecord } from '../base/is-record.ts';
import type { DatabaseStep } from '../kinds/database/observation.ts';
import type { ClusterStep } from '../kinds/databasecluster/observation.ts';
import type { UserStep } from '../kinds/databaseuser/observation.ts';

/** What a step means to the cluster's users, worst first. */
export const WEIGHTS = ['destroys', 'interrupts', 'costs', 'changes'] as const;
export type Weight = (typeof WEIGHTS)[number];

type StepName = ClusterStep['do'] | UserStep['do'] | DatabaseStep['do'];

/**
 * `destroys`: data or access is gone for good. `interrupts`: servers stop, or sessions end. `costs`: there is something new
 * to pay for, or more of it.
 */
const WEIGHT_OF = {
  Deploy: 'costs',
  Clone: 'costs',
  Destroy: 'destroys',
  Suspend: 'interrupts',
  Resume: 'costs',
  Rename: 'interrupts',
  Update: 'costs',
  PreparePassword: 'changes',
  PutPassword: 'interrupts',
  PromotePassword: 'changes',
  DeleteSecret: 'destroys',
  RetireSecret: 'changes',
  PrepareNext: 'changes',
  CopySecret: 'changes',
  CreateUser: 'changes',
  WriteSecret: 'changes',
  ReplaceSecret: 'changes',
  DeleteUser: 'destroys',
  TellLeft: 'changes',
  TellFactoryLogin: 'changes',
  CreateDatabase: 'changes',
  DeleteDatabase: 'destroys',
  TrySchema: 'changes',
  ApplySchema: 'changes',
} as const satisfies Record<StepName, Weight>;

/**
 * The weight of a step of any kind. One that only moves our own finalizers changes nothing for anybody else. `isNew`: nobody
 * has a login of the object yet, so replacing it ends no session.
 */
export function weightOf(step: unknown, isNew: boolean): Weight {
  const name = isRecord(step) ? String(step['do']) : '';
  if (isMachineChange(step)) return 'interrupts';
  if (isNew && name === 'PutPassword') return 'changes';
  return Object.hasOwn(WEIGHT_OF, name) ? WEIGHT_OF[name as StepName] : 'changes';
}

/** Reports whether the step makes something new, which nobody has used yet. */
export function isMaking(step: unknown): boolean {
  const makers: readonly StepName[] = ['Deploy', 'Clone', 'CreateUser'];
  return isRecord(step) && makers.some((name) => name === step['do']);
}

/** Reports whether servers move to other machines. */
function isMachineChange(step: unknown): boolean {
  return isRecord(step) && isRecord(step['changes']) && 'machineType' in step['changes'];
}
