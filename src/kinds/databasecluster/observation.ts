import type { Cluster } from '../../cloud/schema.ts';
import type { Subject } from '../../runtime/kind.ts';
import type { Place } from '../databasespace/place.ts';
import type { Refusal } from '../password-tries.ts';
import type { SecretHolder } from '../secret-holder.ts';
import type { Absence } from './absences.ts';
import type { DatabaseClusterSpec, DatabaseClusterStatus } from './schema.ts';

export type ClusterSubject = Subject<DatabaseClusterSpec, DatabaseClusterStatus>;

/** What was seen of one cluster; no passwords in it. Variants, so that nothing impossible can be written. */
export type ClusterObservation =
  | WaitingForSpace
  /** The space does not admit this object. */
  | { readonly space: 'refused'; readonly reason: string; readonly message: string }
  /** The space is not where the cluster is. */
  | { readonly space: 'moved'; readonly reason: string; readonly message: string }
  /** Its object goes, and users and databases on it that go too still need its server, for so long at most. */
  | { readonly space: 'needed'; readonly reason: string; readonly message: string; readonly forMs: number }
  | SpaceSeen;

/** The space says nothing yet, or its object is missing. */
export interface WaitingForSpace {
  readonly space: 'waiting';
  readonly reason: string;
  readonly message: string;
  /** This process has just begun, and nothing says that the space does not work. */
  readonly starting?: boolean;
  /** For so long nothing need be told: nothing was yet, and the space is only about to be looked at; undefined: that is not so. */
  readonly untoldMs?: number | undefined;
  /** Of a cluster that is or was Ready (verify-alone.ts). `untriable`: it is time to, and there is no way to. */
  readonly login?: LoginObservation | { readonly login: 'untriable' } | undefined;
}

export interface SpaceSeen {
  readonly space: 'seen';
  /** `space "production" of team "acme"`. */
  readonly place: string;
  /** The same, as the status records it. */
  readonly at: Place;
  readonly canDestroy: boolean;
  /** The id that was looked for. */
  readonly id: string;
  /** The object, `namespace/name`, that stands for this id before this one; undefined: none does. */
  readonly claimedBy?: string | undefined;
  /** Undefined: neither listed nor, where that matters, found by asking for it. */
  readonly cluster: Cluster | undefined;
  /** Ours is not to be seen, and not for long enough yet to have another one created in its place; undefined: that is not so, or there are `lookalikes`. */
  readonly absence?: Absence | undefined;
  /** Ids of clusters that were created when ours was, where ours is not to be found: one may be ours under another id. */
  readonly lookalikes: readonly string[];
  /** Whether the id that the cluster is to be renamed to is another cluster's. */
  readonly renameTaken: boolean;
  /** What is to be said where the cloud has accepted the state that it is to have, and has not shown it since; undefined: that is not so. */
  readonly notShown?: { readonly reason: string; readonly message: string } | undefined;
  /** Where the server is; undefined while there is none that runs. */
  readonly endpoint: string | undefined;
  readonly login: LoginObservation;
  /** Whether the operation in the status may have been asked of the cloud already. */
  readonly attempted: boolean;
  /** Until when (wall clock) a call whose answer was lost may still take effect; undefined: none was made. */
  readonly mayLandUntilMs: number | undefined;
  /** Names this process. */
  readonly self: string;
  /** What to clone; undefined: nothing. */
  readonly cloneSource:
    | { readonly is: 'known'; readonly id: string }
    | { readonly is: 'waiting'; readonly message: string }
    /** It can never be cloned from that. */
    | { readonly is: 'unusable'; readonly reason: string; readonly message: string }
    | undefined;
}

/** Which of the passwords that may be right is. `held`: none of them, but a session that was begun with an earlier one. */
export type WorkingLogin = 'next' | UsableLogin | 'none';

/**
 * What a new password can be set with. `inherited`: of a Secret from before `secretName` changed, or of what was cloned;
 * `inheritedNext`: the coming password there.
 */
export type UsableLogin = 'current' | 'inherited' | 'inheritedNext' | 'existing' | 'factory' | 'held';

/**
 * Whose the coming password is. `foreign`: somebody else wrote it. It is not given to the server, and gives way to a generated one,
 * as does the factory's, at once.
 */
export type NextIs = 'none' | 'ours' | 'foreign' | 'factory';

