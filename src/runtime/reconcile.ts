/*
 * One pass for one key, controller-runtime's Reconciler: read, observe, decide, act, tell. The only such function, for all kinds. It
 * reads everything first, then decides, then changes; it writes the status once, and only if it differs (also at once, of what goes and
 * waits for 5 s; and facts anew, after a conflict). It never goes on from its own change, but looks again: so a crash is an ordinary case.
 */

import type { Clock } from '../base/clock.ts';
import { TransientError } from '../base/errors.ts';
import { ABANDON, isAsked, isPaused, PAUSED, RECONCILE_AT } from '../kube/annotations.ts';
import { isConflict, isNotFound, type KubeApi, KubeError } from '../kube/api.ts';
import { type ConditionUpdate, findStatusCondition, isStatusConditionTrue, setConditions } from '../kube/condition.ts';
import { parseSpec, parseStatus } from '../kube/definition.ts';
import { asTold, type Failure, failureOf, finalizerRefused, lastErrorOf } from '../kube/failure.ts';
import type { KubeObject, ObjectKey, ObjectMeta } from '../kube/object.ts';
import { retryOnConflict } from '../kube/retry.ts';
import { statusOf, statusPatch } from '../kube/status-patch.ts';
import { failed, invalidSpec, particulars, reconciling } from '../kube/summary.ts';
import { droppedFrom, refusedWith, type Untold } from '../kube/untold.ts';
import type { Decision, Kind, StatusBase, StatusPatch, Subject } from './kind.ts';

/** A call that fails once, such as one check of a login in an hour, is no news of an object that is Ready; nor is one that is slow. */
const PASSING_MS = 5_000;
/** So often what an act has brought about is written, while somebody else is always faster. */
const MAX_WRITES_OF_FACTS = 5;

/** What the queue does with the key after a pass. */
export type Outcome =
  /** Something was done: look again at once. */
  | { readonly next: 'again' }
  /** Nothing to do now. */
  | { readonly next: 'settled'; readonly requeueAfterMs: number | undefined }
  | { readonly next: 'retry'; readonly pace: 'soon' | 'later' | 'slowly' }
  | { readonly next: 'conflict' }
  /** `soon`: something besides is to be looked at soon, whatever becomes of what failed. */
  | { readonly next: 'failed'; readonly failure: Failure; readonly soon: boolean };

export interface ReconcileContext {
  readonly api: KubeApi;
  readonly clock: Clock;
  /** Reads the object as last seen. */
  readonly read: (key: ObjectKey) => KubeObject | undefined;
  /** Takes in the answer to a write, so that the next pass sees it. */
  readonly written: (object: KubeObject) => void;
  /** Told after the status was written: what Ready was and is. */
  readonly onReady: (object: KubeObject, before: ConditionUpdate | undefined, after: ConditionUpdate) => void;
  /** The status could not be written whole, so that it does not tell. */
  readonly onUntold: (object: KubeObject, untold: Untold) => void;
  /** Told before each step; the description is for people. */
  readonly onStep: (description: string, step: unknown) => void;
  /** For how long passes have failed one after the other, if this one does. */
  readonly failsForMs: () => number;
  /** Passes have met conflicts for long: that somebody else is faster is no reason any more to say nothing. */
  readonly conflictsLast: boolean;
  /** A pass that is to be followed at once by another one leaves the telling to that one; the last of many must tell. */
  readonly tellAlways: boolean;
}

