import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { LEADER_LEASE } from '../base/lease-names.ts';
import { withTimeout } from '../base/with-timeout.ts';
import { type KubeApi, KubeError } from '../kube/api.ts';
import { LEASES } from '../kube/lease.ts';
import { listAllPages } from '../kube/list.ts';
import { age } from './command-line/text.ts';

/*
 * Whether an operator runs, as far as its Leases show. Nothing records which operator watches which namespace, so one live
 * operator anywhere is enough, and so is one without a Lease. A person's clock may be far ahead of those in the Kubernetes
 * cluster, so the time is never taken to be later than the newest Lease of anybody: each node and API server renews one
 * every 10 s.
 */

/** A Lease not renewed for this many times its duration, and for at least this long, is dead: clocks may differ a little. */
const DURATIONS = 4;
const AT_LEAST_MS = 60_000;

const leaseObject = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({
    holderIdentity: z.string().nullish(),
    leaseDurationSeconds: z.number().nullish(),
    renewTime: z.iso.datetime(),
  }),
});
type Lease = z.infer<typeof leaseObject>;

type Api = Pick<KubeApi, 'list'>;

/** Nobody waits longer for a hint. */
const PATIENCE_MS = 5_000;

/**
 * Says that no operator seems to be running, and why; undefined: one may be, or the caller may not see it, or there was no
 * answer in five seconds. Makes one request if an operator runs, and otherwise calls `everyLease` too, which lists all Leases.
 * Throws only for an aborted `signal`.
 */
export async function operatorSign(
  api: Api,
  clock: Clock,
  signal: AbortSignal,
  everyLease = (limit: AbortSignal) => listLeases(api, {}, limit),
): Promise<string | undefined> {
  try {
    return await withTimeout(clock, PATIENCE_MS, (limit) => looked(api, clock, limit, everyLease), signal);
  } catch (error) {
    // It is only a hint: the caller's other requests report their own errors.
    if (signal.aborted && !(error instanceof KubeError)) throw error;
    return undefined;
  }
}

async function looked(
  api: Api,
  clock: Clock,
  signal: AbortSignal,
  everyLease: (signal: AbortSignal) => Promise<readonly Lease[]>,
): Promise<string | undefined> {
  const leaders = await listLeases(api, { name: LEADER_LEASE }, signal);
  const isAnyAlive = (nowMs: number) => leaders.some((lease) => isAlive(lease, nowMs));
  const last = newest(leaders);
  if (last === undefined || isAnyAlive(clock.now())) return undefined;
  const anybody = newest(await everyLease(signal)) ?? last;
  const nowMs = Math.min(clock.now(), renewedAt(anybody));
  return isAnyAlive(nowMs) ? undefined : told(last, nowMs);
}

const LOOK_MS = 10_000;
/** Rarely, since each node has a Lease. */
const EVERY_LEASE_MS = 30_000;

/** Like operatorSign(), for callers that ask again and again: it looks only now and then, and never throws. */
export function operatorWatch(tools: {
  readonly api: Api;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): () => Promise<string | undefined> {
  const { api, clock, signal } = tools;
  const everyLease = kept(clock, EVERY_LEASE_MS, () => listLeases(api, {}, signal));
  return kept(clock, LOOK_MS, () => operatorSign(api, clock, signal, everyLease).catch(() => undefined));
}

/** Reads again only once the last value is this old. */
function kept<T>(clock: Pick<Clock, 'monotonic'>, forMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    const at = clock.monotonic();
    if (last === undefined || at - last.at >= forMs) last = { at, value: read() };
    return last.value;
  };
}

function told({ metadata, spec }: Lease, nowMs: number): string {
  const name = `${metadata.namespace}/${metadata.name}`;
  const since = age(spec.renewTime, nowMs);
  const how = (spec.holderIdentity ?? '') === '' ? `was released ${since} ago` : `was last renewed ${since} ago`;
  return `No operator seems to be running: Lease ${name} ${how}, and nobody has held it since (an operator without --leader-elect has no Lease)`;
}

function isAlive(lease: Lease, nowMs: number): boolean {
  const duration = (lease.spec.leaseDurationSeconds ?? 0) * 1000 * DURATIONS;
  return nowMs - renewedAt(lease) <= Math.max(AT_LEAST_MS, duration);
}

function newest(leases: readonly Lease[]): Lease | undefined {
  return leases.toSorted((one, other) => renewedAt(other) - renewedAt(one))[0];
}

function renewedAt({ spec }: Lease): number {
  return Date.parse(spec.renewTime);
}

async function listLeases(api: Api, only: { readonly name?: string }, signal: AbortSignal): Promise<readonly Lease[]> {
  return (await listAllPages(api, LEASES, only, signal)).flatMap((object) => {
    const parsed = leaseObject.safeParse(object);
    return parsed.success ? [parsed.data] : [];
  });
}
