import { DURATION_PATTERN } from '../base/duration.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { untilRotation } from '../kinds/rotation.ts';
import { parseStatus } from '../kube/definition.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { Informer } from '../runtime/informer.ts';

/* What the metrics tell of the objects when they are asked for. */

/** Every condition of every object; they are the same in every kind's status. */
export function* conditionsOf(informers: readonly Informer<KubeObject>[]) {
  for (const { store } of informers) {
    for (const { kind, status } of store.values()) {
      const { conditions = [] } = parseStatus(databaseSpaceDefinition, status);
      for (const { type: condition, status: value, reason } of conditions)
        yield { kind, condition, status: value, reason };
    }
  }
}

/** What is said of a login that new clusters come with and that nothing has refused yet. */
const ALIVE: ReadonlySet<string> = new Set(['NotYet', 'SecuringCredentials']);

/** How many clusters run while the login that they came with may still work. */
export function unsecuredClusters(clusters: Iterable<KubeObject>): number {
  let count = 0;
  for (const { status } of clusters) {
    const { state, conditions = [] } = parseStatus(databaseClusterDefinition, status);
    const secured = conditions.find(({ type }) => type === 'CredentialsSecured');
    if (state === 'running' && secured !== undefined && ALIVE.has(secured.reason)) count++;
  }
  return count;
}

/** For how many milliseconds, at most, any of these objects has had a password that was to be replaced. */
export function rotationOverdueMs(objects: Iterable<KubeObject>, nowMs: number): number {
  let longest = 0;
  for (const { metadata, spec, status } of objects) {
    const every = rotateEveryOf(spec);
    if (every === undefined) continue;
    const known = parseStatus(databaseClusterDefinition, status);
    const ready = known.conditions?.find(({ type }) => type === 'Ready');
    // No server runs, so no password can be replaced.
    if (ready?.reason.endsWith('Suspended')) continue;
    longest = Math.max(longest, -(untilRotation({ metadata, status: known }, every, nowMs) ?? 0));
  }
  return longest;
}

/** A cluster's or a user's. What is no duration is told as InvalidSpec. */
function rotateEveryOf(spec: unknown): string | undefined {
  const { rotateEvery, adminCredentials } = (spec ?? {}) as {
    readonly rotateEvery?: string;
    readonly adminCredentials?: { readonly rotateEvery?: string };
  };
  const every = rotateEvery ?? adminCredentials?.rotateEvery;
  return every !== undefined && DURATION_PATTERN.test(every) ? every : undefined;
}

export function observedAt(key: ObjectKey, observedAtMs: number | undefined) {
  if (observedAtMs === undefined) return [];
  const slash = key.indexOf('/');
  return [{ namespace: key.slice(0, slash), name: key.slice(slash + 1), observedAtMs }];
}
