import type { Decision, StatusPatch, Subject } from '../../runtime/kind.ts';
import type { Refusal } from '../password-tries.ts';
import type { SecretHolder } from '../secret-holder.ts';
import type { NoServer } from '../server/dependents.ts';
import { USER_FINALIZER } from './resource.ts';
import type { DatabaseUserSpec, DatabaseUserStatus } from './schema.ts';

/** Reason of Ready: the server has such a user, and this object neither made it nor may take it over. */
export const USER_EXISTS = 'UserExists';

export type UserSubject = Subject<DatabaseUserSpec, DatabaseUserStatus>;
export type UserDecision = Decision<DatabaseUserStatus, UserStep>;
export type UserStatusPatch = StatusPatch<DatabaseUserStatus>;

/** What was seen of one user, without passwords. */
export type UserObservation =
  | NoServer
  /** The object is being deleted, and its user stays, whatever the server holds. */
  | { readonly server: 'notNeeded' }
  | UserSeen;

export interface UserSeen {
  readonly server: 'open';
  readonly at: UserPlace;
  /** The object, `namespace/name`, that comes before this one for the user; undefined: none does. */
  readonly claimedBy: string | undefined;
  readonly login: LoginObservation;
}

/** Where the user is, as the connection Secret and the status say. */
export interface UserPlace {
  readonly clusterName: string;
  /** When the cluster was created: another value means another cluster. */
  readonly identity: string;
  /** HTTP base URL. */
  readonly endpoint: string;
  /** `host:port` of the server at the endpoint. */
  readonly address: string;
  /** `host:port` of every server, comma separated, in an order that does not depend on which of them run. */
  readonly addresses: string;
}

/** What is known of the password. */
export type LoginObservation =
  /** Not looked at: it is not this object's concern, or does not matter. */
  | { readonly login: 'notTried' }
  /** The username is the cluster's own. */
  | { readonly login: 'reserved' }
  /** Verified earlier, and nothing has changed since. */
  | {
      readonly login: 'settled';
      readonly verifyInMs: number | undefined;
      readonly refusal?: Refusal | undefined;
      readonly landsInMs?: number | undefined;
    }
  /** The connection Secret's name is taken by a Secret that is not ours; `by`: whose it is, if known. */
  | { readonly login: 'secretTaken'; readonly by?: SecretHolder | undefined }
  /** The server signs in with a password that it was never given: a coming one that signs in proves nothing. */
  | { readonly login: 'anyAccepted' }
  /** The object is being deleted: whose the server's user is, if there is one. coming: there is none, but one may have been asked for. */
  | { readonly login: 'ending'; readonly whose: 'ours' | 'others' | 'unknown' | 'coming' }
  | TriedLogin;

export interface TriedLogin {
  readonly login: 'tried';
  /** The connection Secret's version; undefined: there is none. */
  readonly secretVersion: string | undefined;
  readonly hasCurrent: boolean;
  readonly hasNext: boolean;
  /** Somebody else wrote the coming password. */
  readonly isNextForeign: boolean;
  /** The Secret's password is one that a person chose, though the spec may no longer name it. */
  readonly isOwn: boolean;
  /** The Secret's password is the one that new clusters come with: no user is given that. */
  readonly isFactory: boolean;
  /** Which of the passwords signs in. */
  readonly works: 'next' | 'current' | 'none';
  /** Whether the server has such a user; asked only if no password signs in. */
  readonly exists: boolean;
  /** No server has heard of the coming password. */
  readonly isUnsent: boolean;
  /** It, or the current one if there is none, was taken a short time ago, and has not worked at this server: it is not given again for now. */
  readonly isAwaited: boolean;
  /** The server told this process that it created the user for this object. */
  readonly isCreated: boolean;
  /** The same, and no Secret holds its password any more. */
  readonly hasLostPassword: boolean;
  /** The Secret's password is, byte for byte, the one that the server accepted last. */
  readonly asVerified: boolean;
  /** In how long a user's own password, which worked and was refused just now, is tried again; undefined: it may be set again now. */
  readonly retriedInMs?: number | undefined;
  readonly content: 'asWanted' | 'differs' | 'wrongType';
  /** The Secrets, ours, that held the login before connectionSecret.name changed, as far as that is recorded, newest first. */
  readonly previous: readonly { readonly name: string; readonly hasPassword: boolean }[];
  readonly source: PasswordSource;
  /** The refusal of the coming password that `source` would give; undefined: it may be tried. */
  readonly refusal?: Refusal | undefined;
  /** For how much longer an earlier call may set the current password, and so undo a replacement; undefined: none may. */
  readonly landsInMs?: number | undefined;
  /** Somebody else keeps taking generated passwords out of the Secret: for how long none is generated; undefined: one may be. */
  readonly overwritten?: Refusal | undefined;
  readonly verifyInMs: number | undefined;
}

