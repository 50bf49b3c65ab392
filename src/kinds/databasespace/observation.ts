import type { TerminalError, TransientError } from '../../base/errors.ts';
import { GROUP } from '../../base/group.ts';
import type { ApiError } from '../../http/api-error.ts';
import type { Decision, Subject } from '../../runtime/kind.ts';
import type { dependentsFirst } from '../dependents-first.ts';
import type { DatabaseSpaceSpec, DatabaseSpaceStatus } from './schema.ts';

export type SpaceSubject = Subject<DatabaseSpaceSpec, DatabaseSpaceStatus>;
export type SpaceDecision = Decision<DatabaseSpaceStatus, SpaceStep>;

export interface UnmanagedCluster {
  readonly clusterID: string;
  readonly provider?: string | undefined;
  readonly region?: string | undefined;
  readonly machineType?: string | undefined;
  readonly state: string;
}

export interface SpaceObservation {
  /** DatabaseClusters, `namespace/name`, whose deletion will need this space. */
  readonly neededBy: readonly string[];
  /** Something on the server of a cluster of this space is deleted with its object, which needs the space. */
  readonly hasDependents: boolean;
  /** It is being deleted, and such objects go first: what to say, and for how long. */
  readonly goesAfter: ReturnType<typeof dependentsFirst>;
  /** Secrets that the spec names and that are kept from being deleted. */
  readonly keptSecrets: readonly string[];
  /** Secrets that are still kept although the spec no longer names them. */
  readonly staleSecrets: readonly string[];
  /** Secrets that the spec names and that are not kept, but can be. */
  readonly freeSecrets: readonly string[];
  /** Secrets that the spec names and that somebody has deleted: they go when nothing keeps them any more. */
  readonly leavingSecrets: readonly string[];
  /** Undefined: not looked at, as the object is being deleted and nothing needs it. */
  readonly cloud: CloudSeen | NotConnected | undefined;
}

export interface RefusedToken {
  /** The Secret that holds it. */
  readonly secretName: string;
  readonly error: ApiError;
}

/** The space cannot be connected, for example because a Secret or a key in one is missing, or the URL is not allowed. */
export interface NotConnected {
  readonly why: TransientError | TerminalError;
  /** An API token is missing. Otherwise something else is wrong, and nobody has tried whether the tokens are right. */
  readonly lacksToken: boolean;
}

export interface CloudSeen {
  readonly place: string;
  /** Why tokens were not exchanged, one entry a token. Only for answers that clearly say that the token is wrong. */
  readonly refused: readonly RefusedToken[];
  /** Whether the cloud has accepted every token. */
  readonly exchanged: boolean;
  /** Why the last List failed. */
  readonly listError: unknown;
  /** Since when, in wall-clock milliseconds. */
  readonly failingSinceMs: number | undefined;
  /** The last List was believed, except for what `listError` reports. */
  readonly isPartial: boolean;
  /** Undefined: not listed yet. */
  readonly inventory:
    | {
        readonly total: number;
        readonly managed: number;
        /** Managed through this object, not through another DatabaseSpace of the same place. */
        readonly own: number;
        readonly unmanaged: readonly UnmanagedCluster[];
      }
    | undefined;
  readonly versions: readonly string[] | undefined;
  readonly canDestroy: boolean;
}

/** Keeps a Secret from being deleted while deleting a cluster needs it, or stops keeping it. */
export interface SpaceStep {
  readonly do: 'KeepSecret' | 'FreeSecret';
  readonly name: string;
}

/** Returns all Secrets that the spec names, each once. */
export function secretNames(spec: DatabaseSpaceSpec): readonly string[] {
  return [...new Set([...spec.apiTokens.map((token) => token.secretRef.name), spec.defaultCredentialsSecretRef.name])];
}

/** Each space has its own finalizer, as a Secret may serve several. */
export function secretFinalizer({ metadata }: Pick<SpaceSubject, 'metadata'>): string {
  return `${GROUP}/space-${metadata.uid}`;
}
