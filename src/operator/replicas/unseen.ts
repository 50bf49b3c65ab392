import { ceilingMs } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { Recent } from '../../base/collections/recent.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { DATABASE_CLUSTERS } from '../../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../../kinds/databasespace/resource.ts';
import type { KubeApi } from '../../kube/api.ts';
import { splitKey } from '../../kube/object.ts';
import type { Outer } from './shards.ts';

/** An object that is not seen is asked about again after 1 s, doubled up to a minute: its watch may be refused for ever. */
const PAUSES = { initialMs: 1_000, maxMs: 60_000 };
/** More are asked about as if for the first time. */
const REMEMBERED = 1_000;

interface Asked {
  readonly times: number;
  /** By the monotonic clock. */
  readonly againAt: number;
}

export interface UnseenOptions {
  readonly api: Pick<KubeApi, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Objects that decide a shard and are unknown here, though they exist, or may. Usually their watch is only a moment behind. If it is not,
 * the API server is asked about each more and more rarely, however many other objects are in it.
 */
export class Unseen {
  readonly #options: UnseenOptions;
  readonly #asked = new Recent<string, Asked>(REMEMBERED);
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(options: UnseenOptions) {
    this.#options = options;
  }

  /** Reports whether it was found to exist, or could not be looked up, so recently that it is not asked about. */
  isPending(outer: Outer): boolean {
    return this.#options.clock.monotonic() < (this.#asked.peek(nameOf(outer))?.againAt ?? 0);
  }

  /** Reports whether it exists, or may: then another replica may already know that what is in it is its own. */
  async mayExist(outer: Outer): Promise<boolean> {
    if (this.isPending(outer)) return true;
    const name = nameOf(outer);
    const asking = this.#asking.get(name) ?? this.#ask(outer).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }

  /** It was seen, or is known to be gone. */
  forget(outer: Outer): void {
    this.#asked.delete(nameOf(outer));
  }

  async #ask(outer: Outer): Promise<boolean> {
    const { api, clock, log } = this.#options;
    const { kind, key } = outer;
    const resource = kind === 'spaces' ? DATABASE_SPACES : DATABASE_CLUSTERS;
    try {
      if ((await api.get(resource, splitKey(key))) === undefined) {
        this.forget(outer);
        return false;
      }
    } catch (error) {
      log.warn(
        { kind: resource.kind, ...splitKey(key), err: error },
        `Cannot look up ${key}, so its replica is unknown: ${messageOf(error)}`,
      );
    }
    const times = this.#asked.peek(nameOf(outer))?.times ?? 0;
    this.#asked.set(nameOf(outer), { times: times + 1, againAt: clock.monotonic() + ceilingMs(PAUSES, times) });
    return true;
  }
}

function nameOf({ kind, key }: Outer): string {
  return `${kind} ${key}`;
}