export type LoginObservation =
  /** Not looked at: the cluster does not run, or is not ours to care for. `lostSecret`: it is suspended, and its login's Secret gone. */
  | { readonly login: 'notTried'; readonly lostSecret?: string }
  /** The cluster runs, and none of its servers does, or none at an address. */
  | { readonly login: 'noServer' /** For how long this process has found it so. */; readonly forMs: number }
  /** Verified earlier, and neither Secret nor server changed since. */
  | { readonly login: 'settled'; readonly verifyInMs: number | undefined; readonly refusal?: Refusal | undefined }
  /** The server does not say. */
  | {
      readonly login: 'unreachable';
      readonly message: string;
      /** It answered, with what makes no sense. */
      readonly isNonsense?: boolean;
      /** It asks to be called less often. */
      readonly isThrottled?: boolean;
      /** As `isHeldBack`. */
      readonly heldBack: boolean;
      /** For how long this process has found it so. */
      readonly forMs: number;
    }
  /** The Secret's name is taken by a Secret that is not ours, or that holds the login of another cluster, which may be there still. */
  | {
      readonly login: 'secretTaken';
      readonly secretName: string;
      readonly isOfAnother?: boolean;
      /** Whose it is, if that is known. */
      readonly by?: SecretHolder | undefined;
    }
  | {
      readonly login: 'tried';
      readonly secretName: string;
      /** Of the admin Secret; undefined: there is none, or it holds no password. */
      readonly secretVersion: string | undefined;
      /** Of the login that new clusters come with. */
      readonly factoryVersion?: string;
      /** The coming password. */
      readonly next: NextIs;
      /** The server took the coming password a short time ago: it is not given it once more for now. */
      readonly isAwaited: boolean;
      /** When the coming password that somebody else wrote gives way; undefined: there is none, or now. */
      readonly replacedInMs?: number | undefined;
      readonly working: WorkingLogin;
      /** The other Secret that it is in. */
      readonly workingOf?: string;
      /** Whether the factory login signs in; undefined where it was not tried, as it does not matter yet. */
      readonly factoryAlive: boolean | undefined;
      /** The server signs in with a password that it was never given: what signs in proves nothing. */
      readonly acceptsAny?: boolean;
      /** The user whose login works and may manage others, where the login that new clusters come with is another user's; undefined: that is not so. */
      readonly managedBy?: string | undefined;
      /** The user whose login works, and who may not manage others; undefined: that is not so. */
      readonly powerless?: string | undefined;
      readonly verifyInMs: number | undefined;
      /** Of a new password; undefined: one may be tried. */
      readonly refusal?: Refusal | undefined;
      /** Other Secrets, which may go where the login works, in this order: no call can come to an end any more that gives one the login. */
      readonly retire?: readonly string[];
      /** Of which of the logins that are refused the username or password ends with a line break, as of what `echo` writes. */
      readonly lineBreakIn?: readonly ('current' | 'existing' | 'factory')[];
    };

export type TriedLogin = Extract<LoginObservation, { login: 'tried' }>;

/** One effect. */
export type ClusterStep =
  | { readonly do: 'Deploy'; readonly id: string }
  | { readonly do: 'Clone'; readonly id: string; readonly source: string }
  | { readonly do: 'Destroy'; readonly id: string }
  | { readonly do: 'Suspend'; readonly id: string }
  | { readonly do: 'Resume'; readonly id: string }
  | ({ readonly do: 'Rename'; readonly id: string; readonly to: string } & Patience)
  | ({ readonly do: 'Update'; readonly id: string; readonly changes: ClusterChanges } & Patience)
  /** Writes a new password into the Secret as nextPassword, beside the one that works if that is known. `of`: the other Secret that it is in. */
  | { readonly do: 'PreparePassword'; readonly from: UsableLogin; readonly of?: string }
  /** Has the server take the Secret's nextPassword. */
  | { readonly do: 'PutPassword'; readonly id: string; readonly as: UsableLogin; readonly of?: string }
  /** nextPassword was accepted: it becomes password. */
  | { readonly do: 'PromotePassword' }
  | { readonly do: 'DeleteSecret' }
  /** The object goes, and its cluster may still be there. */
  | { readonly do: 'TellLeft'; readonly id: string; readonly message: string }
  /** The login is in another Secret than these, as the status tells, or is to tell when they are gone. */
  | { readonly do: 'RetireSecret'; readonly names: readonly string[]; readonly credentials?: Credentials };

interface Patience {
  /** The pass comes for something else: a change that failed a moment ago is not asked for again. */
  readonly patient?: true;
}

export type Credentials = NonNullable<DatabaseClusterStatus['credentials']>;

export interface ClusterChanges {
  readonly storageSizeGB?: number;
  readonly machineType?: string;
  readonly backup?: Backup;
}

export interface Backup {
  readonly frequency: 'disabled' | 'hourly' | 'daily';
  readonly retentionDays: number;
}

/** The id that the cluster has, or is about to get, in the cloud. */
export function currentID(subject: Pick<ClusterSubject, 'metadata' | 'spec' | 'status'>): string {
  return subject.status.clusterID ?? subject.status.operation?.target ?? desiredID(subject);
}

export function desiredID({ metadata, spec }: Pick<ClusterSubject, 'metadata' | 'spec'>): string {
  return spec.clusterID ?? metadata.name;
}

export function adminSecretName({ metadata, spec }: Pick<ClusterSubject, 'metadata' | 'spec'>): string {
  return spec.adminCredentials?.secretName ?? `${metadata.name}-admin`;
}

/** createdAt as the status holds it. */
export function createdAtOf(cluster: Cluster): string | undefined {
  if (cluster.createdAt === undefined) return undefined;
  const date = new Date(cluster.createdAt);
  return Number.isNaN(date.getTime()) ? String(cluster.createdAt) : date.toISOString();
}

/**
 * Whether it is the cluster that the status tells of. A cloud that tells no creation time leaves only the id, and so does one
 * that tells it only once the cluster has come up, until its login was verified.
 */
export function isSame({ status }: Pick<ClusterSubject, 'status'>, cluster: Cluster): boolean {
  const createdAt = createdAtOf(cluster);
  const isNotTold = status.createdAt === NO_CREATION_TIME && status.credentials === undefined;
  return createdAt === undefined || createdAt === status.createdAt || isNotTold;
}

/** Stands in the status for the creation time that a cloud does not tell. */
export const NO_CREATION_TIME = 'unknown';

/** Whether it is the cluster that had vanished, and in whose place another one is being created. */
export function isFormer({ status: { former } }: Pick<ClusterSubject, 'status'>, cluster: Cluster): boolean {
  return former !== undefined && former.clusterID === cluster.id && former.createdAt === createdAtOf(cluster);
}

/** What the status records as the cluster's identity beside its id. */
export function identityOf(cluster: Cluster): string {
  return createdAtOf(cluster) ?? NO_CREATION_TIME;
}
