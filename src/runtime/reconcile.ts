/*
 * One pass for one key, like controller-runtime's Reconciler: read, observe, decide, act, report. All kinds use this one. It reads
 * everything first, then decides, then changes. It writes the status once, and only if it differs (also midway, if a deletion or the
 * first look takes 5 s; and facts again, after a conflict). It never goes on from its own change but looks again, so a crash is an
 * ordinary case.
 */

import type { Clock } from '../base/clock.ts';
import { TransientError } from '../base/errors.ts';
import { ABANDONED, isAbandoned, isAsked, isPaused, PAUSED, PAUSED_REASON, RECONCILE_AT } from '../kube/annotations.ts';
import { isConflict, isNotFound, type KubeApi, KubeError } from '../kube/api.ts';
import { type ConditionUpdate, findStatusCondition, isStatusConditionTrue, setConditions } from '../kube/condition.ts';
import { parseSpec, parseStatus } from '../kube/definition.ts';
import { asLeaving, asTold, type Failure, failureOf, finalizerRefused, lastErrorOf } from '../kube/failure.ts';
import { type KubeObject, keyOf, type ObjectKey, type ObjectMeta } from '../kube/object.ts';
import { retryOnConflict } from '../kube/retry.ts';
import { statusOf, statusPatch } from '../kube/status-patch.ts';
import { failed, invalidSpec, isReady, PASSING_MS, particulars, RELEASED, waitingForAnswer } from '../kube/summary.ts';
import { droppedFrom, refusedWith, type Untold } from '../kube/untold.ts';
import type { Decision, Kind, StatusBase, StatusPatch, Subject } from './kind.ts';

/** Attempts to write what an act has brought about while somebody else is always faster. */
const MAX_WRITES_OF_FACTS = 5;

/** What the queue does with the key after a pass. */
export type Outcome =
  /** Something was done: look again at once. */
  | { readonly next: 'again' }
  /** Nothing to do now. */
  | { readonly next: 'settled'; readonly requeueAfterMs: number | undefined }
  /** `fails`: what was found is a failure that may pass. Untold: it was not reported, and must be once it has lasted. */
  | { readonly next: 'retry'; readonly pace: 'soon' | 'later' | 'slowly'; readonly fails: false | 'told' | 'untold' }
  | { readonly next: 'conflict' }
  /** `soon`: something else must be looked at soon, whatever becomes of the failure. */
  | { readonly next: 'failed'; readonly failure: Failure; readonly soon: boolean };

export interface ReconcileContext {
  readonly api: KubeApi;
  readonly clock: Clock;
  /** Returns the object as last seen. */
  readonly read: (key: ObjectKey) => KubeObject | undefined;
  /** Takes in the answer to a write, so that the next pass sees it. */
  readonly written: (object: KubeObject) => void;
  /** Called after the status was written, with Ready before and after. */
  readonly onReady: (object: KubeObject, before: ConditionUpdate | undefined, after: ConditionUpdate) => void;
  /** Called with what the status does not say: it could not be written in full, or the object is gone. */
  readonly onUntold: (object: KubeObject, untold: Untold) => void;
  /** Called before each step; the description is for people. */
  readonly onStep: (description: string, step: unknown) => void;
  /** Returns for how long passes will have failed one after the other if this one fails. */
  readonly failsForMs: () => number;
  /** Conflicts have lasted so long that they must be reported, though they only mean that somebody else was faster. */
  readonly conflictsLast: boolean;
  /** A pass followed at once by another leaves the reporting to that one; the last of many must report. */
  readonly tellAlways: boolean;
}

