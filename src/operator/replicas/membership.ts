/*
 * Divides shards between replicas so that no shard ever has two owners, and a replica that comes or goes moves only its own. Each replica
 * renews a Lease, as a leader does, and publishes its view there: the members between which it thinks shards are divided. Under a view,
 * the owner of a shard is the member with the highest hash of both (rendezvous hashing).
 * - A replica owns a shard if it is the owner under its own published view and no other live replica claims it: as the owner under that
 *   one's published view, or by naming it there as still in use. A replica looks at the others after it publishes, so if two claim one
 *   shard, at least one sees the other's claim. What a look has shown holds until the replica publishes another view, as the others see
 *   its claims as long as it renews: so a renewal must be answered in time, and a look need not.
 * - Before it publishes a view under which it loses shards, it stops beginning anything there, and names those still in use.
 * - With each renewal it also renews the Lease of a single leader, in the name of all replicas. A process started to act alone, as in a
 *   rolling update, acts once no replica has renewed for the lease's duration, when the last one has stopped.
 * - A replica not seen to renew for the lease's duration is dead once its Lease could be taken from it in the version that was seen. By
 *   then it no longer acts: it stops by itself at the renew deadline, by either clock.
 */

import { type Clock, sleep } from '../../base/clock.ts';
import { REPLICA_LEASE_PREFIX } from '../../base/lease-names.ts';
import { withTimeout } from '../../base/with-timeout.ts';
import {
  type AnyObject,
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  type KubeApi,
  type PatchOperation,
} from '../../kube/api.ts';
import {
  GIVEN_BACK,
  LEASE_TIMES,
  LEASES,
  type LeaseTimes,
  leaseRecord,
  leaseSpecOf,
  newLease,
  renewLimitMs,
  renewPauseMs,
  Term,
} from '../../kube/lease.ts';
import { HELD, isGivenBack, MEMBERS, type Other, Others, REPLICAS, WITHDRAWN } from './others.ts';
import { Owners, type View } from './owners.ts';

/** How soon, instead of a retry period, a replica that came or went is taken in: whatever it led to has been answered by then. */
const SOON_MS = 200;

export interface MembershipOptions extends Partial<LeaseTimes> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly namespace: string;
  /**
   * The Lease of a single leader. While a process started in that mode holds it, no replica owns anything; while any replica owns
   * something, the replicas hold it.
   */
  readonly name: string;
  /** Names this process and no other; part of a Lease's name. */
  readonly identity: string;
  /** Shards in use: something is being done for them at this moment. */
  readonly inHand: () => Iterable<string>;
  /** All others were looked at. If `changed`, `owns` may answer differently. If `renewed`, each of them has since the last time it was so. */
  readonly onChange: (changed: boolean, renewed: boolean) => void;
  /** Called after a failed attempt; the next one comes by itself. */
  readonly onFailure: (error: unknown) => void;
}

/** What was true after this replica published its view and then looked at all the others. */
interface Standing {
  readonly view: View;
  readonly others: readonly Other[];
}

/** One replica, as above. */
export class Membership {
  readonly #options: Required<MembershipOptions>;
  readonly #others: Others;
  readonly #owners = new Owners();
  #standing: Standing | undefined;
  #term: Term | undefined;
  /** The view to publish: nothing is begun any more in shards that it takes away. */
  #view: View;
  /** A replica has come or gone, so the next renewal comes soon. */
  #soon = false;
  /** Those of the others' Leases when all of them had last renewed. */
  #versions: ReadonlySet<string> = new Set();
  /** Everything that `owns` follows from. */
  #known = '';
  #resourceVersion = '';
  /** The replicas hold the single leader's Lease, as far as this one knows. */
  #isShared = false;
  #lost = false;

