import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { stopwatch } from '../base/stopwatch.ts';
import type { AnyObject, Resource } from './api.ts';
import { microTime } from './object.ts';

export const LEASES: Resource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' };

/** Times in milliseconds, with client-go's names. */
export interface LeaseTimes {
  /** How long others wait after the last sign of the holder. */
  readonly leaseDurationMs: number;
  /** How long the holder acts after its last renewal. */
  readonly renewDeadlineMs: number;
  /** Time between two attempts; candidates add up to a fifth. */
  readonly retryPeriodMs: number;
}

/** The times that Kubernetes' own components use. */
export const LEASE_TIMES: LeaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
export const JITTER_FACTOR = 1.2;

/**
 * The time in which a holder may act by one renewal. It begins when the renewal is asked for, as nobody saw it earlier. Once it is over, it
 * stays so: setting a clock back brings no time back.
 */
export class Term {
  readonly #lastsMs: number;
  readonly #sinceAskedMs: () => number;
  #isOver = false;

  /** Begins now. */
  constructor(clock: Clock, { renewDeadlineMs }: Pick<LeaseTimes, 'renewDeadlineMs'>) {
    this.#lastsMs = renewDeadlineMs;
    this.#sinceAskedMs = stopwatch(clock);
  }

  /** How much of it is left; 0: it is over. */
  get remainingMs(): number {
    const remainingMs = this.#lastsMs - this.#sinceAskedMs();
    this.#isOver ||= remainingMs <= 0;
    return this.#isOver ? 0 : remainingMs;
  }
}

/** Returns how long an attempt to renew may take, so that time is left for another, on a new connection. `remainingMs`: 0 if it is no holder. */
export function renewLimitMs(renewDeadlineMs: number, remainingMs: number): number {
  return Math.min(renewDeadlineMs / 2, remainingMs > 0 ? (remainingMs * 5) / 8 : Number.POSITIVE_INFINITY);
}

/** Returns how long to wait after a failed attempt: the less time the holder has left, the sooner the next one comes. */
export function renewPauseMs(retryPeriodMs: number, remainingMs: number): number {
  return remainingMs > 0 ? Math.min(retryPeriodMs, Math.max(retryPeriodMs, remainingMs) / 4) : retryPeriodMs;
}

const CALLED = {
  leaseDuration: 'the lease duration',
  renewDeadline: 'the renew deadline',
  retryPeriod: 'the retry period',
};

/** Returns why these times do not exclude two leaders, by client-go's rules; undefined if they do. The last argument: the times' names. */
export function problemOf(
  { leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaseTimes,
  { leaseDuration, renewDeadline, retryPeriod } = CALLED,
): string | undefined {
  if (retryPeriodMs <= 0) return `${retryPeriod} must be longer than 0`;
  if (renewDeadlineMs <= retryPeriodMs * JITTER_FACTOR)
    return `${renewDeadline} must be longer than ${JITTER_FACTOR} times ${retryPeriod}`;
  return leaseDurationMs <= renewDeadlineMs ? `${leaseDuration} must be longer than ${renewDeadline}` : undefined;
}

const leaseObject = z.object({
  spec: z.object({
    holderIdentity: z.string().nullish(),
    leaseDurationSeconds: z.number().nullish(),
    acquireTime: z.string().nullish(),
    renewTime: z.string().nullish(),
    leaseTransitions: z.number().nullish(),
  }),
});

/** coordination.k8s.io/v1 LeaseSpec, as far as it is read here. */
export type LeaseSpec = z.infer<typeof leaseObject>['spec'];

/** Returns the spec; that of an invalid Lease is empty, as if nobody held it. */
export function leaseSpecOf(lease: AnyObject): LeaseSpec {
  return leaseObject.safeParse(lease).data?.spec ?? {};
}

/** What a holder writes into a Lease to give it back, as client-go does. */
export const GIVEN_BACK = { holderIdentity: '', leaseDurationSeconds: 1 };

/**
 * Reports whether nobody acts by the Lease: it was given back, or nobody ever held it (`wasSeen`: somebody is known to have). If a person
 * removed the holder, the holder has not heard of that yet.
 */
export function isFree({ holderIdentity, leaseDurationSeconds }: LeaseSpec, wasSeen: boolean): boolean {
  const seconds = leaseDurationSeconds ?? (wasSeen ? Number.POSITIVE_INFINITY : 0);
  return !holderIdentity && seconds <= GIVEN_BACK.leaseDurationSeconds;
}

/** Returns how long a holder acts by its Lease: whatever somebody wrote into it, no less than holders do here. */
export function actsForMs({ leaseDurationSeconds }: LeaseSpec, leaseDurationMs: number): number {
  return Math.max(leaseDurationMs, (leaseDurationSeconds ?? 0) * 1000);
}

/** Returns how long from now somebody may act by a Lease found like this; `spec` undefined: it is gone. */
export function lastsMs(spec: LeaseSpec | undefined, wasSeen: boolean, leaseDurationMs: number): number {
  if (spec !== undefined && isFree(spec, wasSeen)) return Number.NEGATIVE_INFINITY;
  return actsForMs(spec ?? {}, leaseDurationMs);
}

/** Returns a Lease to create. */
export function newLease(name: string, spec: LeaseSpec, annotations?: Readonly<Record<string, string>>): object {
  const metadata = { name, ...(annotations && { annotations }) };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

/** Returns what the holder writes at each renewal. Times in a Lease are for people. */
export function leaseRecord(holderIdentity: string, leaseDurationMs: number, nowMs: number): LeaseSpec {
  return { holderIdentity, leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000), renewTime: microTime(nowMs) };
}
