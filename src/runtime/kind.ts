/*
 * A kind of resource: how it is read, judged and brought about. client-go and controller-runtime have no counterpart; the
 * nearest is crossplane-runtime's ExternalClient. The one reconcile (reconcile.ts) asks whether the object `holds` anything
 * when it is deleted, and else whether it `owns` something, and then calls, in this order:
 * - `observe`: all reads; changes nothing.
 * - `decide`: pure; the same observation gives the same decision.
 * - `act`: one step, one effect. Must be harmless when done twice, or look first. Returns what must not be lost, for the
 *   status: it is written even if the next step fails. `keep` takes the same of a step that fails itself.
 */

import type { Reference } from '../base/reference-index.ts';
import type { Resource } from '../kube/api.ts';
import type { Condition, ConditionUpdate } from '../kube/condition.ts';
import type { ResourceDefinition } from '../kube/definition.ts';
import type { Failure, LastError } from '../kube/failure.ts';
import type { KubeObject, ObjectKey, ObjectMeta } from '../kube/object.ts';
import type { ObjectRecord } from '../kube/record.ts';

/** What every status holds; the rest is the kind's. */
export interface StatusBase {
  readonly observedGeneration: number;
  readonly lastHandledReconcileAt?: string | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly lastError?: LastError | undefined;
}

/** One resource as a pass sees it: parsed, with defaults, and not changed while the pass lasts. */
export interface Subject<Spec, Status> {
  readonly key: ObjectKey;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status: Status;
  readonly deleting: boolean;
  /** A person asked for a look now (annotation reconcile-at): nothing remembered counts. */
  readonly lookNow: boolean;
}

/** Fields to write; null removes one; what is not named stays. */
export type StatusPatch<Status> = { readonly [Field in keyof Status]?: Status[Field] | null };

/** What `decide` returns: everything that a pass will do and say. */
export interface Decision<Status, Step> {
  /** All conditions that hold now, Ready first. 'keep': what is there stays (nothing new was learned). */
  readonly conditions: readonly ConditionUpdate[] | 'keep';
  readonly status?: StatusPatch<Status>;
  /** Effects, in order; the pass ends at the first that fails, and looks again after the last. */
  readonly steps?: readonly Step[];
  /** Something outside may exist because of this object from now on: the finalizer must stand before anything else. */
  readonly hold?: boolean;
  /** Being deleted, and after the steps nothing of ours is left outside: the finalizer goes. */
  readonly release?: boolean;
  /** The conditions follow from a look that failed: what is Ready stays so as long as that may pass, for some seconds. */
  readonly mayPass?: boolean;
  /** What an act before this pass failed with still holds, and that is told; it is not to be done again yet. */
  readonly stands?: Failure | undefined;
  /** Look again with growing pauses, until a pass comes without this: of up to 30 s, 5 min or 30 min. `soon`: also where a step fails. */
  readonly retry?: 'soon' | 'later' | 'slowly';
  /** Look again after this time, also if nothing is heard. Absent: only when something changes. */
  readonly requeueAfterMs?: number | undefined;
}

/** `deleted`: it is gone. `released`: another process acts on it from now on, from which it may come back. */
export type Forgotten = 'deleted' | 'released';

/** As above. */
export interface Kind<Spec, Status extends StatusBase, Observation, Step> {
  readonly definition: ResourceDefinition<Spec, Status>;
  readonly resource: Resource;
  readonly finalizer: string;
  /** Reads what the next three are asked about. Default: nothing of an object whose spec cannot be read. */
  record?(object: KubeObject | undefined): ObjectRecord<Spec, Status> | undefined;
  /** What decides about the object besides itself; a change of it leads to a pass. */
  references(subject: Pick<Subject<Spec, Status>, 'metadata' | 'spec' | 'status'>): readonly Reference[];
  /** What it refers to besides, until its next change; may follow from more than the object. */
  extraReferences?(subject: Pick<Subject<Spec, Status>, 'metadata' | 'spec' | 'status'>): readonly Reference[];
  /** Objects of a group share a limit somewhere, such as a space's: workers turn to the groups one after the other. */
  group?(subject: Pick<Subject<Spec, Status>, 'metadata' | 'spec' | 'status'>): string;
  /** Whether anything outside may exist because of the object. If not, it may go at once. */
  holds(status: Status): boolean;
  /** Whether the finalizer must stand, for what the status tells of: where somebody took it away, it is put back first of all. */
  owns?(subject: Pick<Subject<Spec, Status>, 'spec' | 'status'>): boolean;
  observe(subject: Subject<Spec, Status>, signal: AbortSignal): Promise<Observation>;
  decide(subject: Subject<Spec, Status>, observation: Observation, nowMs: number): Decision<Status, Step>;
  act(
    subject: Subject<Spec, Status>,
    step: Step,
    signal: AbortSignal,
    keep: (facts: StatusPatch<Status>) => void,
  ): Promise<StatusPatch<Status> | undefined>;
  /** One line for people: what the step is going to do. */
  describe(step: Step): string;
  /** A person has this object let go as it is: what was done to others for its sake, in Kubernetes, is undone. */
  abandon?(subject: Pick<Subject<Spec, Status>, 'metadata' | 'status'>): Promise<void>;
  /** What is remembered of the object may go. */
  forget(key: ObjectKey, why: Forgotten): void;
}
