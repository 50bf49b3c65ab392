import type { NodeName } from '../plugin/node-name.ts';
import type { Change } from './changes.ts';
import type { Weight } from './weight.ts';

export interface PlannedStep {
  readonly description: string;
  readonly weight: Weight;
  /** It does not succeed, and is retried until something else changes. */
  readonly fails?: true;
}

/** What happens to one object. */
export interface Outcome {
  readonly name: NodeName;
  readonly change: 'create' | 'update' | 'delete' | 'none';
  /** Fields of the spec, and annotations of Mooring, before and after. */
  readonly fields: readonly Change[];
  readonly steps: readonly PlannedStep[];
  /** How it ends; undefined: it is gone. */
  readonly end: { readonly ready: string; readonly reason: string; readonly message: string } | undefined;
  /** If the object is deleted but what it stands for is not: what stays, and where. */
  readonly stays?: string;
  /** If the deletion has to wait: what is destroyed afterwards, without another plan. */
  readonly later?: string;
  /** It happens with or without the changes asked for. */
  readonly alsoDue?: true;
}

export interface Plan {
  /** Spaces, clusters, then what is on them; deleted objects come last, in reverse order. */
  readonly outcomes: readonly Outcome[];
  /** All steps in order, each with its object's name. */
  readonly steps: readonly (PlannedStep & { readonly name: NodeName })[];
  /** What the plan assumes that nobody can know before it is carried out. */
  readonly notes: readonly string[];
}

/** The plan for some of its objects. */
export function limited<P extends Pick<Plan, 'outcomes' | 'steps'>>(plan: P, isMeant: (name: NodeName) => boolean): P {
  return {
    ...plan,
    outcomes: plan.outcomes.filter(({ name }) => isMeant(name)),
    steps: plan.steps.filter(({ name }) => isMeant(name)),
  };
}
