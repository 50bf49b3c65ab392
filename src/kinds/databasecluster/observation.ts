import type { Cluster } from '../../cloud/schema.ts';
import type { Failure } from '../../kube/failure.ts';
import type { Decision, StatusPatch, Subject } from '../../runtime/kind.ts';
import type { Place } from '../databasespace/place.ts';
import type { Refusal } from '../password-tries.ts';
import type { SecretHolder } from '../secret-holder.ts';
import type { DatabaseClusterSpec, DatabaseClusterStatus } from './schema.ts';

export type ClusterSubject = Subject<DatabaseClusterSpec, DatabaseClusterStatus>;
export type ClusterDecision = Decision<DatabaseClusterStatus, ClusterStep>;
export type ClusterStatusPatch = StatusPatch<DatabaseClusterStatus>;

/** What was seen of one cluster, without passwords. A union, so that impossible states cannot be expressed. */
export type ClusterObservation =
  | WaitingForSpace
  /** The object is being deleted, and nothing happens to its cluster. */
  | { readonly space: 'notNeeded' }
  /** The space does not admit this object. */
  | { readonly space: 'refused'; readonly reason: string; readonly message: string }
  /** The space is not where the cluster is. */
  | { readonly space: 'moved'; readonly reason: string; readonly message: string }
  /** The object is being deleted, and so are users and databases that still need its server, for `forMs` at most. */
  | { readonly space: 'needed'; readonly reason: string; readonly message: string; readonly forMs: number }
  /** The object is being deleted, its cluster is protected, and the look failed. */
  | ({ readonly space: 'protected' } & Failure)
  | SpaceSeen;

/** The space has reported nothing yet, or its object is missing. */
export interface WaitingForSpace {
  readonly space: 'waiting';
  readonly reason: string;
  readonly message: string;
  /** This process has just started, and nothing suggests that the space does not work. */
  readonly starting?: boolean;
  /** How long nothing need be reported: nothing was yet, and the space is only about to be looked at; undefined: report now. */
  readonly untoldMs?: number | undefined;
  /** Set for a cluster that is or was Ready (verify-alone.ts). `untriable`: a try is due, but impossible. */
  readonly login?: LoginObservation | { readonly login: 'untriable' } | undefined;
}

/** A cluster that is not to be seen, but not for long yet. */
export interface Absence {
  /** Since when, and until when it is waited for, by the wall clock. */
  readonly since: string;
  readonly until: string;
  readonly leftMs: number;
  /** Earlier there were others that may have been ours. */
  readonly hadLookalikes: boolean;
}

export interface SpaceSeen {
  readonly space: 'seen';
  /** Where the space is now. */
  readonly place: Place;
  readonly canDestroy: boolean;
  /** Why the API token that may destroy clusters does not serve; undefined: it does, or there is none. */
  readonly destroyRefusal?: string | undefined;
  /** The id that was looked for. */
  readonly id: string;
  /** The object, `namespace/name`, whose claim to this id comes before this one's; undefined: there is none. */
  readonly claimedBy?: string | undefined;
  /** Undefined: not in the List, nor, if that matters, found by asking for it. */
  readonly cluster: Cluster | undefined;
  /** The DatabaseSpace whose Lists fail, so that nobody knows what becomes of the cluster; undefined: they do not. */
  readonly away?: string | undefined;
  /** Set if ours is not to be seen, but not for long enough to create another in its place, and there are no `lookalikes`. */
  readonly absence?: Absence | undefined;
  /** If ours cannot be found, ids of clusters created at the same time: one may be ours under another id. */
  readonly lookalikes: readonly string[];
  /** Whether the id that the cluster should be renamed to belongs to another cluster. */
  readonly renameTaken: boolean;
  /** What to report if the cloud has accepted the desired state but has not shown it since. */
  readonly notShown?: { readonly reason: string; readonly message: string } | undefined;
  /** Whether the cluster differs from the spec only by what this process asked for: nobody else has changed it. */
  readonly isOurChange?: boolean;
  /** Where the server is; undefined while none runs. */
  readonly endpoint: string | undefined;
  /** Set if the cluster is a clone that is shown only at addresses of its source: one of them, and the source's id. */
  readonly sourcesAddress?: { readonly address: string; readonly id: string } | undefined;
  readonly login: LoginObservation;
  /** Names of objects being cloned from this one, which a new password has to wait for; absent: none is due, or nothing holds it up. */
  readonly clones?: readonly string[];
  /** Until when (wall clock) the call that the status announces may still take effect; undefined: it was surely never made. */
  readonly mayLandUntilMs: number | undefined;
  /** When the cluster in the answer to that call was created; undefined: this process has no such answer. */
  readonly createdByCall?: string | undefined;
  /** Names this process. */
  readonly self: string;
  /** What to clone; undefined: nothing, or there is a cluster already. */
  readonly cloneSource:
    | { readonly is: 'known'; readonly id: string; readonly createdAt?: string | undefined }
    | { readonly is: 'waiting'; readonly message: string }
    /** Cloning from it will never be possible. */
    | { readonly is: 'unusable'; readonly reason: string; readonly message: string }
    | undefined;
}

/** Which of the passwords that may be right works. `held`: none of them, but a session that was begun with an earlier one. */
export type WorkingLogin = 'next' | UsableLogin | 'none';

/**
 * What a new password can be set with. `inherited`: the login in a Secret from before `secretName` changed, or of the cluster
 * that was cloned; `inheritedNext`: the coming password there.
 */
export type UsableLogin = 'current' | 'inherited' | 'inheritedNext' | 'existing' | 'factory' | 'held';

/**
 * Whose the coming password is. `foreign`: somebody else wrote it. It is never given to the server, and a generated one replaces
 * it. One that is the factory's is replaced, too, but at once.
 */