/** Where the password comes from. */
export type PasswordSource =
  | { readonly is: 'generated' }
  /** A person's own, from the Secret of this version. `applied`: it is the connection Secret's password; `coming`: its coming one. */
  | { readonly is: 'own'; readonly version: string; readonly applied: boolean; readonly coming: boolean }
  | {
      readonly is: 'unusable';
      readonly lasting: 'transient' | 'terminal';
      readonly reason: string;
      readonly message: string;
      /** For how long. */
      readonly forMs: number;
    };

/** One effect. */
export type UserStep =
  /**
   * Writes a coming password into the connection Secret as nextPassword, beside the one that works; `isOnly`: none does. `instead`:
   * replaces one that the server took and that does not sign in, nor does the one beside it. `rotates`: because a rotation is due, so
   * not if the Secret notes it already.
   */
  | { readonly do: 'PrepareNext'; readonly isOnly?: true; readonly instead?: true; readonly rotates?: true }
  /** Writes the connection Secret under its new name, with the passwords of the former one. */
  | { readonly do: 'CopySecret'; readonly from: string }
  /** `returns`: somebody else deleted it on the server. */
  | ({ readonly do: 'CreateUser'; readonly password: PasswordName; readonly returns: boolean } & OnServer)
  /** `drifted`: somebody else changed the password on the server. */
  | ({ readonly do: 'PutPassword'; readonly password: PasswordName; readonly drifted: boolean } & OnServer)
  /** nextPassword was accepted: it becomes password. */
  | { readonly do: 'PromotePassword' }
  /** Also removes a coming password that somebody else wrote there. `isOwn`: the password must be noted as one that a person chose. */
  | { readonly do: 'WriteSecret'; readonly isOwn: boolean }
  /** A Secret's type cannot change: the Secret is deleted, and created again with the same passwords. */
  | { readonly do: 'ReplaceSecret' }
  /** The login is in another Secret now: deletes a former one. `connection`: with the last of them, what the status then says. */
  | { readonly do: 'RetireSecret'; readonly name: string; readonly connection: Connection | undefined }
  | ({ readonly do: 'DeleteUser' } & OnServer)
  /** Reports that the object goes while its user stays on the server. */
  | { readonly do: 'TellLeft'; readonly message: string };

/** The user, and the identity of the cluster that was decided about: when it was created. */
export interface OnServer {
  readonly username: string;
  readonly identity: string;
}

export type PasswordName = 'next' | 'current';
export type Connection = NonNullable<DatabaseUserStatus['connection']>;

export function usernameOf({ metadata, spec }: Pick<UserSubject, 'metadata' | 'spec'>): string {
  return spec.username ?? metadata.name;
}

export function connectionSecretName({ metadata, spec }: Pick<UserSubject, 'metadata' | 'spec'>): string {
  return spec.connectionSecret?.name ?? defaultSecretName({ metadata });
}

export function defaultSecretName({ metadata }: Pick<UserSubject, 'metadata'>): string {
  return `${metadata.name}-connection`;
}

/** Reports whether a Secret may have been written, and a user created. */
export function hasBegun({ metadata }: Pick<UserSubject, 'metadata'>): boolean {
  return metadata.finalizers?.includes(USER_FINALIZER) ?? false;
}

/** Reports whether there is, or was when last seen, a user of the object's own. */
export function owns({ status }: Pick<UserSubject, 'status'>): boolean {
  return status.username !== undefined;
}

/** Reports whether the user on the server of this cluster was made or taken over by this object. */
export function isOurs(subject: Pick<UserSubject, 'metadata' | 'spec' | 'status'>, identity: string): boolean {
  const { username, connection } = subject.status;
  return username === usernameOf(subject) && connection?.cluster === identity;
}
