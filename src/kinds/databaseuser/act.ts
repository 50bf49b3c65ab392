import { TransientError } from '../../base/errors.ts';
import { type OpenServer, serverAccess } from '../server/access.ts';
import { createUser, deleteUser, putPassword } from './act-server.ts';
import type { OnServer, UserStatusPatch, UserStep, UserSubject } from './observation.ts';
import {
  copySecret,
  prepareNext,
  promotePassword,
  replaceSecret,
  retireSecret,
  writeSecret,
} from './secret/act-secret.ts';
import { type LocalWork, workOn } from './work.ts';
import type { UserWorld } from './world.ts';

/** Carries out one step. Passwords are read and generated here, for this one use. */
export async function actOnUser(
  world: UserWorld,
  subject: UserSubject,
  step: UserStep,
  signal: AbortSignal,
): Promise<UserStatusPatch | undefined> {
  const local = { world, subject, signal };
  if (step.do === 'TellLeft') {
    world.onLeft(subject.key, step.message);
    return undefined;
  }
  if (step.do === 'RetireSecret') return retireSecret(local, step);
  const work = workOn(local, await accessFor(local, step));
  switch (step.do) {
    case 'PrepareNext':
      return prepareNext(work, step);
    case 'CopySecret':
      return copySecret(work, step.from);
    case 'CreateUser':
      return createUser(work, step);
    case 'PutPassword':
      return putPassword(work, step);
    case 'PromotePassword':
      return promotePassword(work);
    case 'WriteSecret':
      return writeSecret(work, step.isOwn);
    case 'ReplaceSecret':
      return replaceSecret(work);
    case 'DeleteUser':
      return deleteUser(work, step);
    default:
      return step satisfies never;
  }
}

/** Returns the server that was decided about, or throws if it is another one now. */
async function accessFor(
  { world, subject, signal }: LocalWork,
  step: UserStep | (UserStep & OnServer),
): Promise<OpenServer> {
  const access = await serverAccess(world, subject, signal);
  const isSame = access.server === 'open' && (!('identity' in step) || step.identity === access.identity);
  if (!isSame)
    throw new TransientError('ClusterChanged', 'The DatabaseCluster changed meanwhile: Mooring checks it again');
  return access;
}
