import { type HttpTransport, readText } from '../../../src/base/transport.ts';
import type { LoginHeaders } from '../../../src/kube/connection/connection.ts';
import { samplesOf } from './prometheus.ts';

/** Counts of the API server, the one place that sees every request, whoever sends it. */
export interface KubeRequests {
  /** `databaseclusters/status` → how many writes (create, patch, update, delete) succeeded. */
  readonly writes: ReadonlyMap<string, number>;
  /** Writes that were refused, conflicts above all. */
  readonly refused: number;
  /** `secrets` → how many single objects were read. */
  readonly reads: ReadonlyMap<string, number>;
}

/** The resources that operator and users touch. The control plane's own housekeeping is left out. */
const RESOURCES: ReadonlySet<string> = new Set([
  ...['databasespaces', 'databaseclusters', 'databaseusers', 'databases'],
  ...['secrets', 'configmaps', 'events'],
]);
const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE']);
const MAX_BYTES = 64 * 1024 * 1024;

export async function readKubeRequests(
  transport: HttpTransport,
  server: string,
  headers: LoginHeaders,
): Promise<KubeRequests> {
  const response = await transport({ method: 'GET', url: `${server}/metrics`, headers });
  const text = await readText(response, MAX_BYTES);
  if (response.status !== 200) throw new Error(`The API server's /metrics answered ${response.status}`);
  return countRequests(text);
}

export function countRequests(text: string): KubeRequests {
  const writes = new Map<string, number>();
  const reads = new Map<string, number>();
  let refused = 0;
  for (const { labels, value } of samplesOf(text, new Set(['apiserver_request_total']))) {
    const { verb = '', resource = '', subresource = '', code = '' } = labels;
    if (!RESOURCES.has(resource)) continue;
    const name = subresource === '' ? resource : `${resource}/${subresource}`;
    if (verb === 'GET') add(reads, name, value);
    else if (!WRITES.has(verb)) continue;
    else if (code.startsWith('2')) add(writes, name, value);
    else refused += value;
  }
  return { writes, refused, reads };
}

function add(counts: Map<string, number>, name: string, value: number): void {
  counts.set(name, (counts.get(name) ?? 0) + value);
}

/** Returns the requests between the two. */
export function difference(before: KubeRequests, after: KubeRequests): KubeRequests {
  return {
    writes: minus(after.writes, before.writes),
    refused: after.refused - before.refused,
    reads: minus(after.reads, before.reads),
  };
}

/** Returns by how much counts have grown, without those that have not. */
export function minus(after: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): Map<string, number> {
  const grown = [...after].map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)]);
  return new Map(grown.filter(([, count]) => count > 0));
}

export function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
