import { DURATION_PATTERN } from '../base/duration.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { rotationDueMs } from '../kinds/rotation.ts';
import { CLUSTER_SUSPENDED } from '../kinds/server/access.ts';
import { PAUSED_REASON } from '../kube/annotations.ts';
import { type Condition, findStatusCondition, isOwn } from '../kube/condition.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { Informer } from '../runtime/informer.ts';
import type { ScrapedState } from './metrics.ts';

/** What is used of any kind's status. The API server has checked it against the schema: it is not parsed again. */
interface AnyStatus {
  readonly conditions?: readonly Condition[];
  readonly state?: string;
  readonly lastRotation?: string;
}

/** Kinds with passwords that are replaced. */
const ROTATED: ReadonlySet<string> = new Set([DATABASE_CLUSTERS.kind, DATABASE_USERS.kind]);

/** Reasons of Ready while an object rests because a person wants it to: that time does not count as time without being ready. */
const RESTING: ReadonlySet<string> = new Set([PAUSED_REASON, CLUSTER_SUSPENDED]);

/** An object that is not ready. */
interface Unready {
  readonly reason: string;
  /** Wall clock; undefined: it rests. */
  readonly sinceMs: number | undefined;
}

interface Count {
  readonly kind: string;
  readonly condition: string;
  readonly status: string;
  readonly reason: string;
  count: number;
}

/** What the metrics report about objects, counted as they change: there may be many thousands at each scrape. */
export class Gauges {
  readonly #counts = new Map<string, Count>();
  /** When passwords are due to be replaced automatically, in wall-clock milliseconds, by kind. */
  readonly #due = new Map<string, Map<ObjectKey, number>>();
  /** By kind. */
  readonly #unready = new Map<string, Map<ObjectKey, Unready>>();
  readonly #now: () => number;
  #unsecured = 0;

  /** `now`: wall clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  watch(kind: string, informer: Pick<Informer<KubeObject>, 'onChange'>): void {
    const due = new Map<ObjectKey, number>();
    if (ROTATED.has(kind)) this.#due.set(kind, due);
    const unready = new Map<ObjectKey, Unready>();
    this.#unready.set(kind, unready);
    informer.onChange((key, before, after) => {
      this.#count(kind, before, -1);
      this.#count(kind, after, 1);
      const dueMs = after === undefined ? undefined : passwordDueMs(after);
      if (dueMs === undefined) due.delete(key);
      else due.set(key, dueMs);
      const isSame = before !== undefined && before.metadata.uid === after?.metadata.uid;
      const is = after && this.#unreadyOf(after, isSame ? unready.get(key) : undefined);
      if (is === undefined) unready.delete(key);
      else unready.set(key, is);
    });
  }

  told(): Pick<ScrapedState, 'resources' | 'unsecuredClusters' | 'rotationOverdueMs' | 'unready'> {
    const nowMs = this.#now();
    const overdue = [...this.#due].map(([kind, due]) => {
      let first = Number.POSITIVE_INFINITY;
      for (const dueMs of due.values()) first = Math.min(first, dueMs);
      return [kind, Math.max(0, nowMs - first)];
    });
    return {
      resources: this.#counts.values(),
      unsecuredClusters: this.#unsecured,
      rotationOverdueMs: Object.fromEntries(overdue),
      unready: [...this.#unready].flatMap(([kind, unready]) =>
        [...longestByReason(unready.values(), nowMs)].map(([reason, longestMs]) => ({ kind, reason, longestMs })),
      ),
    };
  }

  /** `was`: of the same object, before it changed. */
  #unreadyOf(object: KubeObject, was: Unready | undefined): Unready | undefined {
    const ready = findStatusCondition(anyStatusOf(object).conditions, 'Ready');
    if (ready === undefined || ready.status === 'True') return undefined;
    const { reason, lastTransitionTime } = ready;
    if (RESTING.has(reason)) return { reason, sinceMs: undefined };
    if (was === undefined) return { reason, sinceMs: Date.parse(lastTransitionTime) };
    // Transitions do not tell: from False to Unknown is one, and the end of a rest may be none.
    return { reason, sinceMs: was.sinceMs ?? this.#now() };
  }

  #count(kind: string, object: KubeObject | undefined, by: number): void {
    if (object === undefined) return;
    if (isUnsecured(object)) this.#unsecured += by;
    for (const { type: condition, status, reason } of (anyStatusOf(object).conditions ?? []).filter(isOwn)) {
      const name = `${kind} ${condition} ${status} ${reason}`;
      const known = this.#counts.get(name) ?? { kind, condition, status, reason, count: 0 };
      known.count += by;
      if (known.count === 0) this.#counts.delete(name);
      else this.#counts.set(name, known);
    }
  }
}

/** Returns how long the object that has been unready longest has been, by reason, in milliseconds. */
function longestByReason(all: Iterable<Unready>, nowMs: number): ReadonlyMap<string, number> {
  const longest = new Map<string, number>();
  for (const { reason, sinceMs } of all) {
    if (sinceMs === undefined) continue;
    longest.set(reason, Math.max(longest.get(reason) ?? 0, nowMs - sinceMs));
  }
  return longest;
}

function anyStatusOf({ status }: KubeObject): AnyStatus {
  return (status ?? {}) as AnyStatus;
}

/** Reasons of CredentialsSecured while nothing has refused the login that a new cluster comes with. */
const ALIVE: ReadonlySet<string> = new Set(['NotYet', 'SecuringCredentials']);

/** Reports whether it is a running cluster whose original login may still work. Other kinds have no such condition. */
function isUnsecured(object: KubeObject): boolean {
  const { state, conditions = [] } = anyStatusOf(object);
  const secured = findStatusCondition(conditions, 'CredentialsSecured');
  return state === 'running' && secured !== undefined && ALIVE.has(secured.reason);
}

function passwordDueMs(object: KubeObject): number | undefined {
  const status = anyStatusOf(object);
  const ready = findStatusCondition(status.conditions, 'Ready');
  // No server runs, so no password can be replaced.
  return ready?.reason.endsWith('Suspended') ? undefined : rotationDueMs({ status }, rotateEveryOf(object.spec));
}

/** Returns a cluster's or a user's `rotateEvery`. A value that is no duration is reported as InvalidSpec; what is only observed has none. */
function rotateEveryOf(spec: unknown): string | undefined {
  const { rotateEvery, adminCredentials, managementPolicy } = (spec ?? {}) as {
    readonly rotateEvery?: string;
    readonly adminCredentials?: { readonly rotateEvery?: string };
    readonly managementPolicy?: string;
  };
  if (managementPolicy === 'Observe') return undefined;
  const every = rotateEvery ?? adminCredentials?.rotateEvery;
  return every !== undefined && DURATION_PATTERN.test(every) ? every : undefined;
}
