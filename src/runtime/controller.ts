import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { AnyObject, KubeApi } from '../kube/api.ts';
import { parseStatus } from '../kube/definition.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { EventRecorder } from './events.ts';
import type { Informer } from './informer.ts';
import type { Kind, StatusBase } from './kind.ts';
import type { ControllerMetrics } from './metrics.ts';
import { type Outcome, reconcile } from './reconcile.ts';
import { type Reference, ReferenceIndex } from './reference-index.ts';
import { WorkQueue } from './workqueue.ts';

export interface ControllerLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface ControllerOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: ControllerLog;
  readonly events: EventRecorder;
  readonly metrics: ControllerMetrics;
  readonly concurrency: number;
}

/** Retries after a failure that time may mend: 1 s doubled up to 5 min. */
const BACKOFF = { initialMs: 1_000, maxMs: 300_000 };
/** Looks at what is about to come up by itself: 1 s doubled up to 30 s. */
const SOON_BACKOFF = { initialMs: 1_000, maxMs: 30_000 };
/** Retries of what a person must mend: 1 min doubled up to 30 min; a change of anything it depends on comes first. */
const SLOW_BACKOFF = { initialMs: 60_000, maxMs: 1_800_000 };
/** After a conflict the newer version is on its way. */
const CONFLICT_BACKOFF = { initialMs: 50, maxMs: 5_000 };
const SOON_MS = 500;
/** Passes that each did something and follow one another at once: more of them in a row are no progress but a loop. */
const MAX_PASSES_AT_ONCE = 20;

/**
 * One kind's controller: changes → queue → workers → reconcile → queue. It hears of its objects from the informer, and of
 * what they refer to through `changed`.
 */
export class Controller<Spec, Status extends StatusBase, Observation, Step> {
  readonly queue: WorkQueue;
  readonly #kind: Kind<Spec, Status, Observation, Step>;
  readonly #informer: Informer<KubeObject>;
  readonly #options: ControllerOptions;
  readonly #references = new ReferenceIndex();
  readonly #passesAtOnce = new Map<ObjectKey, number>();

  constructor(kind: Kind<Spec, Status, Observation, Step>, informer: Informer<KubeObject>, options: ControllerOptions) {
    this.#kind = kind;
    this.#informer = informer;
    this.#options = options;
    this.queue = new WorkQueue({ ...options, observer: options.metrics.queue });
    informer.onChange((key, before, after) => {
      this.#refer(key, after);
      if (isNews(before, after)) this.queue.add(key);
    });
  }

  /** Something that objects of this kind may refer to has changed. */
  changed(reference: Reference): void {
    for (const key of this.#references.dependents(reference)) this.queue.add(key);
  }

  /** As `changed`, for what changes often and is looked at whole: many changes lead to one pass. */
  changedSoon(reference: Reference): void {
    for (const key of this.#references.dependents(reference)) this.queue.addAfter(key, SOON_MS);
  }

  /** Objects of this kind that refer to it. */
  dependents(reference: Reference): Iterable<ObjectKey> {
    return this.#references.dependents(reference);
  }

  /** Works until `stop` aborts and what is in hand is done; a pass that is under way ends by itself, or when `kill` aborts. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    stop.addEventListener('abort', () => this.queue.shutDown(), { once: true });
    if (stop.aborted) this.queue.shutDown();
    await Promise.all(Array.from({ length: this.#options.concurrency }, () => this.#work(kill)));
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.queue.get(); key !== undefined; key = await this.queue.get()) {
      const finished = this.#options.metrics.started();
      try {
        const outcome = await this.#pass(key, signal);
        finished(labelOf(outcome));
        this.#requeue(key, outcome);
      } catch (error) {
        // Writing failed, or there is a bug in here: say so and come back, for no key may ever be lost.
        this.#log(key).warn({ err: error }, `Pass failed: ${messageOf(error)}`);
        finished('error');
        this.queue.addRateLimited(key, BACKOFF);
      } finally {
        this.queue.done(key);
      }
    }
  }

  #pass(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const log = this.#log(key);
    return reconcile(
      this.#kind,
      {
        api: this.#options.api,
        clock: this.#options.clock,
        read: (wanted) => this.#informer.store.get(wanted),
        written: (object) => this.#informer.store.applyOwnWrite(object),
        tellAlways: (this.#passesAtOnce.get(key) ?? 0) >= MAX_PASSES_AT_ONCE,
        onStep: (description) => log.info({}, `Going to ${description}`),
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

  #requeue(key: ObjectKey, outcome: Outcome): void {
    const goesOn = outcome.next === 'again' || (outcome.next === 'settled' && (outcome.requeueAfterMs ?? 1) <= 0);
    const passes = goesOn ? (this.#passesAtOnce.get(key) ?? 0) + 1 : 0;
    if (passes === 0) this.#passesAtOnce.delete(key);
    else this.#passesAtOnce.set(key, passes);
    if (goesOn) {
      if (passes > MAX_PASSES_AT_ONCE) this.queue.addRateLimited(key, BACKOFF);
      else this.queue.add(key);
      return;
    }
    switch (outcome.next) {
      case 'settled':
        this.queue.forget(key);
        if (outcome.requeueAfterMs !== undefined) this.queue.addAfter(key, outcome.requeueAfterMs);
        return;
      case 'retry':
        this.queue.addRateLimited(key, outcome.pace === 'soon' ? SOON_BACKOFF : SLOW_BACKOFF);
        return;
      case 'conflict':
        this.queue.addRateLimited(key, CONFLICT_BACKOFF);
        return;
      case 'failed': {
        const { lasting, retryAfterMs, message, reason } = outcome.failure;
        this.#log(key).warn({ reason, lasting }, message);
        this.queue.addRateLimited(key, lasting === 'terminal' ? SLOW_BACKOFF : BACKOFF, retryAfterMs);
        return;
      }
      default:
        outcome satisfies never;
    }
  }

  /** An object whose spec cannot be read refers to nothing; its own next change leads to a pass anyway. */
  #refer(key: ObjectKey, object: KubeObject | undefined): void {
    if (object === undefined) {
      this.#references.set(key, []);
      return;
    }
    const { definition } = this.#kind;
    const spec = definition.spec.safeParse(object.spec);
    const status = parseStatus(definition, object.status);
    const references = spec.success
      ? this.#kind.references({ metadata: object.metadata, spec: spec.data, status })
      : [];
    this.#references.set(key, references);
  }

  #log(key: ObjectKey) {
    const { log } = this.#options;
    const about = { kind: this.#kind.definition.kind, object: key };
    return {
      info: (fields: object, message: string) => log.info({ ...about, ...fields }, message),
      warn: (fields: object, message: string) => log.warn({ ...about, ...fields }, message),
    };
  }
}

function labelOf(outcome: Outcome): 'success' | 'requeue' | 'requeue_after' | 'error' {
  switch (outcome.next) {
    case 'again':
      return 'requeue';
    case 'settled':
      return outcome.requeueAfterMs === undefined ? 'success' : 'requeue_after';
    case 'conflict':
    case 'retry':
      return 'requeue';
    case 'failed':
      return 'error';
    default:
      return outcome satisfies never;
  }
}

/** Whether a person or another controller changed something that a pass looks at: a status is only ever written by us. */
export function isNews(before: AnyObject | undefined, after: AnyObject | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  const seen = ({ metadata }: AnyObject) =>
    JSON.stringify([
      metadata.uid,
      metadata.generation,
      metadata.deletionTimestamp,
      metadata.finalizers,
      metadata.annotations,
      metadata.labels,
    ]);
  return seen(before) !== seen(after);
}