/** Runs one pass, as above. */
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
  #parsed: Status | undefined;

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
    let told: Promise<void> | undefined;
    const cancel = this.#context.clock.after(PASSING_MS, () => {
      told = this.#tellWaiting().catch(() => {});
    });
    try {
      return await this.#look();
    } finally {
      cancel();
      await told;
    }
  }

  /**
   * While the other side is slow, an object being deleted must not look Ready, and a new one must not say nothing. What the pass finds
   * comes later, and says more.
   */
  async #tellWaiting(): Promise<void> {
    const { conditions = [] } = this.#status;
    const deleting = this.#object.metadata.deletionTimestamp !== undefined;
    if (deleting ? !isStatusConditionTrue(conditions, 'Ready') : conditions.length > 0) return;
    // Nothing else: what a person asked for was not looked at yet, and what failed before may still fail.
    await this.#writeIfChanged({}, {}, [...waitingForAnswer(deleting), ...particulars(conditions)]);
  }

  async #look(): Promise<Outcome> {
    const kind = this.#kind;
    const { metadata } = this.#object;
    const status = this.#status;
    const deleting = metadata.deletionTimestamp !== undefined;
    if (deleting) {
      if (!this.#hasFinalizer()) return this.#tell({ conditions: RELEASED }, {}, undefined);
      if (isAbandoned(metadata)) {
        const outcome = await this.#setFinalizer(false, () => kind.abandon?.({ metadata, status }));
        if (outcome.next === 'settled') this.#context.onUntold(this.#object, ABANDONED);
        return outcome;
      }
      if (!kind.holds(status)) return this.#setFinalizer(false);
    }

    const parsed = parseSpec(kind.definition, this.#object.spec);
    if (!parsed.ok) return this.#tell({ conditions: invalidSpec(parsed.message, deleting) }, {}, undefined);
    const [key, lookNow] = [keyOf(this.#object), isAsked(metadata, status)];
    const subject: Subject<Spec, Status> = { key, metadata, spec: parsed.spec, status, deleting, lookNow };

    // An object being deleted still has it, as checked above.
    if (!isPaused(metadata) && kind.owns?.(subject) && !this.#hasFinalizer()) return this.#setFinalizer(true);
    let decision: Decision<Status, Step>;
    try {
      const observation = await kind.observe(subject, this.#signal);
      decision = whilePaused(kind, subject, kind.decide(subject, observation, this.#context.clock.now()));
    } catch (error) {
      return this.#tellFailure(error);
    }
    return this.#carryOut(subject, decision);
  }

  async #carryOut(subject: Subject<Spec, Status>, decision: Decision<Status, Step>): Promise<Outcome> {
    const steps = decision.steps ?? [];
    try {
      if ((decision.hold || steps.length > 0) && !this.#hasFinalizer()) await this.#writeFinalizer(true);
    } catch (error) {
      return this.#tellRefusal(error);
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
        await this.#writeIfChanged({}, facts);
        throw error;
      }
    }
    if (decision.release && failure === undefined) return this.#setFinalizer(false);
    const acted = steps.length > 0 && failure === undefined;
    if (acted && Object.keys(facts).length === 0 && !this.#context.tellAlways) return { next: 'again' };
    const outcome = await this.#tell(decision, facts, failure);
    return acted ? { next: 'again' } : outcome;
  }

  /** Reports a pass that failed before any step; all other conditions stay. Throws a failure that is no news. */
  async #tellFailure(error: unknown): Promise<Outcome> {
    const failure = failureOf(error);
    if (this.#isNoNews(failure)) throw error;
    return this.#tell({ conditions: this.#status.conditions ?? [], mayPass: failure.mayPass }, {}, failure);
  }

  #isNoNews({ lasting }: Failure): boolean {
    return lasting === 'conflict' && !this.#context.conflictsLast;
  }

  /** Reports that a write of finalizers was refused: the status may be writable all the same. */
  #tellRefusal(error: unknown): Promise<Outcome> {
    if (!(error instanceof KubeError || error instanceof TransientError) || isNotFound(error)) throw error;
    return this.#tellFailure(error);
  }

  /** Writes the status, once per pass. */
  async #tell(
    decision: Decision<Status, Step>,
    facts: StatusPatch<Status>,
    found: Failure | undefined,
  ): Promise<Outcome> {
    const { metadata } = this.#object;
    const status = this.#status;
    const failure = asLeaving(metadata, found ? asTold(status, found, metadata.generation ?? 0) : decision.stands);
    // Undefined: the conditions stay as they are.
    const decided = decision.conditions === 'keep' ? failure && (status.conditions ?? []) : decision.conditions;
    const told = this.#isPassing(status, decision, found) ? undefined : decided;
    const updates = told && failure && !decision.prevails ? failed(told, failure) : told;
    const lastError = updates && { lastError: lastErrorOf(status.lastError, failure, this.#context.clock.now()) };
    const lastHandledReconcileAt = metadata.annotations?.[RECONCILE_AT] ?? null;
    await this.#writeIfChanged({ ...decision.status, ...lastError, lastHandledReconcileAt }, facts, updates);
    if (found !== undefined) return { next: 'failed', failure: found, soon: decision.retry === 'soon' };
    if (decision.retry === undefined) return { next: 'settled', requeueAfterMs: decision.requeueAfterMs };
    const fails = decision.mayPass === true && (told === decided ? 'told' : 'untold');
    return { next: 'retry', pace: decision.retry, fails };
  }

  /** Reports whether a failure need not be reported yet. If the next try comes too late, it is reported now. */
  #isPassing(status: Status, { mayPass, conditions }: Decision<Status, Step>, found: Failure | undefined): boolean {
    const leftMs = PASSING_MS - this.#context.failsForMs() - (found?.retryAfterMs ?? 0);
    // To be asked to come back in a second is no news, but must not hide any; any other failure is, unless the object works all the same.
    const [was, is] = [status.conditions, conditions === 'keep' ? status.conditions : conditions];
    const isLost = isStatusConditionTrue(was, 'Ready') && !isStatusConditionTrue(is, 'Ready');
    const isPause = found?.mayPass === true && found.details.httpStatus === 429 && !isLost;
    return leftMs > 0 && (isPause || (mayPass === true && isReady(this.#object.metadata, status)));
  }

  /** Writes what differs; `updates` undefined: the conditions stay as they are. */
  async #writeIfChanged(
    changes: object,
    facts: StatusPatch<Status>,
    updates?: readonly ConditionUpdate[],
  ): Promise<void> {
    const status = this.#status;
    const generation = this.#object.metadata.generation ?? 0;
    const summary = updates && {
      observedGeneration: generation,
      conditions: setConditions(status.conditions ?? [], updates, generation, this.#context.clock.now()),
    };
    const patch = statusPatch(status, { ...changes, ...facts, ...summary });
    if (patch === undefined) return;
    await this.#writeStatus(patch, facts);
    const ready = findStatusCondition(updates, 'Ready');
    if (ready !== undefined)
      this.#context.onReady(this.#object, findStatusCondition(status.conditions, 'Ready'), ready);
  }

  /** Never overwrites a newer status. But what an act has brought about must not be lost: it goes onto the newest version. */
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
        // All of it is there, but the watch has not said so yet: the next pass must not do it again.
        else this.#take(newest);
      });
      throw error;
    }
  }

  /** As it was last written: this pass itself may have. */
  get #status(): Status {
    this.#parsed ??= parseStatus(this.#kind.definition, this.#object.status);
    return this.#parsed;
  }

  #hasFinalizer(): boolean {
    return this.#object.metadata.finalizers?.includes(this.#kind.finalizer) ?? false;
  }

  /** Sets or removes the finalizer, after what comes `first`; the pass does nothing else. */
  async #setFinalizer(stands: boolean, first?: () => Promise<void> | undefined): Promise<Outcome> {
    try {
      await first?.();
      await this.#writeFinalizer(stands);
    } catch (error) {
      return this.#tellRefusal(error);
    }
    return stands ? { next: 'again' } : { next: 'settled', requeueAfterMs: undefined };
  }

  /** Writes the whole list, which is safe because the version must still be the one that was read. */
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
    this.#parsed = undefined;
    this.#context.written(this.#object);
  }
}

