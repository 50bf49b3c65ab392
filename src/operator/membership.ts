/*
 * Shares shards between replicas so that no shard ever has two owners, and a replica that comes or goes moves only its own.
 * Each replica has a Lease, which it renews as a leader does its own, and publishes there between whom it thinks that shards
 * are shared: its view. Under a view the owner of a shard is the member with the highest hash of both (rendezvous hashing).
 * - A replica owns a shard if it is the owner under its own published view, and if no other live replica claims it: by being
 *   the owner under its published view, or by naming it beside that as one that it still has in hand. It looks at the others
 *   after it has published: of two that claim one shard, at least one sees the other's claim.
 * - Before it publishes a view under which it loses shards, it begins nothing there any more; what is in hand there it names.
 * - With each renewal it renews the Lease of a single leader as well, in the name of all: a process that is started to act alone, as in
 *   a rolling update, acts once no replica has renewed for the lease's duration, when the last one has stopped.
 * - A replica that was not seen to renew for the lease's duration is dead once its Lease could be taken from it in the
 *   version that was seen. By then it does not act any more: it stops by itself at the renew deadline, by either clock.
 */

import { type Clock, sleep } from '../base/clock.ts';
import { REPLICA_LEASE_PREFIX } from '../base/lease-names.ts';
import { limited } from '../base/limited.ts';
import { stopwatch } from '../base/stopwatch.ts';
import { type AnyObject, isAlreadyExists, isConflict, isNotFound, type KubeApi } from '../kube/api.ts';
import {
  GIVEN_BACK,
  isFree,
  LEASE_TIMES,
  LEASES,
  type LeaseTimes,
  leaseRecord,
  leaseSpecOf,
  newLease,
} from '../kube/lease.ts';
import { HELD, MEMBERS, type Other, Others, REPLICAS } from './others.ts';
import { Owners, type View } from './owners.ts';

/** Whoever has come or gone is taken in after so long, in place of a retry period: what was begun because of it has been answered by then. */
const SOON_MS = 200;

export interface MembershipOptions extends Partial<LeaseTimes> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly namespace: string;
  /**
   * The Lease of a single leader: while a process that was started otherwise holds it, no replica owns anything; and while one
   * does, the replicas hold it.
   */
  readonly name: string;
  /** Names this process, and never two of them; part of a Lease's name. */
  readonly identity: string;
  /** Shards that something is being done for at this moment. */
  readonly inHand: () => Iterable<string>;
  /** All others were looked at; if `changed`, `owns` may answer otherwise now. `between`: the others may not have renewed since the last time. */
  readonly onChange: (changed: boolean, between: boolean) => void;
  /** An attempt failed; the next one comes by itself. */
  readonly onFailure: (error: unknown) => void;
}

/** What was true after this replica published its view and then looked at all others'. */
interface Standing {
  readonly view: View;
  readonly others: readonly Other[];
  readonly sinceAskedMs: () => number;
}

/** One replica, as above. */
export class Membership {
  readonly #options: Required<MembershipOptions>;
  readonly #others: Others;
  readonly #owners = new Owners();
  #standing: Standing | undefined;
  /** What is to be published next: nothing is begun any more for what it takes away. */
  #coming: View | undefined;
  /** Somebody has come or gone, so that the next renewal comes soon. */
  #soon = false;
  /** What `owns` follows from. */
  #known = '';
  #resourceVersion = '';
  /** This replica has acted, or might have, while all held the single leader's Lease. */
  #hasShared = false;
  /** Found to be over by a clock, which may be set back since; until the next renewal. */
  #over = false;
  #lost = false;

