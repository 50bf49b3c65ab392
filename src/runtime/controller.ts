/*
 * The controller of one kind, as in controller-runtime: changes → queue → workers → reconcile → queue.
 * - It hears of its objects (predicate: `isNews`) and, by `enqueueDependents`, of what they refer to (EnqueueRequestsFromMapFunc).
 * - What a person changed is urgent, and stays so while passes follow one another at once, after a conflict, and if it was told when to
 *   come back. Due checks, and objects in order at a start, come last. An object that was stalled when work began comes back within about
 *   the time it has been stalled, ten minutes at most.
 * - Before it runs, another process may, so changes queue nothing; when it begins, all objects are queued.
 * - No key is ever lost: whatever a pass throws is logged, and the key comes back with growing pauses.
 * - Beyond client-go: `gate` says whether a key is this process's, and `pace` when to give other work a turn.
 */

import type { Clock } from '../base/clock.ts';
import { type Reference, ReferenceIndex } from '../base/collections/reference-index.ts';
import { messageOf } from '../base/errors.ts';
import { logAbout, type PlainLog } from '../base/log.ts';
import type { Pace } from '../base/pace.ts';
import type { Random } from '../base/random.ts';
import { inSlices } from '../base/slices.ts';
import { inSpan } from '../base/trace.ts';
import { Mistakes } from '../kube/annotations.ts';
import { type KubeApi, KubeError } from '../kube/api.ts';
import { parseStatus } from '../kube/definition.ts';
import { type KubeObject, type ObjectKey, splitKey } from '../kube/object.ts';
import { isNews, isSuccessor } from '../kube/predicate.ts';
import { type ObjectRecord, recordReader } from '../kube/record.ts';
import { PASSING_MS } from '../kube/summary.ts';
import { tells, type Untold } from '../kube/untold.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { Informer } from './informer.ts';
import { initialPriority } from './initial-priority.ts';
import type { Forgotten, Kind, StatusBase } from './kind.ts';
import type { ControllerMetrics } from './metrics.ts';
import { type Outcome, reconcile } from './reconcile.ts';
import { type Priority, WORKERS_IN_ALL, WorkQueue } from './workqueue.ts';

/** Decides whose work a key is when several processes share it. */
export interface KeyGate {
  /** Reports whether the key is this process's; if so, `end` is called after its pass. */
  begin(key: ObjectKey): Promise<boolean>;
  end(key: ObjectKey): void;
}

export interface ControllerOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: PlainLog;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: ControllerMetrics;
  readonly concurrency: number;
  /** Shared by all controllers, so that together they never hold the event loop for long. */
  readonly pace: Pace;
  /** Called before each step of any object. */
  readonly onStep?: ((told: StepTold) => void) | undefined;
  /** Default: every key is this process's. */
  readonly gate?: KeyGate | undefined;
}

/** A step that is about to be done. */
export interface StepTold {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly description: string;
  readonly step: unknown;
}

/** Retries after a failure that may pass with time: 1 s doubled up to 5 min. */
const BACKOFF = { initialMs: 1_000, maxMs: 300_000 };
/** Looks at something about to come up by itself: 1 s doubled up to 30 s. */
const SOON_BACKOFF = { initialMs: 1_000, maxMs: 30_000 };
/** Retries of what a person must fix: 1 min doubled up to 30 min, unless something it depends on changes earlier. */
const SLOW_BACKOFF = { initialMs: 60_000, maxMs: 1_800_000 };
/** `slowly` is an object of its own, to be counted apart: that a name is taken, for instance, does not tell how long a refusal lasts. */
const PACES = { soon: SOON_BACKOFF, later: BACKOFF, slowly: { ...SLOW_BACKOFF } };
/** After a conflict the newer version is on its way. */
const CONFLICT_BACKOFF = { initialMs: 50, maxMs: 5_000 };
/** Conflicts that last this long will not be ended by a newer version: an admission webhook may say 409 for ever. */
const CONFLICT_MS = 60_000;
/** Retries of a key that was told when to come: soon after that, when what it waits for goes on for all. */
const TOLD_BACKOFF = { initialMs: 1_000, maxMs: 15_000 };
/** For `enqueueDependents`, for things that change often and are looked at as a whole: many changes lead to one pass. */
export const SOON_MS = 500;
/** Delay before a look at a status that this process did not write: a former leader's last word, or a person's. */
const FOREIGN_STATUS_MS = 60_000;
/** Passes that did something and follow one another at once: more in a row than this are a loop, not progress. */
const MAX_REQUEUES_AT_ONCE = 20;
/** Objects queued in one go before other work has its turn. */
const SLICE = 50;