/** Drops the steps of a paused object. Steps are data, so this is done here once for all kinds. */
function whilePaused<Spec, Status extends StatusBase, Observation, Step>(
  kind: Kind<Spec, Status, Observation, Step>,
  subject: Subject<Spec, Status>,
  decision: Decision<Status, Step>,
): Decision<Status, Step> {
  const pending = [...(decision.steps ?? []), ...(decision.announces ?? [])];
  if (!isPaused(subject.metadata) || (pending.length === 0 && !decision.hold && !decision.release)) return decision;
  const would = pending.map((step) => kind.describe(step));
  const what = would.length === 0 ? '' : `, and would ${would.join(', then ')}`;
  const message = `Paused by annotation ${PAUSED}: Mooring changes nothing${what}. Remove the annotation to go on`;
  const rest = decision.conditions === 'keep' ? (subject.status.conditions ?? []) : decision.conditions;
  return {
    conditions: [{ type: 'Ready', status: 'Unknown', reason: PAUSED_REASON, message }, ...particulars(rest)],
    // What is seen is still reported; a status that announces a change, which would follow at once and is not made, is not.
    ...((decision.hold && decision.requeueAfterMs === 0) || !decision.status ? {} : { status: decision.status }),
    // Going on at once with what is held back would never end, but what was seen may change.
    ...((decision.requeueAfterMs ?? 0) > 0 ? { requeueAfterMs: decision.requeueAfterMs } : { retry: 'slowly' }),
    ...(decision.retry === undefined ? {} : { retry: decision.retry }),
  };
}
