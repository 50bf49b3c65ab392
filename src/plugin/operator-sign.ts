import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { LEADER_LEASE, REPLICA_LEASE_PREFIX } from '../base/lease-names.ts';
import { type AnyObject, type KubeApi, KubeError } from '../kube/api.ts';
import { LEASES } from '../kube/lease.ts';
import { age } from './text.ts';

/*
 * Whether an operator runs, as far as its Leases tell. Which one watches which namespace stands nowhere, so a single one that
 * is alive, wherever it is, leaves nothing to be said; and neither does one that has no Lease.
 */

/** A Lease that was not renewed for so many times its duration, and for so long, is nobody's: clocks may differ a little. */
const DURATIONS = 4;
const AT_LEAST_MS = 60_000;
const PAGE = 500;

const leaseObject = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({
    holderIdentity: z.string().nullish(),
    leaseDurationSeconds: z.number().nullish(),
    renewTime: z.iso.datetime(),
  }),
});
type Lease = z.infer<typeof leaseObject>;

/**
 * Says that no operator seems to be running, and why; undefined: one may be, or the caller may not see it, or there was no
 * answer. Makes one request where an operator runs. Never throws but for an aborted `signal`.
 */
export async function operatorSign(
  api: Pick<KubeApi, 'list'>,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const leaders = await listLeases(api, { name: LEADER_LEASE }, signal);
    const nowMs = clock.now();
    const [last] = leaders.toSorted((one, other) => renewedAt(other) - renewedAt(one));
    if (last === undefined || leaders.some((lease) => isAlive(lease, nowMs))) return undefined;
    // Replicas that share the work have Leases of their own, and leave an older one of a leader as it is.
    const all = await listLeases(api, {}, signal);
    const replicas = all.filter(({ metadata }) => metadata.name.startsWith(REPLICA_LEASE_PREFIX));
    return replicas.some((lease) => isAlive(lease, nowMs)) ? undefined : told(last, nowMs);
  } catch (error) {
    // It is only a hint: whatever else was asked for has an answer of its own.
    if (signal.aborted && !(error instanceof KubeError)) throw error;
    return undefined;
  }
}

function told({ metadata, spec }: Lease, nowMs: number): string {
  const name = `${metadata.namespace}/${metadata.name}`;
  const since = age(spec.renewTime, nowMs);
  const how = (spec.holderIdentity ?? '') === '' ? `was given back ${since} ago` : `was last renewed ${since} ago`;
  return `No operator seems to be running: Lease ${name} ${how}, and nobody holds it since (an operator without --leader-elect has none)`;
}

function isAlive(lease: Lease, nowMs: number): boolean {
  const duration = (lease.spec.leaseDurationSeconds ?? 0) * 1000 * DURATIONS;
  return nowMs - renewedAt(lease) <= Math.max(AT_LEAST_MS, duration);
}

function renewedAt({ spec }: Lease): number {
  return Date.parse(spec.renewTime);
}

async function listLeases(
  api: Pick<KubeApi, 'list'>,
  only: { readonly name?: string },
  signal: AbortSignal,
): Promise<readonly Lease[]> {
  const found: AnyObject[] = [];
  let continueToken: string | undefined;
  do {
    const page = await api.list(LEASES, { ...only, limit: PAGE, continueToken }, signal);
    found.push(...page.items);
    continueToken = page.continueToken;
  } while (continueToken !== undefined);
  return found.flatMap((object) => {
    const parsed = leaseObject.safeParse(object);
    return parsed.success ? [parsed.data] : [];
  });
}
