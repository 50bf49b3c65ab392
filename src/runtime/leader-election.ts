/*
 * Lets at most one of several processes act, by a Lease, with client-go's protocol and times (tools/leaderelection).
 * - Safe: a holder stops by itself `renewDeadlineMs` after it asked for its last renewal. Another process takes over no earlier than
 *   `leaseDurationMs` after it saw that renewal, which is later.
 * - A Lease that somebody deletes or edits is not free: its holder may lead until it next renews and finds out. A process that has seen
 *   the Lease waits `leaseDurationMs` from when it finds it so, as the holder may have renewed up to that moment. Only a process that
 *   never saw one takes it at once: in a new installation there is nobody to wait for.
 * - A process that waits for the Lease watches it. So it hears at once that the Lease was given back, and when it runs out. It still
 *   polls, as client-go does, so a watch that reports nothing costs only seconds.
 * - Clocks need not agree: only that the Lease changed, as seen here, and this process's own clocks decide. Of the times in it only the
 *   duration is read; the others are for people, and change with each renewal.
 * - A process that was frozen past its deadline does not lead when it wakes up, before it does anything. The holder goes by whichever
 *   clock says that more time has passed: the monotonic clock stands still while a whole machine is suspended, and the other one may be
 *   set back. If both show too little, as in a virtual machine that was stopped, nothing can help.
 */

import { type Clock, sleep } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { withTimeout } from '../base/with-timeout.ts';
import { type AnyObject, isAlreadyExists, isConflict, isNotFound, type KubeApi } from '../kube/api.ts';
import {
  GIVEN_BACK,
  JITTER_FACTOR,
  LEASE_TIMES,
  LEASES,
  type LeaseSpec,
  type LeaseTimes,
  lastsMs,
  leaseRecord,
  leaseSpecOf,
  newLease,
  problemOf,
  renewLimitMs,
  renewPauseMs,
  Term,
} from '../kube/lease.ts';
import { microTime } from '../kube/object.ts';
import { type ReflectorEvent, runReflector } from './reflector.ts';

export interface LeaderElectorOptions extends Partial<LeaseTimes> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  /** The name of the Lease. */
  readonly name: string;
  /** Names this process and no other: a holder is known by it alone. */
  readonly identity: string;
  /** Called after a failed attempt; the next one comes by itself. */
  readonly onFailure?: (error: unknown) => void;
}

export interface LeaderCallbacks {
  /** Leads until the signal aborts. Leadership is kept until the promise settles, so that running work can end. */
  onStartedLeading(signal: AbortSignal): Promise<void>;
  /** From here on another process may lead. */
  onStoppedLeading(): void;
}

/** The Lease is ours in this version. */
interface Hold {
  readonly resourceVersion: string;
  readonly term: Term;
}

/** One candidate, as above. */
export class LeaderElector {
  readonly #options: Required<LeaderElectorOptions>;
  #hold: Hold | undefined;
  /** The Lease's spec as last observed ('' if it was gone), and when the Lease runs out if it is not seen to change. */
  #observed: { readonly spec: string; readonly expiresAt: number } | undefined;