  constructor(options: MembershipOptions) {
    this.#options = { ...LEASE_TIMES, ...options };
    this.#others = new Others({
      ...this.#options,
      own: this.#name,
      aside: (work) => void this.#attempt(work),
      onDead: () => {
        this.#soon = true;
      },
    });
  }

  /** Whether this replica may begin something for the shard now. */
  owns(shard: string): boolean {
    const { identity } = this.#options;
    const standing = this.#standing;
    if (standing === undefined || !this.isMember()) return false;
    return (
      this.#owners.of(shard, standing.view) === identity &&
      (this.#coming === undefined || this.#owners.of(shard, this.#coming) === identity) &&
      standing.others.every((other) => this.#owners.of(shard, other.view) !== other.identity) &&
      standing.others.every((other) => !other.held.has(encodeURIComponent(shard)))
    );
  }

  /** Whether what is in hand may still change anything. Ask before each effect. */
  isMember(): boolean {
    if (this.#standing === undefined || this.#lost) return false;
    this.#over ||= this.#standing.sinceAskedMs() >= this.#options.renewDeadlineMs;
    return !this.#over;
  }

  /**
   * Takes part until `work` has ended, which is told to stop when the signal aborts, then gives its Lease back. Resolves as
   * well when the Lease was lost: then the process had better end. Rejects with what `work` threw.
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
      const between = this.#soon;
      this.#soon = false;
      await this.#attempt((limit) => this.#renew(between, limit));
      if (!this.isMember() && this.#standing !== undefined) this.#lost = true;
      if (!this.#lost) await sleep(clock, this.#soon ? SOON_MS : retryPeriodMs, ended.signal);
    }
    signal.removeEventListener('abort', onAbort);
    this.#standing = undefined;
    stop.abort();
    if (this.#lost) return;
    await this.#giveBack();
    await working;
  }

  async #giveBack(): Promise<void> {
    await this.#attempt((limit) => this.#write(GIVEN_BACK, undefined, limit));
    await this.#attempt((limit) => this.#unshare(limit));
  }

  get #name(): string {
    return `${REPLICA_LEASE_PREFIX}${this.#options.identity}`;
  }

  /** Whether it succeeded in time. An attempt that did not goes no further, whatever it is answered later. */
  async #attempt(work: (limit: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const { clock, renewDeadlineMs, onFailure } = this.#options;
    try {
      await limited(clock, renewDeadlineMs / 2, work);
      return true;
    } catch (error) {
      onFailure(error);
      return false;
    }
  }

  async #join(limit: AbortSignal): Promise<void> {
    const { api, namespace, identity } = this.#options;
    const view = viewOf(identity, await this.#others.look(limit));
    const lease = newLease(this.#name, this.#record(), { [MEMBERS]: view.join() });
    try {
      const created = await api.create(LEASES, namespace, lease, limit);
      limit.throwIfAborted();
      this.#resourceVersion = created.metadata.resourceVersion;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // An earlier attempt of ours created it, and the answer was lost.
      await this.#readBack(error, limit);
    }
    this.#coming = view;
  }

  /** Publishes a view, then looks at all others'. */
  async #renew(between: boolean, limit: AbortSignal): Promise<void> {
    const { clock, identity, onChange } = this.#options;
    const view = this.#coming ?? this.#standing?.view;
    if (view === undefined) return;
    const sinceAskedMs = stopwatch(clock);
    const [isShared, others] = await Promise.all([
      this.#share(limit),
      this.#publish(view, limit).then(() => this.#others.look(limit)),
    ]);
    limit.throwIfAborted();
    if (!isShared && this.#hasShared) {
      // Somebody has taken it in the time in which this replica was dead: what is in hand here must not go on.
      this.#lost = true;
      throw new Error(`Somebody acts alone under Lease ${this.#options.name} by now`);
    }
    // Who led has given its Lease back since, and another one may have taken it.
    if (!isShared && !others.some((other) => other.isLeader)) return;
    this.#hasShared = isShared;
    this.#standing = { view, others, sinceAskedMs };
    this.#over = false;
    const next = viewOf(identity, others);
    this.#coming = next.join() === view.join() ? undefined : next;
    this.#soon ||= this.#coming !== undefined;
    const text = JSON.stringify([view, next, others.map((other) => [other.identity, other.view, ...other.held])]);
    const changed = text !== this.#known;
    if (changed) this.#owners.clear();
    this.#known = text;
    onChange(changed, between);
  }

  async #publish(view: View, limit: AbortSignal): Promise<void> {
    try {
      await this.#write(this.#record(), view, limit);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      // Somebody wrote to it. An earlier renewal of ours, whose answer was lost, is one who does.
      await this.#readBack(error, limit);
      await this.#write(this.#record(), view, limit);
    }
  }

  /** The version of our Lease as it is now. Throws `error` if it is not ours any more, which it then never is again. */
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

  /** Renews the single leader's Lease in the name of all replicas. False: somebody leads alone. */
  async #share(limit: AbortSignal): Promise<boolean> {
    const { api, namespace, name } = this.#options;
    const ref = { namespace, name };
    const spec = { ...this.#record(), holderIdentity: REPLICAS };
    const lease = await api.get(LEASES, ref, limit);
    limit.throwIfAborted();
    // Out of one that is shared a person took the holder.
    const isEmptied = this.#hasShared && lease !== undefined && !leaseSpecOf(lease).holderIdentity;
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

  /** The last one has gone: a single leader need not wait. Whoever has come since has a Lease of its own, or is too late with this one. */
  async #unshare(limit: AbortSignal): Promise<void> {
    const { api, namespace, name } = this.#options;
    const { items } = await api.list(LEASES, { namespace }, limit);
    const isHeld = (lease: AnyObject) => !isFree(leaseSpecOf(lease), false);
    if (items.some((lease) => lease.metadata.name.startsWith(REPLICA_LEASE_PREFIX) && isHeld(lease))) return;
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
    const annotations = view && { [MEMBERS]: view.join(), [HELD]: this.#heldUnder(view) };
    const patch = { metadata: { resourceVersion: this.#resourceVersion, ...(annotations && { annotations }) }, spec };
    const written = await api.patch(LEASES, { namespace, name: this.#name }, patch, undefined, limit);
    limit.throwIfAborted();
    this.#resourceVersion = written.metadata.resourceVersion;
  }

  /** Null: nothing. Under that view nothing is begun for them any more, so they only become fewer, or move. */
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
