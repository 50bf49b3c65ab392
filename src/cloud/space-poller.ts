import { ApiError, isHeldBack } from '../base/api-error.ts';
import { backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { Memo } from '../base/memo.ts';
import { Pace, type YieldNow } from '../base/pace.ts';
import { type Packed, Packer } from '../base/packer.ts';
import type { Random } from '../base/random.ts';
import type { Listing } from './client.ts';
import type { Cluster } from './schema.ts';

/** The part of CloudClient that is needed here. */
export interface ClusterLister {
  listAs<T extends object>(memo: Memo<T>, keep: (cluster: Cluster) => T, signal?: AbortSignal): Promise<Listing<T>>;
}

export interface SpacePollerOptions {
  readonly client: ClusterLister;
  readonly clock: Clock;
  readonly random: Random;
  /** Ids whose cluster is not as it was. */
  readonly onClusters: (ids: ReadonlySet<string>) => void;
  /** A List ended: the inventory may be new, or whether the space can be listed. */
  readonly onListed: () => void;
  readonly yieldNow?: YieldNow | undefined;
}

/** A cluster as an answer shows it. */
interface Seen {
  readonly packed: Packed;
  /** Whether it is on its way to another status. */
  readonly moving: boolean;
}

interface Listed extends Seen {
  readonly id: string;
}

/** There are thousands, and mostly nothing of them changes but when that was asked for. */
interface Known {
  /** The cluster; undefined: there is none. */
  packed: Packed | undefined;
  /** When the answer was asked for that this is from. A List that was asked for earlier knows less. */
  askedAt: number;
  /** The number of the newest List that it was in. */
  list: number;
}

/** While a cluster is under way, the space is listed in steps that grow with how long it has been: a fifth of that time. */
const STEP_SHARE = 0.2;
const MIN_STEP_MS = 750;
const MAX_STEP_MS = 15_000;
const FAILURE_BACKOFF = { initialMs: 1_000, maxMs: 60_000 };
const SETTLED: ReadonlySet<string> = new Set(['running', 'suspended']);

/**
 * Watches one space with one List at a time, whoever and however many want to know: cost grows with spaces, not with
 * clusters. Answers to single calls are taken in too, so nobody needs to look again for what they were just told.
 */
export class SpacePoller {
  readonly #options: SpacePollerOptions;
  readonly #clusters = new Map<string, Known>();
  readonly #packer = new Packer();
  readonly #listed = new Memo<Listed>();
  #lists = 0;
  /** Since when clusters have been on their way to another status, by the monotonic clock. */
  readonly #movingSince = new Map<string, number>();
  /** Ids that somebody here is interested in: only for these the poller hurries. */
  readonly #followed = new Set<string>();
  #intervalMs: number;
  #listedAtMs: number | undefined;
  #error: unknown;
  #isPartial = false;
  #failures = 0;
  #running: Promise<void> | undefined;
  #again = false;
  #cancelTimer: () => void = () => {};
  /** When the last List ended, well or not, by the monotonic clock. */
  #endedAt: number | undefined;
  #pauseMs = 0;
  readonly #abort = new AbortController();

  /** `intervalMs`: between two Lists while nothing is under way. */
  constructor(options: SpacePollerOptions, intervalMs: number) {
    this.#options = options;
    this.#intervalMs = intervalMs;
  }

  /** When the newest List that succeeded as a whole ended, in wall-clock milliseconds; undefined: none has yet, and what is not known may be there. */
  get listedAtMs(): number | undefined {
    return this.#listedAtMs;
  }

  /** Why the last List failed, or what of it made no sense; undefined if it did not. */
  get error(): unknown {
    return this.#error;
  }

  /** Whether the last List was believed, but for what of it made no sense, which `error` tells of. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  get intervalMs(): number {
    return this.#intervalMs;
  }

  set intervalMs(intervalMs: number) {
    if (intervalMs === this.#intervalMs) return;
    this.#intervalMs = intervalMs;
    this.#pauseMs = this.#drawPause();
    if (this.#endedAt !== undefined) this.#schedule();
  }

  get(id: string): Cluster | undefined {
    return this.#unpacked(this.#clusters.get(id));
  }

  /** Whether there is such a cluster: as `get`, for next to nothing. */
  has(id: string): boolean {
    return this.#clusters.get(id)?.packed !== undefined;
  }

  /** Whether more is known of the id than the newest List says: undefined from `get` is then the answer to a single call. */
  knows(id: string): boolean {
    return this.#clusters.has(id);
  }

  /** Of all clusters that are there. */
  *ids(): IterableIterator<string> {
    for (const [id, { packed }] of this.#clusters) if (packed !== undefined) yield id;
  }

  *clusters(): IterableIterator<Cluster> {
    for (const known of this.#clusters.values()) {
      const cluster = this.#unpacked(known);
      if (cluster !== undefined) yield cluster;
    }
  }

  #unpacked(known: Known | undefined): Cluster | undefined {
    return known?.packed === undefined ? undefined : JSON.parse(this.#packer.unpack(known.packed));
  }

  follow(id: string): void {
    if (this.#followed.has(id)) return;
    this.#followed.add(id);
    if (this.#movingSince.has(id)) this.#schedule();
  }

  unfollow(id: string): void {
    this.#followed.delete(id);
  }

  /** Takes in the answer to a call about one cluster; undefined: there is none. `askedAt`: monotonic, before the call. */
  learn(id: string, cluster: Cluster | undefined, askedAt: number): void {
    if (this.#take(id, cluster === undefined ? undefined : this.#seen(cluster), askedAt))
      this.#options.onClusters(new Set([id]));
    this.#schedule();
  }

  /** Lists now. One List at a time: one that is under way is followed by one more for all who asked meanwhile. */
  refresh(): Promise<void> {
    if (this.#running !== undefined) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#listUntilQuiet().finally(() => {
      this.#running = undefined;
      this.#schedule();
    });
    return this.#running;
  }

  /** The cloud answers again: a List that failed is not put off any longer. */
  retry(): void {
    if (this.#error !== undefined && this.#running === undefined) void this.refresh();
  }

  stop(): void {
    this.#abort.abort();
    this.#cancelTimer();
  }

  async #listUntilQuiet(): Promise<void> {
    do {
      this.#again = false;
      await this.#list();
    } while (this.#again && !this.#abort.signal.aborted && this.#error === undefined);
  }

  async #list(): Promise<void> {
    const { client, clock, yieldNow } = this.#options;
    const askedAt = clock.monotonic();
    try {
      const keep = (cluster: Cluster): Listed => ({ id: cluster.id, ...this.#seen(cluster) });
      const { clusters, problem } = await client.listAs(this.#listed, keep, this.#abort.signal);
      this.#isPartial = problem !== undefined;
      const changed = new Set<string>();
      const pace = new Pace(clock, yieldNow);
      const list = ++this.#lists;
      for (const cluster of clusters) {
        if (pace.due) await pace.rest();
        if (this.#take(cluster.id, cluster, askedAt, list)) changed.add(cluster.id);
      }
      if (problem === undefined) {
        for (const id of this.#dropMissing(list, askedAt)) changed.add(id);
        this.#error = undefined;
        this.#failures = 0;
        this.#listedAtMs = clock.now();
      }
      if (changed.size > 0) this.#options.onClusters(changed);
      if (problem !== undefined) this.#failed(problem);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#isPartial = false;
      this.#failed(error);
    }
    this.#endedAt = clock.monotonic();
    this.#pauseMs = this.#drawPause();
    this.#options.onListed();
  }

  #failed(error: unknown): void {
    this.#error = error;
    this.#failures++;
  }

  #seen(cluster: Cluster): Seen {
    return { packed: this.#packer.pack(JSON.stringify(cluster)), moving: !isSettled(cluster) };
  }

  /** Whether the cluster is not as it was known. `seen` undefined: there is none. `list`: the number of the List that it is from. */
  #take(id: string, seen: Seen | undefined, askedAt: number, list = 0): boolean {
    const packed = seen?.packed;
    const known = this.#clusters.get(id);
    if (known !== undefined && known.askedAt > askedAt) return false;
    const changed = known?.packed !== packed;
    // Also that there is none: until a List that was asked for later, so that an earlier one cannot bring it back.
    if (known === undefined) {
      this.#clusters.set(id, { packed, askedAt, list });
    } else {
      known.packed = packed;
      known.askedAt = askedAt;
      known.list = Math.max(known.list, list);
    }
    if (changed && !seen?.moving) this.#movingSince.delete(id);
    else if (changed && !this.#movingSince.has(id)) this.#movingSince.set(id, this.#options.clock.monotonic());
    return changed;
  }

  /** Forgets what is not in the List. Returns the ids of those that were there. */
  #dropMissing(list: number, askedAt: number): readonly string[] {
    const dropped: string[] = [];
    this.#clusters.forEach((known, id) => {
      if (known.list === list || known.askedAt > askedAt) return;
      // Lists do not overtake one another: what this one lacks no later one brings back by being late.
      this.#clusters.delete(id);
      this.#movingSince.delete(id);
      if (known.packed !== undefined) dropped.push(id);
    });
    return dropped;
  }

  /** The next List comes at a time that follows from what is known, so asking again does not put it off. */
  #schedule(): void {
    if (this.#endedAt === undefined || this.#running !== undefined || this.#abort.signal.aborted) return;
    const { clock } = this.#options;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(Math.max(0, this.#nextAt() - clock.monotonic()), () => void this.refresh());
  }

  #nextAt(): number {
    const ended = this.#endedAt ?? Number.NEGATIVE_INFINITY;
    let next = ended + this.#pauseMs;
    if (this.#failures > 0 && !this.#isPartial) return next;
    for (const [id, since] of this.#movingSince) {
      // Of what the last List may have hidden the next one says no more.
      const isHidden = this.#isPartial && this.#clusters.get(id)?.list !== this.#lists;
      if (!this.#followed.has(id) || isHidden) continue;
      const from = Math.max(ended, since);
      next = Math.min(next, from + Math.min(MAX_STEP_MS, Math.max(MIN_STEP_MS, (from - since) * STEP_SHARE)));
    }
    return next;
  }

  /** How long to pause after a List while nothing is under way; drawn once a List, so that spaces do not stay in step. */
  #drawPause(): number {
    const { random } = this.#options;
    if (this.#failures === 0) return this.#intervalMs * (0.9 + 0.1 * random.float());
    const maxMs = Math.min(FAILURE_BACKOFF.maxMs, this.#intervalMs);
    const pauseMs = backoffMs({ ...FAILURE_BACKOFF, maxMs }, this.#failures - 1, random);
    const askedMs = this.#error instanceof ApiError ? (this.#error.retryAfterMs ?? 0) : 0;
    // What was held back cost nothing, and tells when there is sense in another try: also that an outage is over shows then.
    return isHeldBack(this.#error) ? Math.max(FAILURE_BACKOFF.initialMs, askedMs) : Math.max(pauseMs, askedMs);
  }
}

/** Nothing is under way: a status that is not known is one on its way. */
export function isSettled(cluster: Cluster): boolean {
  if (!SETTLED.has(cluster.status)) return false;
  return (
    cluster.status === 'suspended' ||
    (cluster.servers.length > 0 && cluster.servers.every((server) => server.status === 'running'))
  );
}
