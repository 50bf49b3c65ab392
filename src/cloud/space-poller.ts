import { backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { type Packed, Packer } from '../base/collections/packer.ts';
import { Pace } from '../base/pace.ts';
import type { Random } from '../base/random.ts';
import { ApiError, isHeldBack } from '../http/api-error.ts';
import { Memo } from '../http/memo.ts';
import type { ListedClusters } from './client.ts';
import { ListSteps, type Moving } from './list-steps.ts';
import type { Cluster } from './schema.ts';

/** The part of CloudClient that is used here. */
export interface ClusterLister {
  listAs<T extends object>(
    memo: Memo<T>,
    keep: (cluster: Cluster) => T,
    signal?: AbortSignal,
  ): Promise<ListedClusters<T>>;
}

export interface SpacePollerOptions {
  readonly client: ClusterLister;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with the ids of clusters that changed. */
  readonly onClusters: (ids: ReadonlySet<string>) => void;
  /** Called when a List ended: the inventory may be new, or whether the space can be listed. */
  readonly onListed: () => void;
}

/** A cluster as an answer shows it. */
interface Seen {
  readonly packed: Packed;
  readonly createdAt: number | undefined;
  /** If it is on its way to another status, what it is doing. */
  readonly moving: string | undefined;
}

interface Listed extends Seen {
  readonly id: string;
}

/** There are thousands, and mostly only the time of the last answer changes. */
interface Known {
  /** The cluster; undefined if there is none. */
  packed: Packed | undefined;
  /** With the id, what tells it from another cluster. */
  createdAt: number | undefined;
  /** As of when this is known; see `learn`. A List that was asked for earlier knows less. */
  asOf: number;
  /** The numbers of the first List since which this cluster is here, and of the newest one; 0: none contained it yet. */
  first: number;
  list: number;
  /** As of when a List showed it as it is, and as it was before it changed last; -Infinity: none did. */
  listedAt: number;
  formerAt: number;
}

/** A cluster that has shown nothing new for so long costs no more Lists than a settled one: it may be stuck for good. */
const STUCK_AFTER_MS = 600_000;
/** Lists that fail in a row until the cloud counts as away: a single one is no news. */
const AWAY_AFTER = 3;
const FAILURE_BACKOFF = { initialMs: 1_000, maxMs: 60_000 };
const NEVER = Number.NEGATIVE_INFINITY;
const SETTLED: ReadonlySet<string> = new Set(['running', 'suspended']);

/**
 * Watches one space with one List at a time, however many want to know: cost grows with spaces, not with clusters. Answers to
 * single calls are taken in too, so nobody needs to look again for what they were just told.
 */
export class SpacePoller {
  readonly #options: SpacePollerOptions;
  readonly #clusters = new Map<string, Known>();
  readonly #packer = new Packer();
  readonly #listed = new Memo<Listed>();
  #lists = 0;
  /** Since when clusters have been on their way to another status, and when there was news of them last, by the monotonic clock. */
  readonly #moving = new Map<string, Moving & { readonly newsAt: number }>();
  /** Ids that somebody here is interested in: the poller hurries only for these. */
  readonly #followed = new Set<string>();
  /** By followed id, the cluster that was there before another one was, or none. */
  readonly #former = new Map<string, Pick<Known, 'createdAt' | 'list' | 'listedAt'>>();
  #intervalMs: number;
  #listedAtMs: number | undefined;
  #error: unknown;
  #isPartial = false;
  #failures = 0;
  #running: Promise<void> | undefined;
  #again = false;
  #cancelTimer: () => void = () => {};
  /** When the last List ended, successful or not, by the monotonic clock. */
  #endedAt: number | undefined;
  #pauseMs = 0;
  readonly #steps = new ListSteps();
  readonly #abort = new AbortController();

  /** `intervalMs`: between two Lists while nothing is moving. */
  constructor(options: SpacePollerOptions, intervalMs: number) {
    this.#options = options;
    this.#intervalMs = intervalMs;
  }

  /** When the newest fully successful List ended, wall clock. Undefined before the first: an unknown cluster may exist then. */
  get listedAtMs(): number | undefined {
    return this.#listedAtMs;
  }

  /** Why the last List failed, or what in it made no sense; undefined if neither. */
  get error(): unknown {
    return this.#error;
  }

  /** Whether the last List was believed, except for what made no sense, which `error` reports. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** Whether nobody can tell what becomes of the clusters: several Lists in a row have failed. */
  get isAway(): boolean {
    return this.#failures >= AWAY_AFTER && !this.#isPartial;
  }

  get intervalMs(): number {
    return this.#intervalMs;
  }

  set intervalMs(intervalMs: number) {
    if (intervalMs === this.#intervalMs) return;
    this.#intervalMs = intervalMs;
    this.#pauseMs = this.#drawPause();
    this.#schedule();
  }

  get(id: string): Cluster | undefined {
    return this.#unpacked(this.#clusters.get(id));
  }

  /** Reports whether there is such a cluster. As `get`, but costs next to nothing. */
  has(id: string): boolean {
    return this.#clusters.get(id)?.packed !== undefined;
  }

  /** Whether the id is known: then undefined from `get` is the answer to a single call, otherwise what the newest List says. */
  knows(id: string): boolean {
    return this.#clusters.has(id);
  }

  /**
   * As of when, monotonic, a List last showed the cluster as it was before it changed last, or was gone; -Infinity: none did. What only
   * the answer to a change shows may be gone again in the next List, and nobody has changed it then.
   */
  formerListedAt(id: string): number {
    return this.#clusters.get(id)?.formerAt ?? this.#former.get(id)?.listedAt ?? NEVER;
  }

  /** The ids of all clusters that exist. */
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
    const moving = this.#moving.get(id);
    if (moving === undefined) return;
    // For how long it showed nothing new to nobody does not count.
    this.#moving.set(id, { ...moving, newsAt: this.#options.clock.monotonic() });
    this.#schedule();
  }

  unfollow(id: string): void {
    this.#followed.delete(id);
    this.#former.delete(id);
  }

  /**
   * Returns how many Lists in a row showed this cluster beside one of the same creation time under the followed id `beside`. No
   * cluster is beside itself.
   */
  listsBeside(beside: string, { id, createdAt }: Pick<Cluster, 'id' | 'createdAt'>): number {
    if (id === beside) return 0;
    const isIt = (each: Pick<Known, 'createdAt'> | undefined) => each?.createdAt === createdAt;
    const last = [this.#clusters.get(beside), this.#former.get(beside)].find(isIt)?.list ?? 0;
    const first = this.#clusters.get(id)?.first ?? 0;
    return first === 0 ? 0 : Math.max(0, last - first + 1);
  }

  /**
   * Takes in the answer to a call about one cluster; undefined if there is none. `asOf`, monotonic: for a look, when it was asked for;
   * for a change, when it was answered, as Lists that were asked for in between may not show it.
   */
  learn(id: string, cluster: Cluster | undefined, asOf: number): void {
    if (this.#take(id, cluster === undefined ? undefined : this.#seen(cluster), asOf))
      this.#options.onClusters(new Set([id]));
    this.#schedule();
  }

  /** Lists now, one List at a time: if one is running, one more follows for all who asked meanwhile. */
  refresh(): Promise<void> {
    if (this.#running !== undefined) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#listUntilQuiet();
    return this.#running;
  }

  /** The cloud answers again: a failed List is repeated at once. */
  retry(): void {
    if (this.#error !== undefined && this.#running === undefined) void this.refresh();
  }

  stop(): void {
    this.#abort.abort();
    this.#cancelTimer();
  }

  async #listUntilQuiet(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.#list();
      } while (this.#again && !this.#abort.signal.aborted && (this.#error === undefined || this.#isPartial));
    } finally {
      // At once, not when the promise is settled: who asks in between would wait for a List that has ended.
      this.#running = undefined;
      this.#schedule();
    }
  }

  async #list(): Promise<void> {
    const { client, clock } = this.#options;
    const askedAt = clock.monotonic();
    const wasAway = this.isAway;
    try {
      const keep = (cluster: Cluster): Listed => ({ id: cluster.id, ...this.#seen(cluster) });
      const { clusters, problem } = await client.listAs(this.#listed, keep, this.#abort.signal);
      this.#isPartial = problem !== undefined;
      const changed = new Set<string>();
      const pace = new Pace(clock);
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
    // Whoever waits for one of these hears that nobody can tell, and when somebody can again.
    if (this.isAway !== wasAway) {
      const waiting = [...this.#moving.keys()].filter((id) => this.#followed.has(id));
      if (waiting.length > 0) this.#options.onClusters(new Set(waiting));
    }
    this.#endedAt = clock.monotonic();
    this.#pauseMs = this.#drawPause();
    this.#steps.listed([...this.#hurriedFor(this.#endedAt)].length);
    this.#options.onListed();
  }

  #failed(error: unknown): void {
    this.#error = error;
    this.#failures++;
  }

  #seen(cluster: Cluster): Seen {
    const { createdAt } = cluster;
    return {
      packed: this.#packer.pack(JSON.stringify(cluster)),
      createdAt,
      moving: isSettled(cluster) ? undefined : cluster.status,
    };
  }

  /** Reports whether the cluster has changed. `seen`: undefined if there is none. `list`: the number of the List that it is from. */
  #take(id: string, seen: Seen | undefined, asOf: number, list = 0): boolean {
    const packed = seen?.packed;
    const known = this.#clusters.get(id);
    if (known !== undefined && known.asOf > asOf) return false;
    const changed = known?.packed !== packed;
    // Absence is kept too, until a List that was asked for later, so that an earlier one cannot bring the cluster back.
    const { createdAt } = seen ?? {};
    const listedAt = list > 0 ? asOf : NEVER;
    if (known === undefined) {
      this.#clusters.set(id, { packed, createdAt, asOf, first: list, list, listedAt, formerAt: NEVER });
    } else {
      if (packed === undefined || known.packed === undefined || known.createdAt !== createdAt) this.#replace(id, known);
      if (known.first === 0 && packed !== undefined) known.first = list;
      known.packed = packed;
      known.createdAt = createdAt;
      known.asOf = asOf;
      known.list = Math.max(known.list, list);
      if (changed) known.formerAt = known.listedAt;
      if (changed || list > 0) known.listedAt = listedAt;
    }
    const status = seen?.moving;
    if (changed && status === undefined) this.#moving.delete(id);
    else if (changed && status !== undefined) {
      const newsAt = this.#options.clock.monotonic();
      this.#moving.set(id, { since: this.#moving.get(id)?.since ?? newsAt, newsAt, status });
    }
    return changed;
  }

  /** Another cluster takes the place of this one, or none. */
  #replace(id: string, known: Known): void {
    if (known.packed !== undefined && this.#followed.has(id))
      this.#former.set(id, { createdAt: known.createdAt, list: known.list, listedAt: known.listedAt });
    known.first = 0;
  }

  /** Forgets clusters that the List lacks. Returns the ids of those that existed. */
  #dropMissing(list: number, askedAt: number): readonly string[] {
    const dropped: string[] = [];
    this.#clusters.forEach((known, id) => {
      if (known.list === list || known.asOf > askedAt) return;
      this.#replace(id, known);
      // Lists do not overtake one another, so no late one can bring back what this one lacks.
      this.#clusters.delete(id);
      this.#moving.delete(id);
      if (known.packed !== undefined) dropped.push(id);
    });
    return dropped;
  }

  /** The time of the next List follows from what is known, so asking again does not put it off. */
  #schedule(): void {
    if (this.#endedAt === undefined || this.#running !== undefined || this.#abort.signal.aborted) return;
    const { clock } = this.#options;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(Math.max(0, this.#nextAt() - clock.monotonic()), () => void this.refresh());
  }

  #nextAt(): number {
    const ended = this.#endedAt ?? Number.NEGATIVE_INFINITY;
    const next = ended + this.#pauseMs;
    if (this.#failures > 0 && !this.#isPartial) return next;
    return Math.min(next, this.#steps.next(this.#hurriedFor(ended), ended));
  }

  /** The clusters that the space is listed for sooner. */
  *#hurriedFor(ended: number): IterableIterator<Moving> {
    for (const [id, moving] of this.#moving) {
      // The next List says no more about what the last one may have hidden.
      const isHidden = this.#isPartial && this.#clusters.get(id)?.list !== this.#lists;
      const isStuck = ended - moving.newsAt >= STUCK_AFTER_MS;
      if (this.#followed.has(id) && !isHidden && !isStuck) yield moving;
    }
  }

  /** How long to pause after a List while nothing is moving. Drawn once per List, so that spaces do not stay in step. */
  #drawPause(): number {
    const { random } = this.#options;
    if (this.#failures === 0) return this.#intervalMs * (0.9 + 0.1 * random.float());
    const maxMs = Math.min(FAILURE_BACKOFF.maxMs, this.#intervalMs);
    const pauseMs = backoffMs({ ...FAILURE_BACKOFF, maxMs }, this.#failures - 1, random);
    const askedMs = this.#error instanceof ApiError ? (this.#error.retryAfterMs ?? 0) : 0;
    // A List that was held back cost nothing, and says when to try again. That also shows when an outage is over.
    return isHeldBack(this.#error) ? Math.max(FAILURE_BACKOFF.initialMs, askedMs) : Math.max(pauseMs, askedMs);
  }
}

/** Reports whether nothing is moving. An unknown status counts as moving. */
export function isSettled(cluster: Cluster): boolean {
  if (!SETTLED.has(cluster.status)) return false;
  return (
    cluster.status === 'suspended' ||
    (cluster.servers.length > 0 && cluster.servers.every((server) => server.status === 'running'))
  );
}
