import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { KubeApi } from '../../kube/api.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { SpaceConnections } from '../databasespace/connection.ts';
import type { DatabaseSpaceSpec } from '../databasespace/schema.ts';
import type { Secrets } from '../secrets.ts';
import type { Difference } from './differences.ts';

/** What a DatabaseCluster is observed with and acted on through. */
export interface ClusterWorld {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly connections: SpaceConnections;
  /** A DatabaseSpace as last seen, with the word of its Ready condition. */
  readonly space: (key: ObjectKey) => SpaceSeenHere | undefined;
  /** Another DatabaseCluster as last seen. */
  readonly cluster: (key: ObjectKey) => KubeObject | undefined;
  /** Keys of the DatabaseClusters that stand for this id, or want to, in this space. */
  readonly claimants: (space: ObjectKey, id: string) => Iterable<ObjectKey>;
  /** Labels of a namespace; undefined: there is none. */
  readonly namespaceLabels: (
    name: string,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>> | undefined>;
  /** Users and databases on the cluster that are being deleted on its server, as `DatabaseUser app`. */
  readonly leaving: (key: ObjectKey) => readonly string[];
  /** Whether there are others on the cluster that would be deleted on its server if their objects were. */
  readonly mayFollow: (key: ObjectKey) => boolean;
  readonly memory: ClusterMemory;
  /** A change that came from elsewhere was undone. */
  readonly onDriftCorrected: (key: ObjectKey, difference: Difference) => void;
}

export interface SpaceSeenHere {
  readonly spec: DatabaseSpaceSpec | undefined;
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
}

/** `status.operation`, as far as it tells who may have made the call. */
interface WrittenDown {
  readonly by?: string | undefined;
  readonly startedAt: string;
}

/** What is remembered in this process only. Losing it costs a look, never a mistake. */
export class ClusterMemory {
  /** Names this process in what it writes down: what another one wrote may have been attempted by it. */
  readonly self: string;
  readonly #startedAtMs: number;
  readonly #attempted = new Map<ObjectKey, { readonly startedAt: string; readonly atMs: number }>();
  readonly #verifiedAt = new Map<ObjectKey, number>();

  /** `self`: of no other process, nor of this one's predecessors. `startedAtMs`: wall clock. */
  constructor(self: string, startedAtMs: number) {
    this.self = self;
    this.#startedAtMs = startedAtMs;
  }

  /** Whether the call that was written down was surely never made: it was written here, and not attempted since. */
  neverAttempted(key: ObjectKey, operation: WrittenDown): boolean {
    return operation.by === this.self && this.#attempted.get(key)?.startedAt !== operation.startedAt;
  }

  /** When the call that was written down may have been made last, by wall clock; undefined: it surely never was. */
  attemptedAtMs(key: ObjectKey, operation: WrittenDown): number | undefined {
    if (this.neverAttempted(key, operation)) return undefined;
    const attempt = this.#attempted.get(key);
    // A process before this one may have made it until its end.
    const before = Math.max(Date.parse(operation.startedAt), this.#startedAtMs);
    return attempt?.startedAt === operation.startedAt ? attempt.atMs : before;
  }

  attempting(key: ObjectKey, startedAt: string, atMs: number): void {
    this.#attempted.set(key, { startedAt, atMs });
  }

  /** The call that was to be attempted had surely no effect. */
  notAttempted(key: ObjectKey): void {
    this.#attempted.delete(key);
  }

  /** When the login was last verified here; before that, when this process began. Wall clock. */
  verifiedAtMs(key: ObjectKey): number {
    return this.#verifiedAt.get(key) ?? this.#startedAtMs;
  }

  verified(key: ObjectKey, atMs: number): void {
    this.#verifiedAt.set(key, atMs);
  }

  /** Somebody found that the login does not work: it is tried again at the next pass. */
  doubt(key: ObjectKey): void {
    this.#verifiedAt.set(key, 0);
  }

  forget(key: ObjectKey): void {
    this.#attempted.delete(key);
    this.#verifiedAt.delete(key);
  }
}
