/*
 * A kind of resource: how to observe it, decide about it and act. client-go and controller-runtime have no counterpart; the nearest is
 * crossplane-runtime's ExternalClient. reconcile.ts, shared by all kinds, asks whether an object being deleted `holds` anything,
 * otherwise whether the object `owns` something, and then calls, in this order:
 * - `observe`: all reads; changes nothing.
 * - `decide`: pure; the same observation gives the same decision.
 * - `act`: one step, one effect. Must be harmless when done twice, or look first. Returns the facts that must not be lost: they are
 *   written to the status even if the next step fails. A step that itself fails passes such facts to `keep`.
 */

import type { Reference } from '../base/collections/reference-index.ts';
import type { Resource } from '../kube/api.ts';
import type { Condition, ConditionUpdate } from '../kube/condition.ts';
import type { ResourceDefinition } from '../kube/definition.ts';
import type { Failure, LastError } from '../kube/failure.ts';
import type { KubeObject, ObjectKey, ObjectMeta } from '../kube/object.ts';
import type { ObjectRecord } from '../kube/record.ts';

/** The fields that every status has; each kind adds its own. */
export interface StatusBase {
  readonly observedGeneration: number;
  readonly lastHandledReconcileAt?: string | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly lastError?: LastError | undefined;
}

/** One object as a pass sees it: parsed, with defaults, and unchanged during the pass. */
export interface Subject<Spec, Status> {
  readonly key: ObjectKey;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status: Status;
  readonly deleting: boolean;
  /** A person asked for a look now (annotation reconcile-at): ignore whatever is remembered. */
  readonly lookNow: boolean;
}

/** Fields to write. Null removes a field; fields not named stay. */
export type StatusPatch<Status> = { readonly [Field in keyof Status]?: Status[Field] | null };

/** What `decide` returns: everything that a pass will do and report. */
export interface Decision<Status, Step> {
  /** All conditions that hold now, Ready first. 'keep' leaves the conditions as they are: nothing new was learned. */
  readonly conditions: readonly ConditionUpdate[] | 'keep';
  readonly status?: StatusPatch<Status>;
  /** Effects, in order. The pass ends at the first that fails; after the last, another pass looks again. */
  readonly steps?: readonly Step[];
  /** Effects that follow in later passes, once the status says so or their time comes: a paused object is told of them. */
  readonly announces?: readonly Step[];
  /** From now on something outside may exist because of this object: the finalizer must be set before anything else. */
  readonly hold?: boolean;
  /** The object is being deleted, and after the steps nothing of ours is left outside: the finalizer is removed. */
  readonly release?: boolean;
  /** The conditions follow from a look that failed. As that may pass, an object that is Ready stays Ready for `PASSING_MS`. */
  readonly mayPass?: boolean;
  /** An earlier act's failure that still holds: it is reported, and the act is not repeated yet. */
  readonly stands?: Failure | undefined;
  /** The conditions say what a person must hear before anything else: a failure does not take their place. */
  readonly prevails?: boolean;
  /** Look again with growing pauses (up to 30 s, 5 min or 30 min) until a pass returns without this. `soon`: even if a step fails. */
  readonly retry?: 'soon' | 'later' | 'slowly';
  /** Look again after this time even if nothing changes. Absent: only when something changes. */
  readonly requeueAfterMs?: number | undefined;
}

/** It is gone; another process acts on it, until it may come back from there; or it is as it was earlier, as after a restore of etcd. */
export type Forgotten = 'deleted' | 'released' | 'wentBack';

/** A kind of resource, as above. */
export interface Kind<Spec, Status extends StatusBase, Observation, Step> {
  readonly definition: ResourceDefinition<Spec, Status>;
  readonly resource: Resource;
  readonly finalizer: string;
  /** Reports whether an object that is found stalled, as at a start, is looked at at once all the same: it is worth it for each. */
  restless?(status: Status): boolean;
  /** Reads what the next three methods need. Default: undefined if the spec cannot be parsed. */
  record?(object: KubeObject | undefined): ObjectRecord<Spec, Status> | undefined;
  /** Everything else that decides about the object; a change to any of it leads to a pass. */
  references(subject: Pick<Subject<Spec, Status>, 'metadata' | 'spec' | 'status'>): readonly Reference[];
  /** Further references, until the object's next change; they may follow from more than the object. */
  extraReferences?(subject: Pick<Subject<Spec, Status>, 'metadata' | 'spec' | 'status'>): readonly Reference[];
  /** Objects of a group share a limit somewhere, such as a space's: workers serve the groups in turn. */
  group?(subject: Pick<Subject<Spec, Status>, 'metadata' | 'spec' | 'status'>): string;
  /** Reports whether anything outside may exist because of the object. If not, it may go at once. */
  holds(status: Status): boolean;
  /** Reports whether the status calls for the finalizer: if somebody removed it, it is put back before anything else. */
  owns?(subject: Pick<Subject<Spec, Status>, 'spec' | 'status'>): boolean;
  observe(subject: Subject<Spec, Status>, signal: AbortSignal): Promise<Observation>;
  decide(subject: Subject<Spec, Status>, observation: Observation, nowMs: number): Decision<Status, Step>;
  act(
    subject: Subject<Spec, Status>,
    step: Step,
    signal: AbortSignal,
    keep: (facts: StatusPatch<Status>) => void,
  ): Promise<StatusPatch<Status> | undefined>;
  /** Says in one line, for people, what the step will do. */
  describe(step: Step): string;
  /** A person has it abandoned as it is: says what must be known of that, and undoes what was done to other objects for its sake. */
  abandon?(subject: Pick<Subject<Spec, Status>, 'metadata' | 'status'>): Promise<void>;
  /** Drops what is remembered of the object. */
  forget(key: ObjectKey, why: Forgotten): void;
}