  constructor(options: MembershipOptions) {
    this.#options = { ...LEASE_TIMES, ...options };
    this.#view = [options.identity];
    this.#others = new Others({
      ...this.#options,
      own: this.#name,
      aside: (work) => void this.#attempt(work),
      onDead: () => {
        this.#soon = true;
      },
    });
  }

  /** Reports whether this replica may begin something in the shard now. */
  owns(shard: string): boolean {
    const { identity } = this.#options;
    const standing = this.#standing;
    if (standing === undefined || !this.isMember()) return false;
    return (
      this.#owners.of(shard, standing.view) === identity &&
      this.#owners.of(shard, this.#view) === identity &&
      standing.others.every((other) => this.#owners.of(shard, other.view) !== other.identity) &&
      standing.others.every((other) => !other.held.has(encodeURIComponent(shard)))
    );
  }

  /** Reports whether running work may still change anything. Ask before each effect. */
  isMember(): boolean {
    return this.#remainingMs() > 0 && !this.#lost;
  }

  /**
   * Takes part until `work` has ended, then gives its Lease back; `work` is told to stop when the signal aborts. Also resolves when the
   * Lease was lost: then the process should end. Rejects with what `work` threw.
   */
  async run(signal: AbortSignal, work: (stop: AbortSignal) => Promise<void>): Promise<void> {
    const { clock, retryPeriodMs } = this.#options;
    while (!signal.aborted && !this.#lost && !(await this.#attempt((limit) => this.#join(limit))))
      await sleep(clock, retryPeriodMs, signal);
    if (signal.aborted && !this.#lost && this.#resourceVersion !== '') await this.#giveBack();
    if (signal.aborted || this.#lost) return;
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    const ended = new AbortController();
    const working = work(stop.signal).finally(() => ended.abort());
    working.catch(() => {});
    while (!ended.signal.aborted && !this.#lost) {
      this.#soon = false;
      if (!this.#isShared) await this.#attempt((limit) => this.#share(limit));
      const isRenewed = await this.#attempt((limit) => this.#renew(limit));
      const at = clock.monotonic();
      if (!this.isMember() && this.#standing !== undefined) this.#lost = true;
      if (this.#lost) break;
      // Its time is its own: one that fails or hangs leaves enough for the next renewal.
      if (isRenewed) await this.#attempt((limit) => this.#look(limit), ended.signal);
      const usualMs = this.#soon ? SOON_MS : Math.max(0, at + retryPeriodMs - clock.monotonic());
      await sleep(clock, isRenewed ? usualMs : renewPauseMs(retryPeriodMs, this.#remainingMs()), ended.signal);
    }
    signal.removeEventListener('abort', onAbort);
    this.#standing = undefined;
    stop.abort();
    if (this.#lost) return;
    await this.#giveBack();
    await working;
  }

  /** How much longer it may act if it does not renew; 0 if it may not. */
  #remainingMs(): number {
    return this.#standing === undefined ? 0 : (this.#term?.remainingMs ?? 0);
  }

  async #giveBack(): Promise<void> {
    await this.#attempt((limit) => this.#publish(GIVEN_BACK, undefined, limit));
    await this.#attempt((limit) => this.#unshare(limit));
  }

  get #name(): string {
    return `${REPLICA_LEASE_PREFIX}${this.#options.identity}`;
  }

  /** Reports whether the attempt succeeded in time. One that did not goes no further, whatever answer comes later. */
  async #attempt(work: (limit: AbortSignal) => Promise<unknown>, signal?: AbortSignal): Promise<boolean> {
    const { clock, renewDeadlineMs, onFailure } = this.#options;
    try {
      await withTimeout(clock, renewLimitMs(renewDeadlineMs, this.#remainingMs()), work, signal);
      return true;
    } catch (error) {
      if (!signal?.aborted) onFailure(error);
      return false;
    }
  }

  async #join(limit: AbortSignal): Promise<void> {
    const { api, namespace, identity } = this.#options;
    this.#view = viewOf(identity, await this.#others.look(limit));
    const lease = newLease(this.#name, this.#record(), { [MEMBERS]: this.#view.join() });
    try {
      const created = await api.create(LEASES, namespace, lease, limit);
      limit.throwIfAborted();
      this.#resourceVersion = created.metadata.resourceVersion;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // An earlier attempt of ours created it, and its answer was lost.
      await this.#readBack(error, limit);
    }
  }

  /** Publishes a view, and renews the Lease that the replicas hold together. */
  async #renew(limit: AbortSignal): Promise<void> {
    const term = new Term(this.#options.clock, this.#options);
    const [isShared] = await Promise.all([
      this.#isShared && this.#renewShared(limit),
      this.#publish(this.#record(), this.#view, limit),
    ]);
    limit.throwIfAborted();
    if (this.#isShared && !isShared) {
      // Somebody took it while this replica was dead: running work here must not go on.
      this.#lost = true;
      throw new Error(`Another process acts alone under Lease ${this.#options.name} now`);
    }
    this.#term = term;
  }

  /** Looks at all the others, after the view was published. */
  async #look(limit: AbortSignal): Promise<void> {
    const { identity, onChange } = this.#options;
    const [published, others] = [this.#view, await this.#others.look(limit)];
    this.#view = viewOf(identity, others);
    if (this.#view.join() !== published.join()) this.#soon = true;
    // Somebody leads alone.
    if (!this.#isShared) return;
    this.#standing = { view: published, others };
    const text = JSON.stringify([
      published,
      this.#view,
      others.map((other) => [other.identity, other.view, ...other.held]),
    ]);
    const changed = text !== this.#known;
    if (changed) this.#owners.clear();
    this.#known = text;
    const renewed = others.every(({ version }) => !this.#versions.has(version));
    if (renewed) this.#versions = new Set(others.map(({ version }) => version));
    onChange(changed, renewed);
  }

  async #publish(spec: object, view: View | undefined, limit: AbortSignal): Promise<void> {
    try {
      await this.#write(spec, view, limit);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      // Somebody wrote to it, perhaps an earlier renewal of ours whose answer was lost.
      await this.#readBack(error, limit);
      await this.#write(spec, view, limit);
    }
  }

  /** Reads the current version of our Lease. Throws `error` if the Lease is no longer ours, which is final. */
  async #readBack(error: unknown, limit: AbortSignal): Promise<void> {
    const { api, namespace, identity } = this.#options;
    const lease = await api.get(LEASES, { namespace, name: this.#name }, limit);
    limit.throwIfAborted();
    if (lease === undefined || leaseSpecOf(lease).holderIdentity !== identity) {
      this.#lost = true;
      throw error;
    }
    this.#resourceVersion = lease.metadata.resourceVersion;
  }

  /** Takes the single leader's Lease in the name of all replicas, unless somebody leads alone. */
  async #share(limit: AbortSignal): Promise<void> {
    const isShared = await this.#takeShared(limit);
    limit.throwIfAborted();
    this.#isShared = isShared;
  }

  /** Renews it in one request. Returns false if somebody leads alone. */
  async #renewShared(limit: AbortSignal): Promise<boolean> {
    const { api, namespace, name } = this.#options;
    const { leaseDurationSeconds, renewTime } = this.#record();
    const renewal: readonly PatchOperation[] = [
      { op: 'test', path: '/spec/holderIdentity', value: REPLICAS },
      { op: 'add', path: '/spec/leaseDurationSeconds', value: leaseDurationSeconds },
      { op: 'add', path: '/spec/renewTime', value: renewTime },
    ];
    try {
      await api.patch(LEASES, { namespace, name }, renewal, undefined, limit);
      return true;
    } catch (error) {
      if (!isInvalid(error) && !isNotFound(error)) throw error;
      limit.throwIfAborted();
      return this.#takeShared(limit);
    }
  }

  async #takeShared(limit: AbortSignal): Promise<boolean> {
    const { api, namespace, name } = this.#options;
    const ref = { namespace, name };
    const spec = { ...this.#record(), holderIdentity: REPLICAS };
    const lease = await api.get(LEASES, ref, limit);
    limit.throwIfAborted();
    // A person removed the holder from a shared Lease.
    const isEmptied = this.#isShared && lease !== undefined && !leaseSpecOf(lease).holderIdentity;
    if (this.#others.isLed(lease) && !isEmptied) return false;
    try {
      if (lease === undefined) await api.create(LEASES, namespace, newLease(name, spec), limit);
      else await this.#patchShared(lease, spec, limit);
      return true;
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
      // Another replica has renewed it since it was read, which is as good.
      const now = await api.get(LEASES, ref, limit);
      return now !== undefined && leaseSpecOf(now).holderIdentity === REPLICAS;
    }
  }

  /** If the last replica has gone, a single leader need not wait. One that came since has its own Lease, or is too late with this one. */
  async #unshare(limit: AbortSignal): Promise<void> {
    const { api, namespace, name } = this.#options;
    const { items } = await api.list(LEASES, { namespace }, limit);
    if (items.some((lease) => lease.metadata.name.startsWith(REPLICA_LEASE_PREFIX) && !isGivenBack(lease))) return;
    const shared = items.find(({ metadata }) => metadata.name === name);
    if (shared === undefined || leaseSpecOf(shared).holderIdentity !== REPLICAS) return;
    await this.#patchShared(shared, GIVEN_BACK, limit).catch((error) => {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    });
  }

  #patchShared({ metadata }: AnyObject, spec: object, limit: AbortSignal): Promise<AnyObject> {
    const { api, namespace, name } = this.#options;
    const patch = { metadata: { resourceVersion: metadata.resourceVersion }, spec };
    return api.patch(LEASES, { namespace, name }, patch, undefined, limit);
  }

  async #write(spec: object, view: View | undefined, limit: AbortSignal): Promise<void> {
    const { api, namespace } = this.#options;
    const annotations = view === undefined ? WITHDRAWN : { [MEMBERS]: view.join(), [HELD]: this.#heldUnder(view) };
    const patch = { metadata: { resourceVersion: this.#resourceVersion, annotations }, spec };
    const written = await api.patch(LEASES, { namespace, name: this.#name }, patch, undefined, limit);
    limit.throwIfAborted();
    this.#resourceVersion = written.metadata.resourceVersion;
  }

  /** Null if there are none. Nothing more is begun for them under that view, so they only become fewer, or move. */
  #heldUnder(view: View): string | null {
    const { identity, inHand } = this.#options;
    const held = [...inHand()].filter((shard) => this.#owners.of(shard, view) !== identity);
    return held.length === 0 ? null : held.map(encodeURIComponent).join();
  }

  #record(): ReturnType<typeof leaseRecord> {
    const { clock, identity, leaseDurationMs } = this.#options;
    return leaseRecord(identity, leaseDurationMs, clock.now());
  }
}

function viewOf(identity: string, others: readonly Other[]): View {
  return [identity, ...others.map((other) => other.identity)].sort();
}