/** One pass, as above. */
export async function reconcile<Spec, Status extends StatusBase, Observation, Step>(
  kind: Kind<Spec, Status, Observation, Step>,
  context: ReconcileContext,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Outcome> {
  const object = context.read(key);
  if (object === undefined) {
    kind.forget(key, 'deleted');
    return { next: 'settled', requeueAfterMs: undefined };
  }
  try {
    return await new Pass(kind, context, object, signal).run();
  } catch (error) {
    // Somebody else wrote or deleted the object: the next pass sees what they left.
    if (isConflict(error) || isNotFound(error)) return { next: 'conflict' };
    throw error;
  }
}

class Pass<Spec, Status extends StatusBase, Observation, Step> {
  readonly #kind: Kind<Spec, Status, Observation, Step>;
  readonly #context: ReconcileContext;
  readonly #signal: AbortSignal;
  #object: KubeObject;

  constructor(
    kind: Kind<Spec, Status, Observation, Step>,
    context: ReconcileContext,
    object: KubeObject,
    signal: AbortSignal,
  ) {
    this.#kind = kind;
    this.#context = context;
    this.#object = object;
    this.#signal = signal;
  }

  async run(): Promise<Outcome> {
    if (this.#object.metadata.deletionTimestamp === undefined) return this.#look();
    let told: Promise<void> | undefined;
    const cancel = this.#context.clock.after(PASSING_MS, () => {
      told = this.#tellDeletion().catch(() => {});
    });
    try {
      return await this.#look();
    } finally {
      cancel();
      await told;
    }
  }

  /** What goes is not to look Ready while the other side lets it wait. What the pass finds comes later, and tells more. */
  async #tellDeletion(): Promise<void> {
    const status = parseStatus(this.#kind.definition, this.#object.status);
    const { conditions = [] } = status;
    if (!isStatusConditionTrue(conditions, 'Ready')) return;
    const message = 'This object is being deleted: an answer of the cloud or of a server is waited for';
    const told = [...reconciling('Deleting', message), ...particulars(conditions)];
    await this.#tell(status, { conditions: told }, {}, undefined);
  }

  async #look(): Promise<Outcome> {
    const kind = this.#kind;
    const { metadata } = this.#object;
    const status = parseStatus(kind.definition, this.#object.status);
    const deleting = metadata.deletionTimestamp !== undefined;
    if (deleting) {
      if (!this.#hasFinalizer()) return { next: 'settled', requeueAfterMs: undefined };
      if (metadata.annotations?.[ABANDON] === 'true')
        return this.#setFinalizer(false, status, () => kind.abandon?.({ metadata, status }));
      if (!kind.holds(status)) return this.#setFinalizer(false, status);
    }

    const parsed = parseSpec(kind.definition, this.#object.spec);
    if (!parsed.ok) return this.#tell(status, { conditions: invalidSpec(parsed.message, deleting) }, {}, undefined);
    const lookNow = isAsked(metadata, status);
    const key = `${metadata.namespace ?? ''}/${metadata.name}`;
    const subject: Subject<Spec, Status> = { key, metadata, spec: parsed.spec, status, deleting, lookNow };

    // What is being deleted has it still, as above.
    if (!isPaused(metadata) && kind.owns?.(subject) && !this.#hasFinalizer()) return this.#setFinalizer(true, status);
    let decision: Decision<Status, Step>;
    try {
      const observation = await kind.observe(subject, this.#signal);
      decision = withheld(kind, subject, kind.decide(subject, observation, this.#context.clock.now()));
    } catch (error) {
      return this.#tellFailure(status, error);
    }
    return this.#carryOut(subject, decision);
  }

  async #carryOut(subject: Subject<Spec, Status>, decision: Decision<Status, Step>): Promise<Outcome> {
    const steps = decision.steps ?? [];
    try {
      if ((decision.hold || steps.length > 0) && !subject.deleting && !this.#hasFinalizer())
        await this.#writeFinalizer(true);
    } catch (error) {
      return this.#tellRefusal(subject.status, error);
    }
    const facts: StatusPatch<Status> = {};
    const keep = (more: StatusPatch<Status> | undefined) => Object.assign(facts, more);
    let failure: Failure | undefined;
    try {
      for (const step of steps) {
        this.#context.onStep(this.#kind.describe(step), step);
        keep(await this.#kind.act(subject, step, this.#signal, keep));
      }
    } catch (error) {
      failure = failureOf(error);
      if (this.#isNoNews(failure)) {
        const patch = statusPatch(subject.status, facts);
        if (patch !== undefined) await this.#writeStatus(patch, facts);
        throw error;
      }
    }
    if (decision.release && failure === undefined) return this.#setFinalizer(false, subject.status);
    const acted = steps.length > 0 && failure === undefined;
    const silent = acted && Object.keys(facts).length === 0 && !this.#context.tellAlways;
    if (silent) return { next: 'again' };
    const outcome = await this.#tell(subject.status, decision, facts, failure);
    return acted ? { next: 'again' } : outcome;
  }

  /** Of a pass that failed before any step: all that was said besides stands. Throws what is no news. */
  async #tellFailure(status: Status, error: unknown): Promise<Outcome> {
    const failure = failureOf(error);
    if (this.#isNoNews(failure)) throw error;
    return this.#tell(status, { conditions: status.conditions ?? [], mayPass: failure.mayPass }, {}, failure);
  }

  #isNoNews({ lasting }: Failure): boolean {
    return lasting === 'conflict' && !this.#context.conflictsLast;
  }

  /** Of a write of finalizers that was refused: the status may be open all the same. */
  #tellRefusal(status: Status, error: unknown): Promise<Outcome> {
    if (!(error instanceof KubeError || error instanceof TransientError) || isNotFound(error)) throw error;
    return this.#tellFailure(status, error);
  }

  /** Writes the status, if it differs: once a pass, but for `#tellDeletion`. */
  async #tell(
    status: Status,
    decision: Decision<Status, Step>,
    facts: StatusPatch<Status>,
    found: Failure | undefined,
  ): Promise<Outcome> {
    const { metadata } = this.#object;
    const nowMs = this.#context.clock.now();
    const generation = metadata.generation ?? 0;
    // Whoever is to come back later than that tells now.
    const leftMs = PASSING_MS - this.#context.failsForMs() - (found?.retryAfterMs ?? 0);
    const passing = decision.mayPass === true && leftMs > 0 && isReady(metadata, status);
    const failure = found ? asTold(status, found, generation) : decision.stands;
    const previous = status.conditions ?? [];
    const decided = decision.conditions === 'keep' ? previous : decision.conditions;
    const updates: readonly ConditionUpdate[] = failure === undefined ? decided : failed(decided, failure);
    const keep = passing || (decision.conditions === 'keep' && failure === undefined);
    const patch = statusPatch(status, {
      ...decision.status,
      ...facts,
      ...(keep
        ? {}
        : {
            observedGeneration: generation,
            conditions: setConditions(previous, updates, generation, nowMs),
            lastError: lastErrorOf(status.lastError, failure, nowMs),
          }),
      lastHandledReconcileAt: metadata.annotations?.[RECONCILE_AT] ?? null,
    });
    if (patch !== undefined) {
      await this.#writeStatus(patch, facts);
      const before = findStatusCondition(previous, 'Ready');
      const ready = findStatusCondition(updates, 'Ready');
      if (ready !== undefined && !keep) this.#context.onReady(this.#object, before, ready);
    }
    if (found !== undefined) return { next: 'failed', failure: found, soon: decision.retry === 'soon' };
    if (decision.retry !== undefined) return { next: 'retry', pace: decision.retry };
    return { next: 'settled', requeueAfterMs: decision.requeueAfterMs };
  }

  /** Optimistic: no newer status is overwritten. But what an act has brought about must not be lost: it goes onto the newest version. */
  async #writeStatus(patch: Record<string, unknown>, facts: StatusPatch<Status>): Promise<void> {
    const { api } = this.#context;
    const { namespace, name, uid, resourceVersion } = this.#object.metadata;
    const ref = { namespace, name };
    const write = async (version: string, status: object) => {
      const body = { metadata: { resourceVersion: version }, status };
      const written = api.patch(this.#kind.resource, ref, body, { subresource: 'status' });
      const untold = await written.then((answer) => droppedFrom(status, answer), refusedWith);
      if (untold !== undefined) this.#context.onUntold(this.#object, untold);
      this.#take(await written);
    };
    try {
      await write(resourceVersion, patch);
    } catch (error) {
      if (!isConflict(error) || Object.keys(facts).length === 0) throw error;
      await retryOnConflict(MAX_WRITES_OF_FACTS, async () => {
        const newest = await api.get(this.#kind.resource, ref);
        if (newest?.metadata.uid !== uid) return;
        const rest = statusPatch(statusOf(newest), facts);
        if (rest !== undefined) await write(newest.metadata.resourceVersion, rest);
        // All of it is there, and the watch has not said so: the next pass is not to do it once more.
        else this.#take(newest);
      });
      throw error;
    }
  }

  #hasFinalizer(): boolean {
    return this.#object.metadata.finalizers?.includes(this.#kind.finalizer) ?? false;
  }

  /** A pass that does nothing else, but for what comes `first`. */
  async #setFinalizer(stands: boolean, status: Status, first?: () => Promise<void> | undefined): Promise<Outcome> {
    try {
      await first?.();
      await this.#writeFinalizer(stands);
    } catch (error) {
      return this.#tellRefusal(status, error);
    }
    return stands ? { next: 'again' } : { next: 'settled', requeueAfterMs: undefined };
  }

  /** Writes the whole list, which is safe as the version must still be the one that was read. */
  async #writeFinalizer(stands: boolean): Promise<void> {
    const { namespace, name, resourceVersion, finalizers = [] }: ObjectMeta = this.#object.metadata;
    const own = this.#kind.finalizer;
    const others = finalizers.filter((each) => each !== own);
    const patch = { metadata: { resourceVersion, finalizers: stands ? [...others, own] : others } };
    this.#take(await this.#context.api.patch(this.#kind.resource, { namespace, name }, patch));
    if (stands && !this.#hasFinalizer()) throw finalizerRefused(own);
  }

  #take(answer: unknown): void {
    // The answer to a write of an object of this kind is an object of this kind.
    this.#object = answer as KubeObject;
    this.#context.written(this.#object);
  }
}

/** As it is now, and nobody asks for more. */
function isReady(metadata: ObjectMeta, status: StatusBase): boolean {
  const ready = findStatusCondition(status.conditions, 'Ready');
  const isTrue = ready?.status === 'True' && ready.observedGeneration === (metadata.generation ?? 0);
  return isTrue && !isAsked(metadata, status);
}

/** Steps are data, so what a person forbade is filtered here once for all kinds. */
function withheld<Spec, Status extends StatusBase, Observation, Step>(
  kind: Kind<Spec, Status, Observation, Step>,
  subject: Subject<Spec, Status>,
  decision: Decision<Status, Step>,
): Decision<Status, Step> {
  const pending = decision.steps ?? [];
  if (!isPaused(subject.metadata) || (pending.length === 0 && !decision.hold && !decision.release)) return decision;
  const what = pending.length === 0 ? '' : `, and would ${pending.map((step) => kind.describe(step)).join(', then ')}`;
  const message = `Paused by annotation ${PAUSED}: Mooring changes nothing${what}. Remove the annotation to go on`;
  const rest = decision.conditions === 'keep' ? (subject.status.conditions ?? []) : decision.conditions;
  return {
    conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Paused', message }, ...particulars(rest)],
    // What is seen is still told; what announces a change that is not made is not.
    ...(decision.hold || decision.status === undefined ? {} : { status: decision.status }),
    ...(decision.retry === undefined ? {} : { retry: decision.retry }),
    // To go on at once with what is held back would never end.
    ...((decision.requeueAfterMs ?? 0) > 0 ? { requeueAfterMs: decision.requeueAfterMs } : {}),
  };
}