export type NextIs = 'none' | 'ours' | 'foreign' | 'factory';

export type LoginObservation =
  /** Not looked at: the cluster does not run, or is not ours to manage. `lostSecret`: it is suspended, and its login's Secret is gone. */
  | { readonly login: 'notTried'; readonly lostSecret?: string }
  /** The cluster runs, but none of its servers does, or none at a usable address. */
  | { readonly login: 'noServer' /** For how long this process has found it so. */; readonly forMs: number }
  /** Verified earlier; neither Secret nor server has changed since. */
  | {
      readonly login: 'settled';
      readonly verifyInMs: number | undefined;
      readonly refusal?: Refusal | undefined;
    }
  /** The server gives no verdict. */
  | {
      readonly login: 'unreachable';
      readonly message: string;
      /** It answered, but the answer makes no sense. */
      readonly isNonsense?: boolean;
      /** It asks for fewer calls. */
      readonly isThrottled?: boolean;
      /** The result of `isHeldBack`. */
      readonly heldBack: boolean;
      /** For how long this process has found it so. */
      readonly forMs: number;
    }
  /**
   * The Secret's name is taken by a Secret that is not ours, or that holds the login of another cluster, which may still exist; or another
   * object comes first with it. Also before a cluster is created.
   */
  | {
      readonly login: 'secretTaken';
      readonly secretName: string;
      readonly isOfAnother?: boolean;
      /** There is no such Secret yet: the name of the DatabaseCluster whose login is to be in it. */
      readonly wantedBy?: string;
      /** The object it belongs to, if known. */
      readonly by?: SecretHolder | undefined;
    }
  | {
      readonly login: 'tried';
      readonly secretName: string;
      /** The version of the admin Secret; undefined: there is none, or it holds no password. */
      readonly secretVersion: string | undefined;
      /** The version of the Secret with the login that new clusters come with. */
      readonly factoryVersion?: string;
      /** The coming password. */
      readonly next: NextIs;
      /** The coming password was taken a short time ago, or, if no login works, another server took the current one: neither is given again for now. */
      readonly isAwaited: boolean;
      /** The server took the password that works a short time ago, and may accept the one before for a moment yet. */
      readonly isJustSet?: boolean;
      /** In how long a coming password that somebody else wrote is replaced; undefined: there is none, or it is replaced now. */
      readonly replacedInMs?: number | undefined;
      readonly working: WorkingLogin;
      /** The other Secret that the working login is in. */
      readonly workingOf?: string;
      /** Whether the factory login works; undefined: it was not tried, as it does not matter yet. */
      readonly factoryAlive: boolean | undefined;
      /** The server accepts a password that it was never given, so signing in proves nothing. */
      readonly acceptsAny?: boolean;
      /** Set if the login that new clusters come with is another user's: the user whose login works and may manage others. */
      readonly managedBy?: string | undefined;
      /** The user whose login works but may not manage others; undefined: there is none. */
      readonly powerless?: string | undefined;
      readonly verifyInMs: number | undefined;
      /** The refusal of a new password; undefined: one may be tried. */
      readonly refusal?: Refusal | undefined;
      /** Other Secrets that can be deleted, in this order, once the login works: no running call can give one of them the login. */
      readonly retire?: readonly string[];
      /** The refused logins whose username or password begins or ends with white space, as in what `echo` writes. */
      readonly paddedIn?: readonly ('current' | 'existing' | 'factory')[];
      /** If no login works: whether another Secret holds one that was tried, for a clone that of its source. */
      readonly hasFormer?: boolean;
    };

export type TriedLogin = Extract<LoginObservation, { login: 'tried' }>;

/** One effect. */
export type ClusterStep =
  | { readonly do: 'Deploy'; readonly id: string }
  /** `createdAt`: when the source was created; undefined: the cloud does not tell. */
  | { readonly do: 'Clone'; readonly id: string; readonly source: string; readonly createdAt?: string | undefined }
  | { readonly do: 'Destroy'; readonly id: string }
  | { readonly do: 'Suspend'; readonly id: string }
  | { readonly do: 'Resume'; readonly id: string }
  | ({ readonly do: 'Rename'; readonly id: string; readonly to: string } & Patience)
  | ({ readonly do: 'Update'; readonly id: string; readonly changes: ClusterChanges } & Patience)
  /**
   * Writes a new password into the Secret as nextPassword, beside the working one if known. `of`: the other Secret that has it.
   * `isBeside`: the Secret's own works as well, and stays. `rotates`: because a rotation is due, so not if the Secret notes it already.
   */
  | {
      readonly do: 'PreparePassword';
      readonly from: UsableLogin;
      readonly of?: string;
      readonly isBeside?: boolean;
      readonly rotates?: true;
    }
  /** Gives the Secret's nextPassword to the server. */
  | { readonly do: 'PutPassword'; readonly id: string; readonly as: UsableLogin; readonly of?: string }
  /** Makes nextPassword, which the server accepted, the password. */
  | { readonly do: 'PromotePassword' }
  | { readonly do: 'DeleteSecret' }
  /** Reports that the object goes although its cluster may still exist. */
  | { readonly do: 'TellLeft'; readonly id: string; readonly message: string }
  /** Reports that the object goes and leaves a cluster where the factory password may work. */
  | { readonly do: 'TellFactoryLogin'; readonly id: string; readonly message: string }
  /** Deletes Secrets that the login is no longer in. The status names the one it is in, or will when these are gone. */
  | { readonly do: 'RetireSecret'; readonly names: readonly string[]; readonly credentials?: Credentials };

interface Patience {
  /** The pass comes for something else, so a change that failed a moment ago is not requested again. */
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