/** The controller of one kind, as above. */
export class Controller<Spec, Status extends StatusBase, Observation, Step> {
  readonly queue: WorkQueue;
  readonly #kind: Kind<Spec, Status, Observation, Step>;
  readonly #informer: Informer<KubeObject>;
  readonly #options: ControllerOptions;
  /** Which objects refer to what. */
  readonly references = new ReferenceIndex();
  readonly #groups = new Map<ObjectKey, string>();
  #runs = false;
  /** Before it runs: objects not in order, which come first. Reading thousands that are in order again would take seconds. */
  readonly #unsettled = new Set<ObjectKey>();
  /** Objects stalled since before work began: changes that are no news to a person do not wake them. */
  readonly #stalledAtStart = new Set<ObjectKey>();
  /** The key whose change comes from its running pass: it is no news, and would only undo that pass's pause. */
  #writing: ObjectKey | undefined;
  /** By key, the version of a change to the status alone that the watch reported, until it proves to be our own write. */
  readonly #foreignStatus = new Map<ObjectKey, string>();
  /** Keys whose object was replaced, or went back, during its pass: what that pass remembers is not about what is there now. */
  readonly #replaced = new Map<ObjectKey, Forgotten>();
  readonly #requeuesAtOnce = new Map<ObjectKey, number>();
  /** Status fields that were written and dropped. */
  readonly #missing = new Map<ObjectKey, readonly string[]>();
  /** When the first of a key's consecutive passes with conflicts ended, by the monotonic clock. */
  readonly #conflictsSince = new Map<ObjectKey, number>();
  readonly #mistakes = new Mistakes();
  readonly #read: (object: KubeObject | undefined) => ObjectRecord<Spec, Status> | undefined;

