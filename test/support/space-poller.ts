import { expect } from 'vitest';
import type { Cluster } from '../../src/cloud/schema.ts';
import { SpacePoller } from '../../src/cloud/space-poller.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';

export const INTERVAL_MS = 60_000;

export function cluster(id: string, status: string, changes: Partial<Cluster> = {}): Cluster {
  const servers = status === 'running' ? [{ address: `${id}.test:443`, status: 'running' }] : [];
  return {
    id,
    status,
    createdAt: 1,
    version: '3.5.0',
    provider: 'gcp',
    region: 'r',
    machineType: 'm',
    storageType: 's',
    storageSizeGB: 1,
    serverCount: 1,
    isFree: false,
    servers,
    ...changes,
  };
}

/** The problem of a List that makes sense in part. */
export function senseless(what: string): ApiError {
  return new ApiError({ api: 'cloud', operation: 'list', phrase: 'list', idempotent: true, kind: 'badAnswer', what });
}

/** A poller of a space whose clusters a test sets; each List takes `listMs`, and shows what was true when it was requested. */
export function aPoller(listMs = 0) {
  const clock = virtualClock();
  const space = {
    clusters: [] as readonly Cluster[],
    error: undefined as Error | undefined,
    problem: undefined as ApiError | undefined,
  };
  const lists: number[] = [];
  let underWay = 0;
  const changed: string[] = [];
  let listed = 0;
  const poller = new SpacePoller(
    {
      clock,
      random: createSeededRandom(1),
      onClusters: (ids) => changed.push(...(ids.size > 0 ? ids : ['none at all'])),
      onListed: () => listed++,
      client: {
        listAs: async (_memo, keep, signal) => {
          lists.push(clock.monotonic());
          expect(++underWay).toBe(1);
          const { clusters, error, problem } = space;
          if (listMs > 0) await new Promise<void>((resolve) => clock.after(listMs, resolve));
          underWay--;
          if (signal?.aborted) throw new Error('Aborted');
          if (error !== undefined) throw error;
          return { clusters: clusters.map(keep), problem };
        },
      },
    },
    INTERVAL_MS,
  );
  return { clock, space, poller, lists, changed, listedCount: () => listed };
}

/** Times between Lists. */
export const steps = (times: readonly number[]) => times.slice(1).map((at, index) => at - (times[index] ?? 0));
