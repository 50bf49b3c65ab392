import { setImmediate } from 'node:timers/promises';
import { DURATION_PATTERN } from '../base/duration.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { untilRotation } from '../kinds/rotation.ts';
import type { Condition } from '../kube/condition.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { ScrapedState } from '../runtime/metrics.ts';

/* What the metrics tell of the objects when they are asked for: of all of them, so that each may take no time. */

/** What is looked at of any kind's status. The API server has checked it against the schema: it is not parsed again. */
interface Told {
  readonly conditions?: readonly Condition[];
  readonly state?: string;
  readonly lastRotation?: string;
  readonly lastHandledRotateAt?: string;
}

function toldOf({ status }: KubeObject): Told {
  return (status ?? {}) as Told;
}

/** Kinds whose passwords are replaced. */
const ROTATED: ReadonlySet<string> = new Set([DATABASE_CLUSTERS.kind, DATABASE_USERS.kind]);
/** So many objects are looked at in one go; then others have their turn. */
const SLICE = 500;

/** Everything that is told of the objects, by their collections. */
export async function tellOf(
  collections: readonly { readonly kind: string; readonly store: { values(): Iterable<KubeObject> } }[],
  nowMs: number,
): Promise<Pick<ScrapedState, 'resources' | 'unsecuredClusters' | 'rotationOverdueMs'>> {
  const resources = new Map<
    string,
    { kind: string; condition: string; status: string; reason: string; count: number }
  >();
  const overdue: Record<string, number> = {};
  let unsecured = 0;
  for (const { kind, store } of collections) {
    for (const objects of slicesOf(store.values())) {
      for (const { type: condition, status, reason } of objects.flatMap((object) => toldOf(object).conditions ?? [])) {
        const known = resources.get(`${kind} ${condition} ${status} ${reason}`);
        if (known === undefined)
          resources.set(`${kind} ${condition} ${status} ${reason}`, { kind, condition, status, reason, count: 1 });
        else known.count++;
      }
      if (kind === DATABASE_CLUSTERS.kind) unsecured += unsecuredClusters(objects);
      if (ROTATED.has(kind)) overdue[kind] = Math.max(overdue[kind] ?? 0, rotationOverdueMs(objects, nowMs));
      await setImmediate();
    }
  }
  return { resources: resources.values(), unsecuredClusters: unsecured, rotationOverdueMs: overdue };
}

function* slicesOf(objects: Iterable<KubeObject>): Generator<readonly KubeObject[]> {
  let slice: KubeObject[] = [];
  for (const object of objects) {
    slice.push(object);
    if (slice.length < SLICE) continue;
    yield slice;
    slice = [];
  }
  yield slice;
}

/** What is said of a login that new clusters come with and that nothing has refused yet. */
const ALIVE: ReadonlySet<string> = new Set(['NotYet', 'SecuringCredentials']);

/** How many clusters run while the login that they came with may still work. */
export function unsecuredClusters(clusters: Iterable<KubeObject>): number {
  let count = 0;
  for (const cluster of clusters) {
    const { state, conditions = [] } = toldOf(cluster);
    const secured = conditions.find(({ type }) => type === 'CredentialsSecured');
    if (state === 'running' && secured !== undefined && ALIVE.has(secured.reason)) count++;
  }
  return count;
}

/** For how many milliseconds, at most, any of these objects has had a password that was to be replaced. */
export function rotationOverdueMs(objects: Iterable<KubeObject>, nowMs: number): number {
  let longest = 0;
  for (const object of objects) {
    const every = rotateEveryOf(object.spec);
    if (every === undefined) continue;
    const status = toldOf(object);
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    // No server runs, so no password can be replaced.
    if (ready?.reason.endsWith('Suspended')) continue;
    longest = Math.max(longest, -(untilRotation({ metadata: object.metadata, status }, every, nowMs) ?? 0));
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