  constructor(kind: Kind<Spec, Status, Observation, Step>, informer: Informer<KubeObject>, options: ControllerOptions) {
    this.#kind = kind;
    this.#informer = informer;
    this.#options = options;
    this.#read = kind.record ?? recordReader(kind.definition);
    this.queue = new WorkQueue({
      ...options,
      observer: options.metrics.queue,
      group: (key) => this.#groups.get(key),
      workers: options.concurrency,
    });
    informer.onChange((...change) => this.#onChange(...change));
  }

  /** Queues the objects that refer to something that has changed: controller-runtime's EnqueueRequestsFromMapFunc. */
  enqueueDependents(reference: Reference, priority: Priority = 'normal', afterMs = 0): void {
    if (!this.#runs) return;
    // A space or a server may have thousands.
    void inSlices([...this.references.dependents(reference)], SLICE, (key) => {
      if (priority !== 'low' || !this.#stalledAtStart.has(key)) this.queue.addAfter(key, afterMs, priority);
    });
  }

  /** Works until `stop` aborts and running passes have ended, by themselves or when `kill` aborts. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    stop.addEventListener('abort', () => this.queue.shutDown(), { once: true });
    if (stop.aborted) this.queue.shutDown();
    this.#runs = true;
    const unsettled = new Set(this.#unsettled);
    this.#unsettled.clear();
    const keys = new Set([...unsettled, ...this.#informer.store.keys()]);
    const begin = inSlices(keys, SLICE, (key) => {
      if (unsettled.has(key)) this.enqueueAsNew(key, 0);
      else this.queue.add(key, 'low');
    });
    const length = this.#options.concurrency * WORKERS_IN_ALL;
    await Promise.all([begin, ...Array.from({ length }, () => this.#work(stop, kill))]);
  }

  async #work(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    for (let key = await this.queue.get(); key !== undefined; key = await this.queue.get()) {
      const isOurs = (await this.#options.gate?.begin(key)) !== false;
      // The stop may have come while the gate took its time.
      if (isOurs && !stop.aborted) await this.#workOn(key, kill);
      if (isOurs) this.#options.gate?.end(key);
      this.#lookAtForeignStatus(key);
      const replaced = this.#replaced.get(key);
      if (replaced !== undefined && this.#replaced.delete(key)) this.forget(key, replaced);
      this.queue.done(key);
    }
  }

  async #workOn(key: ObjectKey, kill: AbortSignal): Promise<void> {
    const { metrics, pace } = this.#options;
    const finished = metrics.started();
    const about = this.#aboutPass(key);
    const log = logAbout(this.#options.log, about);
    // A pass for what a person changed should not wait for a turn of the crowd after each answer as well.
    const arrived = this.queue.priorityOf(key) === 'high' ? pace.hurry() : undefined;
    this.#stalledAtStart.delete(key);
    try {
      const outcome = await inSpan('reconcile', about, () => this.#pass(key, log, kill));
      finished(labelOf(outcome));
      this.#requeue(key, outcome, log);
    } catch (error) {
      // A write failed, or there is a bug: log it and come back, for no key may ever be lost.
      log.warn({ err: error }, `Pass failed: ${messageOf(error)}`);
      finished('error');
      this.#conflictsSince.delete(key);
      this.#retry(key, error instanceof KubeError ? error.retryAfterMs : undefined);
    }
    arrived?.();
    // Passes that wait for nothing would follow one another endlessly, and nothing else would have its turn.
    if (pace.due) await pace.rest();
  }

  #conflictsLast(key: ObjectKey): boolean {
    return this.#options.clock.monotonic() - (this.#conflictsSince.get(key) ?? Number.POSITIVE_INFINITY) > CONFLICT_MS;
  }

  /** Retries a failure that may pass with time, or when somebody replaces CRDs of another version. `atLeastMs`: as the failure says. */
  #retry(key: ObjectKey, atLeastMs: number | undefined): void {
    if (atLeastMs === undefined) this.queue.addRateLimited(key, this.#missing.has(key) ? SOON_BACKOFF : BACKOFF);
    else this.queue.addRateLimited(key, TOLD_BACKOFF, { atLeastMs, priority: this.queue.priorityOf(key) });
  }

  #lookAtForeignStatus(key: ObjectKey): void {
    if (this.#foreignStatus.delete(key)) this.queue.addAfter(key, FOREIGN_STATUS_MS, 'low');
  }

  /** Queues an object that is new here, or whose key is this process's from now on, as after a start. */
  enqueueAsNew(key: ObjectKey, atLeastMs: number): void {
    const object = this.#runs ? this.#informer.store.get(key) : undefined;
    if (object === undefined) return;
    const status = parseStatus(this.#kind.definition, object.status);
    const restless = this.#kind.restless?.(status);
    const { priority, delayMs } = initialPriority(object.metadata, status, this.#options.clock.now(), restless);
    if (delayMs > 0) this.#stalledAtStart.add(key);
    this.queue.addAfter(key, Math.max(delayMs, atLeastMs), priority);
  }

  /** Drops what is remembered of the key, which may become another object's. */
  forget(key: ObjectKey, why: Forgotten): void {
    this.queue.forget(key);
    for (const known of [this.#requeuesAtOnce, this.#missing, this.#conflictsSince, this.#foreignStatus])
      known.delete(key);
    this.#mistakes.forget(key);
    this.#kind.forget(key, why);
  }

  /** Reports what no condition does. */
  #warn(object: KubeObject, { reason, message }: Untold, log: PlainLog): void {
    log.warn({ reason }, message);
    this.#options.events.record(object, { status: 'Unknown', reason, message, warning: true }, true);
  }

  #pass(key: ObjectKey, log: PlainLog, signal: AbortSignal): Promise<Outcome> {
    const tell = (object: KubeObject, news: Untold) => this.#warn(object, news, log);
    this.#mistakes.tell(this.#kind.definition.kind, this.#informer.store.get(key), tell);
    return reconcile(
      this.#kind,
      {
        api: this.#options.api,
        clock: this.#options.clock,
        read: (wanted) => this.#informer.store.get(wanted),
        written: (object) => {
          const missing = this.#missing.get(key);
          // Work that waited for the fields goes on: earlier passes that came to nothing no longer count.
          if (missing && tells(object, missing) && this.#missing.delete(key)) this.#requeuesAtOnce.delete(key);
          if (this.#foreignStatus.get(key) === object.metadata.resourceVersion) this.#foreignStatus.delete(key);
          this.#writing = key;
          try {
            this.#informer.applyOwnWrite(object);
          } finally {
            this.#writing = undefined;
          }
        },
        failsForMs: () => this.queue.failsForMs(key),
        conflictsLast: this.#conflictsLast(key),
        tellAlways: (this.#requeuesAtOnce.get(key) ?? 0) >= MAX_REQUEUES_AT_ONCE,
        onStep: (description, step) => {
          log.info({}, `Going to ${description}`);
          this.#options.onStep?.({ kind: this.#kind.definition.kind, key, description, step });
        },
        onUntold: (object, untold) => {
          if (untold.missing !== undefined) this.#missing.set(key, untold.missing);
          this.#warn(object, untold, log);
        },
        onReady: (object, before, after) => {
          if (before?.status === after.status && before.reason === after.reason) return;
          log.info({ ready: after.status, reason: after.reason }, after.message);
          this.#options.events.record(object, after);
        },
      },
      key,
      signal,
    );
  }

  #requeue(key: ObjectKey, outcome: Outcome, log: PlainLog): void {
    const goesOn = outcome.next === 'again' || (outcome.next === 'settled' && (outcome.requeueAfterMs ?? 1) <= 0);
    if (goesOn) {
      this.#conflictsSince.delete(key);
      const passes = (this.#requeuesAtOnce.get(key) ?? 0) + 1;
      this.#requeuesAtOnce.set(key, passes);
      // Steps that come to nothing are repeated more and more rarely, whatever they lack.
      if (passes <= MAX_REQUEUES_AT_ONCE) this.queue.requeue(key);
      else if (outcome.next === 'settled') this.#retry(key, undefined);
      else this.queue.addRateLimited(key, BACKOFF);
      return;
    }
    const meetsConflict = (outcome.next === 'failed' ? outcome.failure.lasting : outcome.next) === 'conflict';
    // A conflict does not show that the passes before it came to anything: they still count.
    if (!meetsConflict) for (const known of [this.#requeuesAtOnce, this.#conflictsSince]) known.delete(key);
    else if (!this.#conflictsSince.has(key)) this.#conflictsSince.set(key, this.#options.clock.monotonic());
    switch (outcome.next) {
      case 'settled':
        this.queue.forget(key);
        if (outcome.requeueAfterMs !== undefined) this.queue.addAfter(key, outcome.requeueAfterMs, 'low');
        return;
      case 'retry':
        this.queue.addRateLimited(key, PACES[outcome.pace], { fails: outcome.fails !== false });
        if (outcome.fails === 'untold') this.queue.addAfter(key, PASSING_MS - this.queue.failsForMs(key));
        return;
      case 'conflict':
        log.info({}, 'The object or what belongs to it was changed or deleted meanwhile: Mooring checks it again');
        if (this.#conflictsLast(key)) this.#retry(key, undefined);
        else
          this.queue.addRateLimited(key, CONFLICT_BACKOFF, { priority: this.queue.priorityOf(key), fails: 'unknown' });
        return;
      case 'failed': {
        const { lasting, retryAfterMs, message, reason } = outcome.failure;
        log.warn({ reason, lasting }, message);
        if (outcome.soon) this.queue.addRateLimited(key, SOON_BACKOFF);
        else if (lasting === 'terminal') this.queue.addRateLimited(key, SLOW_BACKOFF, { atLeastMs: retryAfterMs });
        else this.#retry(key, retryAfterMs);
        return;
      }
      default:
        outcome satisfies never;
    }
  }

  /** client-go's OnAdd, OnUpdate and OnDelete. */
  #onChange(key: ObjectKey, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const status = this.#refer(key, before, after);
    // What takes its place owes nothing to it.
    if (before !== undefined && !isSuccessor(before, after)) {
      const why = after?.metadata.uid === before.metadata.uid ? 'wentBack' : 'deleted';
      this.forget(key, why);
      if (this.queue.processing.has(key)) this.#replaced.set(key, why);
    }
    if (!this.#runs) {
      const arrival = after && status && initialPriority(after.metadata, status, this.#options.clock.now());
      const isInOrder = arrival?.priority === 'low' && arrival.delayMs === 0;
      this.#unsettled[isInOrder || after === undefined ? 'delete' : 'add'](key);
      return;
    }
    // How often it failed with the spec before says nothing of this one.
    if (before?.metadata.generation !== after?.metadata.generation) this.queue.forget(key);
    if (before === undefined && after !== undefined) this.enqueueAsNew(key, 0);
    else if (isNews(before, after, this.#kind.finalizer)) this.queue.add(key, after === undefined ? 'normal' : 'high');
    else if (after !== undefined && key !== this.#writing) this.#foreignStatus.set(key, after.metadata.resourceVersion);
    if (!this.queue.processing.has(key)) this.#lookAtForeignStatus(key);
  }

  /** Returns the status. An object without a record refers to nothing; its own next change leads to a pass anyway. */
  #refer(key: ObjectKey, before: KubeObject | undefined, after: KubeObject | undefined): Status | undefined {
    const [former, subject] = [this.#read(before), this.#read(after)];
    const references = (of: typeof subject) => (of === undefined ? [] : this.#kind.references(of));
    const extra = (subject && this.#kind.extraReferences?.(subject)) ?? [];
    this.references.change(key, references(former), references(subject), extra);
    const group = subject && this.#kind.group?.(subject);
    if (group === undefined) this.#groups.delete(key);
    else this.#groups.set(key, group);
    if (after === undefined) this.#stalledAtStart.delete(key);
    return subject?.status;
  }

  /** The fields of a pass's log lines and span; an id ties them together. */
  #aboutPass(key: ObjectKey) {
    const reconcileID = Buffer.from(this.#options.random.bytes(4)).toString('hex');
    return { kind: this.#kind.definition.kind, ...splitKey(key), reconcileID };
  }
}

function labelOf(outcome: Outcome): 'success' | 'requeue' | 'requeue_after' | 'error' {
  if (outcome.next === 'settled') return outcome.requeueAfterMs === undefined ? 'success' : 'requeue_after';
  return outcome.next === 'failed' ? 'error' : 'requeue';
}
