/*
 * Lets at most one of several processes act, by a Lease, with client-go's protocol and times (tools/leaderelection).
 * - Safe: a holder stops by itself `renewDeadlineMs` after it asked for its last renewal; another one takes over no earlier
 *   than `leaseDurationMs` after it saw that renewal, which is later.
 * - A Lease that somebody deletes or edits is not free: its holder may lead until it next renews, finds that and ends. Who has seen
 *   the Lease waits `leaseDurationMs` from when it finds it so, as the holder may have renewed up to that moment. Only who
 *   never saw one takes it at once, as what has just been installed has nobody to wait for.
 * - Whoever waits for the Lease watches it, and so hears at once that it was given back, and when it runs out. It goes on
 *   asking all the same, as client-go's do: a watch that tells nothing costs seconds, and nothing else.
 * - Clocks need not agree: only changes of the Lease seen here, and this process's own clocks, decide. Moments in the
 *   Lease are for people, and only its duration counts.
 * - A process that was frozen past its deadline does not lead when it wakes up, before it does anything. The holder goes
 *   by whichever clock says that more time has passed: the monotonic one stands still while a whole machine is suspended,
 *   the other one may be set back. Where both tell of too little, as in a virtual machine that was stopped, nothing can.
 */

import { type Clock, sleep } from '../base/clock.ts';
import { limited } from '../base/limited.ts';
import type { Random } from '../base/random.ts';
import { stopwatch } from '../base/stopwatch.ts';
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
} from '../kube/lease.ts';
import { microTime } from '../kube/object.ts';
import { type ReflectorEvent, runReflector } from './reflector.ts';

export interface LeaderElectorOptions extends Partial<LeaseTimes> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** Names this process, and never two of them: a holder is known by it alone. */
  readonly identity: string;
  /** An attempt failed; the next one comes by itself. */
  readonly onFailure?: (error: unknown) => void;
}

export interface LeaderCallbacks {
  /** Leads until the signal aborts; leadership is kept until the promise settles, so that what is in hand can end. */
  onStartedLeading(signal: AbortSignal): Promise<void>;
  /** From here on another one may lead. */
  onStoppedLeading(): void;
}

/** The Lease is ours in this version; what was written counts from when the write was asked for, as nobody saw it earlier. */
interface Hold {
  readonly resourceVersion: string;
  readonly sinceAskedMs: () => number;
}

/** One candidate, as above. */
export class LeaderElector {
  readonly #options: Required<LeaderElectorOptions>;
  #hold: Hold | undefined;
  /** The Lease's spec as last seen, '' where it was gone, and when it runs out if it is not seen to change. */
  #seen: { readonly spec: string; readonly expiresAt: number } | undefined;

