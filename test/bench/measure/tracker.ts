import { systemClock } from '../../../src/base/clock.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { DATABASE_CLUSTERS } from '../../../src/kinds/databasecluster/resource.ts';
import type { AnyObject, KubeApi, Resource } from '../../../src/kube/api.ts';
import { type Condition, isStatusConditionTrue } from '../../../src/kube/condition.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { type ReflectorEvent, runReflector } from '../../../src/runtime/reflector.ts';

export type Status = { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };

/** Reports whether the object's condition says that it is Ready for its present generation. */
function saysReady(object: AnyObject): boolean {
  const { metadata, status } = object as KubeObject<unknown, Status>;
  return isStatusConditionTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation;
}

/** Follows the objects of one kind in a namespace, as any user could, and notes when each becomes Ready. */
export class Tracker {
  readonly #ready = new Map<string, { readonly at: number; readonly generation: number | undefined }>();
  readonly #listeners = new Set<() => void>();
  readonly #observers = new Set<(object: AnyObject) => void>();
  readonly #abort = new AbortController();
  readonly #isReady: (object: AnyObject) => boolean;
  #failure: unknown;
  #hasListed = false;

  /** `isReady`: what counts as Ready. */
  constructor(api: KubeApi, namespace: string, resource: Resource = DATABASE_CLUSTERS, isReady = saysReady) {
    this.#isReady = isReady;
    const options = {
      api,
      resource,
      namespace,
      clock: systemClock,
      random: systemRandom,
      transform: (object: AnyObject) => object,
      onEvent: (event: ReflectorEvent) => this.#handle(event),
      onFailure: (error: unknown) => {
        this.#failure = error;
      },
    };
    void runReflector(options, this.#abort.signal);
  }

  stop(): void {
    this.#abort.abort();
  }

  /** Whether it has seen all objects that existed when it began. */
  get hasListed(): boolean {
    return this.#hasListed;
  }

  /** Calls `observer` with each object that is written, until the returned function is called. */
  observe(observer: (object: AnyObject) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /** Returns when the object became Ready for its present generation, in wall-clock milliseconds; undefined: it is not Ready. */
  readyAt(name: string): number | undefined {
    return this.#ready.get(name)?.at;
  }

  /** Returns the generation that the object is Ready for; undefined: it is not Ready. */
  readyGeneration(name: string): number | undefined {
    return this.#ready.get(name)?.generation;
  }

  /** Returns the times of all objects that are Ready. */
  readyTimes(): readonly number[] {
    return [...this.#ready.values()].map(({ at }) => at);
  }

  /** Resolves as soon as `check` is true. Checks after each event. */
  async until(check: () => boolean, what: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const done = Promise.withResolvers<void>();
    const look = () => {
      if (check()) done.resolve();
    };
    const fail = (why: string) => done.reject(new Error(`${why}: ${what}`));
    const aborted = () => fail('Ended while waiting');
    const late = `Not within ${timeoutMs / 1000} s`;
    const timer = setTimeout(() => {
      fail(this.#failure === undefined ? late : `${late} (the watch failed: ${String(this.#failure)})`);
    }, timeoutMs);
    this.#listeners.add(look);
    signal.addEventListener('abort', aborted);
    try {
      if (signal.aborted) aborted();
      look();
      await done.promise;
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(look);
      signal.removeEventListener('abort', aborted);
    }
  }

  #handle(event: ReflectorEvent): void {
    const now = Date.now();
    if (event.type === 'applied') {
      this.#note(event.object, now);
      for (const observer of this.#observers) observer(event.object);
    } else if (event.type === 'deleted') this.#ready.delete(event.object.metadata.name);
    else if (event.type === 'listed') this.#hasListed = true;
    for (const listener of this.#listeners) listener();
  }

  #note(object: AnyObject, now: number): void {
    const { name, generation } = object.metadata;
    const known = this.#ready.get(name);
    if (!this.#isReady(object)) this.#ready.delete(name);
    else if (known === undefined || known.generation !== generation) this.#ready.set(name, { at: now, generation });
  }
}