  /** Throws RangeError if the times do not exclude two leaders. */
  constructor(options: LeaderElectorOptions) {
    this.#options = { onFailure: () => {}, ...LEASE_TIMES, ...options };
    const problem = problemOf(this.#options);
    if (problem !== undefined) throw new RangeError(`Two could lead at once: ${problem}`);
  }

  /** Reports whether this process may act at this moment. Ask before each effect. */
  isLeader(): boolean {
    return this.#remainingMs() > 0;
  }

  /**
   * Waits for leadership and leads once. Resolves when the signal aborted and the lease is given back (if it was being taken just then, it
   * runs out, as in client-go), or when leadership was lost: then the process should end, as what it knows may be outdated. Rejects with
   * what `onStartedLeading` threw.
   */
  async run(signal: AbortSignal, callbacks: LeaderCallbacks): Promise<void> {
    await this.#acquire(signal);
    if (!this.isLeader()) return;
    const lost = new AbortController();
    const ended = new AbortController();
    const work = callbacks.onStartedLeading(AbortSignal.any([signal, lost.signal])).finally(() => ended.abort());
    // The `await work` below reports its failure; if leadership is lost, nobody awaits it.
    work.catch(() => {});
    await this.#keep(ended.signal);

    const held = ended.signal.aborted && this.isLeader() ? this.#hold : undefined;
    this.#hold = undefined;
    lost.abort();
    callbacks.onStoppedLeading();
    if (held !== undefined) await this.#release(held);
    if (ended.signal.aborted) await work;
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    const { clock, random, retryPeriodMs } = this.#options;
    const decided = new AbortController();
    let freed = new AbortController();
    this.#watch(AbortSignal.any([signal, decided.signal]), () => freed.abort());
    while (!signal.aborted) {
      freed = new AbortController();
      this.#hold = await this.#limited((limit) => this.#take(limit), signal);
      if (this.isLeader()) break;
      const periodMs = retryPeriodMs * (1 + (JITTER_FACTOR - 1) * random.float());
      const remainingMs = (this.#observed?.expiresAt ?? 0) - clock.monotonic();
      const delayMs = remainingMs > 0 ? Math.min(remainingMs, periodMs) : periodMs;
      await sleep(clock, delayMs, AbortSignal.any([signal, freed.signal]));
    }
    decided.abort();
  }

  /** Reports when nobody holds the Lease. If the watch fails, polling finds that out, and reports why if it fails too. */
  #watch(signal: AbortSignal, onFree: () => void): void {
    const onEvent = (event: ReflectorEvent) => {
      if (event.type === 'listing' || event.type === 'listed') return;
      if (event.type === 'applied') this.#observe(event.object);
      if (event.type === 'deleted') this.#observe(undefined);
      else if (!leaseSpecOf(event.object).holderIdentity) onFree();
    };
    const followed = { resource: LEASES, transform: (lease: AnyObject) => lease, onEvent, onFailure: () => {} };
    void runReflector({ ...this.#options, ...followed }, signal);
  }

  /** Returns when the Lease runs out, by the monotonic clock, if it is not free; `lease` undefined: it is gone. */
  #observe(lease: AnyObject | undefined): number {
    const { clock, leaseDurationMs } = this.#options;
    if (lease === undefined && this.#observed === undefined) return 0;
    const spec = lease && leaseSpecOf(lease);
    const text = spec === undefined ? '' : JSON.stringify(spec);
    const expiresAt = clock.monotonic() + lastsMs(spec, this.#observed !== undefined, leaseDurationMs);
    if (this.#observed?.spec !== text) this.#observed = { spec: text, expiresAt };
    return this.#observed.expiresAt;
  }

  /** Renews until the work has ended or leadership is lost. */
  async #keep(ended: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#options;
    for (let pauseMs = retryPeriodMs; ; ) {
      await sleep(clock, Math.min(pauseMs, this.#remainingMs()), ended);
      const hold = this.#hold;
      if (ended.aborted || hold === undefined || !this.isLeader()) return;
      // Not cut short when the work ends: its answer says which version to give back.
      const renewed = await this.#limited((limit) => this.#renew(hold, this.#record(), limit));
      if (renewed === 'lost') this.#hold = undefined;
      else if (renewed !== undefined && this.isLeader()) this.#hold = renewed;
      pauseMs = renewed === undefined ? renewPauseMs(retryPeriodMs, this.#remainingMs()) : retryPeriodMs;
    }
  }

  #remainingMs(): number {
    return this.#hold?.term.remainingMs ?? 0;
  }

  /** Takes the Lease if nobody holds it; otherwise returns undefined. */
  async #take(signal: AbortSignal): Promise<Hold | undefined> {
    const { api, clock, namespace, name, identity } = this.#options;
    const lease = await api.get(LEASES, { namespace, name }, signal);
    const spec = lease && leaseSpecOf(lease);
    const isOurs = spec?.holderIdentity === identity;
    if (!isOurs && clock.monotonic() < this.#observe(lease)) return undefined;
    const leaseTransitions = spec === undefined ? 0 : (spec.leaseTransitions ?? 0) + 1;
    const transition = { acquireTime: microTime(clock.now()), leaseTransitions };
    const record = { ...this.#record(), ...(isOurs ? {} : transition) };
    if (lease !== undefined) return this.#write(lease.metadata.resourceVersion, record, signal);
    const term = new Term(clock, this.#options);
    return held(await api.create(LEASES, namespace, newLease(name, record), signal), term);
  }

  /** Writes the record into the Lease, whatever its version by now. 'lost': it is no longer ours. */
  async #renew(hold: Hold, record: LeaseSpec, signal: AbortSignal): Promise<Hold | 'lost'> {
    const { api, namespace, name, identity } = this.#options;
    try {
      return await this.#write(hold.resourceVersion, record, signal);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      // Somebody wrote to it, perhaps an earlier renewal of ours whose answer was lost. A Lease that was deleted is not created again: a
      // process that never saw it may have done so, and whoever deleted it wants another one to lead.
      const lease = await api.get(LEASES, { namespace, name }, signal);
      if (lease === undefined || leaseSpecOf(lease).holderIdentity !== identity) return 'lost';
      return this.#write(lease.metadata.resourceVersion, record, signal);
    }
  }

  async #write(resourceVersion: string, spec: object, signal: AbortSignal): Promise<Hold> {
    const { api, clock, namespace, name } = this.#options;
    const term = new Term(clock, this.#options);
    const patch = { metadata: { resourceVersion }, spec };
    return held(await api.patch(LEASES, { namespace, name }, patch, undefined, signal), term);
  }

  /** Gives the Lease back, so that the next holder need not wait. If that fails, the Lease runs out. */
  async #release(hold: Hold): Promise<void> {
    await this.#limited((limit) => this.#renew(hold, { ...this.#record(), ...GIVEN_BACK }, limit));
  }

  #record(): LeaseSpec {
    const { clock, identity, leaseDurationMs } = this.#options;
    return leaseRecord(identity, leaseDurationMs, clock.now());
  }

  /** Returns undefined if the attempt failed or took too long. A later answer is ignored. */
  async #limited<T>(attempt: (limit: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    const { clock, renewDeadlineMs, onFailure } = this.#options;
    try {
      return await withTimeout(clock, renewLimitMs(renewDeadlineMs, this.#remainingMs()), attempt, signal);
    } catch (error) {
      // Another process was faster: nothing failed.
      if (!isConflict(error) && !isAlreadyExists(error) && !signal?.aborted) onFailure(error);
      return undefined;
    }
  }
}

function held(lease: AnyObject, term: Term): Hold {
  return { resourceVersion: lease.metadata.resourceVersion, term };
}