  /** Throws RangeError on times that do not exclude two leaders. */
  constructor(options: LeaderElectorOptions) {
    this.#options = { onFailure: () => {}, ...LEASE_TIMES, ...options };
    const problem = problemOf(this.#options);
    if (problem !== undefined) throw new RangeError(`Two could lead at once: ${problem}`);
  }

  /** Whether this process may act at this moment. Ask before each effect. */
  isLeader(): boolean {
    return this.#remainingMs() > 0;
  }

  /**
   * Waits for leadership and leads once. Resolves when the signal aborted and the lease is given back, or when leadership
   * was lost: then the process had better end, as what it knows may be outdated. Rejects with what `onStartedLeading` threw.
   */
  async run(signal: AbortSignal, callbacks: LeaderCallbacks): Promise<void> {
    await this.#acquire(signal);
    if (this.#hold === undefined) return;
    const lost = new AbortController();
    const ended = new AbortController();
    const work = callbacks.onStartedLeading(AbortSignal.any([signal, lost.signal])).finally(() => ended.abort());
    // Whoever awaits `work` below hears of it; if leadership is lost nobody does.
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
      const remainingMs = (this.#seen?.expiresAt ?? 0) - clock.monotonic();
      const delayMs = remainingMs > 0 ? Math.min(remainingMs, periodMs) : periodMs;
      await sleep(clock, delayMs, AbortSignal.any([signal, freed.signal]));
    }
    decided.abort();
  }

  /** Tells when nobody holds the Lease. If it cannot be watched, whoever asks for it finds that out, and says why if that fails too. */
  #watch(signal: AbortSignal, onFree: () => void): void {
    const onEvent = (event: ReflectorEvent) => {
      if (event.type === 'listing' || event.type === 'listed') return;
      if (event.type === 'applied') this.#see(event.object);
      if (event.type === 'deleted') this.#see(undefined);
      else if (!leaseSpecOf(event.object).holderIdentity) onFree();
    };
    const followed = { resource: LEASES, transform: (lease: AnyObject) => lease, onEvent, onFailure: () => {} };
    void runReflector({ ...this.#options, ...followed }, signal);
  }

  /** When the Lease runs out, by the monotonic clock, if it is not free; `lease` undefined: it is gone. */
  #see(lease: AnyObject | undefined): number {
    const { clock, leaseDurationMs } = this.#options;
    if (lease === undefined && this.#seen === undefined) return 0;
    const spec = lease && leaseSpecOf(lease);
    const text = spec === undefined ? '' : JSON.stringify(spec);
    const expiresAt = clock.monotonic() + lastsMs(spec, this.#seen !== undefined, leaseDurationMs);
    if (this.#seen?.spec !== text) this.#seen = { spec: text, expiresAt };
    return this.#seen.expiresAt;
  }

  /** Renews until the work has ended or leadership is lost. */
  async #keep(ended: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#options;
    for (;;) {
      await sleep(clock, Math.min(retryPeriodMs, this.#remainingMs()), ended);
      const hold = this.#hold;
      if (ended.aborted || hold === undefined || !this.isLeader()) return;
      // Not cut short when the work ends: its answer says which version is to be given back.
      const renewed = await this.#limited((limit) => this.#renew(hold, this.#record(), limit));
      if (renewed === 'lost') this.#hold = undefined;
      else if (renewed !== undefined && this.isLeader()) this.#hold = renewed;
    }
  }

  #remainingMs(): number {
    if (this.#hold === undefined) return 0;
    const remainingMs = this.#options.renewDeadlineMs - this.#hold.sinceAskedMs();
    // For good: a clock that is set back brings no time back.
    if (remainingMs <= 0) this.#hold = undefined;
    return Math.max(0, remainingMs);
  }

  /** Takes the Lease if nobody holds it; undefined: somebody does. */
  async #take(signal: AbortSignal): Promise<Hold | undefined> {
    const { api, clock, namespace, name, identity } = this.#options;
    const lease = await api.get(LEASES, { namespace, name }, signal);
    const sinceAskedMs = stopwatch(clock);
    const askedAt = clock.monotonic();
    if (lease === undefined) {
      if (askedAt < this.#see(undefined)) return undefined;
      const spec = { ...this.#record(), acquireTime: microTime(clock.now()), leaseTransitions: 0 };
      return held(await api.create(LEASES, namespace, newLease(name, spec), signal), sinceAskedMs);
    }
    const spec = leaseSpecOf(lease);
    const ours = spec.holderIdentity === identity;
    if (!ours && askedAt < this.#see(lease)) return undefined;
    const transition = { acquireTime: microTime(clock.now()), leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
    return this.#write(lease.metadata.resourceVersion, { ...this.#record(), ...(ours ? {} : transition) }, signal);
  }

  /** Writes the record into the Lease, whatever its version by now; lost: it is not ours any more. */
  async #renew(hold: Hold, record: LeaseSpec, signal: AbortSignal): Promise<Hold | 'lost'> {
    const { api, namespace, name, identity } = this.#options;
    try {
      return await this.#write(hold.resourceVersion, record, signal);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      // Somebody wrote to it. An earlier renewal of ours, whose answer was lost, is one who does. One that was deleted is not
      // made anew: somebody who never saw it may have done so, and who deletes it wants another one to lead.
      const lease = await api.get(LEASES, { namespace, name }, signal);
      if (lease === undefined || leaseSpecOf(lease).holderIdentity !== identity) return 'lost';
      return this.#write(lease.metadata.resourceVersion, record, signal);
    }
  }

  async #write(resourceVersion: string, spec: object, signal: AbortSignal): Promise<Hold> {
    const { api, clock, namespace, name } = this.#options;
    const sinceAskedMs = stopwatch(clock);
    const patch = { metadata: { resourceVersion }, spec };
    return held(await api.patch(LEASES, { namespace, name }, patch, undefined, signal), sinceAskedMs);
  }

  /** So that the next one need not wait. If it cannot be given back, it runs out. */
  async #release(hold: Hold): Promise<void> {
    await this.#limited((limit) => this.#renew(hold, { ...this.#record(), ...GIVEN_BACK }, limit));
  }

  #record(): LeaseSpec {
    const { clock, identity, leaseDurationMs } = this.#options;
    return leaseRecord(identity, leaseDurationMs, clock.now());
  }

  /** Undefined when it failed or took too long. An answer that comes later is not heard: nothing is remembered of it. */
  async #limited<T>(attempt: (limit: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    const { clock, renewDeadlineMs, onFailure } = this.#options;
    // Half of the deadline, so that a request that hangs is not the only one before it.
    const limitMs = Math.min(renewDeadlineMs / 2, this.#remainingMs() || Number.POSITIVE_INFINITY);
    try {
      return await limited(clock, limitMs, attempt, signal);
    } catch (error) {
      // Another one was faster: nothing failed.
      if (!isConflict(error) && !isAlreadyExists(error) && !signal?.aborted) onFailure(error);
      return undefined;
    }
  }
}

function held(lease: AnyObject, sinceAskedMs: Hold['sinceAskedMs']): Hold {
  return { resourceVersion: lease.metadata.resourceVersion, sinceAskedMs };
}
