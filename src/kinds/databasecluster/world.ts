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
  readonly memory: ClusterMemory;
  /** A change that came from elsewhere was undone. */
  readonly onDriftCorrected: (key: ObjectKey, difference: Difference) => void;
}

export interface SpaceSeenHere {
  readonly spec: DatabaseSpaceSpec | undefined;
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
}

/** What is remembered in this process only. Losing it costs a look, never a mistake. */
export class ClusterMemory {
  /** Names this process in what it writes down: what another one wrote may have been attempted by it. */
  readonly self: string;
  readonly #startedAtMs: number;
  readonly #attempted = new Map<ObjectKey, string>();
  readonly #verifiedAt = new Map<ObjectKey, number>();

  /** `self`: of no other process, nor of this one's predecessors. `startedAtMs`: wall clock. */
  constructor(self: string, startedAtMs: number) {
    this.self = self;
    this.#startedAtMs = startedAtMs;
  }

  /** Whether the call that was written down was surely never made: it was written here, and not attempted since. */
  neverAttempted(key: ObjectKey, operation: { readonly by?: string | undefined; readonly startedAt: string }): boolean {
    return operation.by === this.self && this.#attempted.get(key) !== operation.startedAt;
  }

  attempting(key: ObjectKey, startedAt: string): void {
    this.#attempted.set(key, startedAt);
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

  forget(key: ObjectKey): void {
    this.#attempted.delete(key);
    this.#verifiedAt.delete(key);
  }
}
