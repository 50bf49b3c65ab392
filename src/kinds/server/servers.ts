import type { Clock } from '../../base/clock.ts';
import { TransientError } from '../../base/errors.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import type { ServerClient } from '../../database/client.ts';
import type { Logins, Verdict } from '../../database/logins.ts';
import type { Session } from '../../database/session.ts';
import { ApiError, isRefused } from '../../http/api-error.ts';
import { ABANDON } from '../../kube/annotations.ts';
import { type ObjectKey, splitKey } from '../../kube/object.ts';
import { type Login, labelsInWords, OWNER_LABEL, type SecretContents, type Secrets } from '../secrets.ts';
import { NameList } from './name-list.ts';

/** One server as it is reached now. */
export interface ServerPlace {
  readonly clusterKey: ObjectKey;
  /** The DatabaseCluster is being deleted, but its server still answers. */
  readonly leaving: boolean;
  /** The Secret, beside the DatabaseCluster, that holds the login of the server's default user. */
  readonly adminSecretName: string;
  readonly factoryUsername: string;
  readonly logins: Logins;
}

export interface ServersOptions {
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, 'read' | 'version'>;
  /** Called when a server refuses the login that its cluster published: the cluster should look. */
  readonly onLoginRefused: (clusterKey: ObjectKey) => void;
}

/**
 * Reports whether `error`, thrown when the server was asked to delete or change something, means that it does not exist, and not that
 * it cannot be deleted now. Servers answer 400 for both, others may answer 409 to the latter, and a proxy before them may answer 404 to
 * anything. So `isListed` decides: if it were wrongly held to be gone, a deletion would leave it behind for good, and a change would be
 * retried for ever without a word.
 */
export async function isAbsentFromServer(error: unknown, isListed: () => Promise<boolean>): Promise<boolean> {
  const isNotFound = error instanceof ApiError && error.kind === 'notFound';
  if (!isNotFound && !isRefused(error)) throw error;
  if (!(await isListed())) return true;
  if (!isNotFound) return false;
  const message = `${error.message}. But the server shows it, so something in front of the server may have answered: Mooring tries again. If this persists, check proxies on the way to the server`;
  throw new TransientError('NotFound', message, { cause: error });
}

/**
 * The server still shows what it said that it deleted. Once the object is gone, nobody can look any more: so whoever deletes looks,
 * whatever the answer says. `what`: such as `user "app"`.
 */
export function stillShown(what: string): TransientError {
  const message = `The server said that it deleted ${what}, but still shows it: Mooring tries again. If this persists, check the server`;
  return new TransientError('UpdateNotApplied', message);
}

/** For a login whose cluster is being deleted: nobody looks after it any more, and only objects that go too need it. */
const GETS_NO_OTHER = `delete this object and annotate it ${ABANDON}=true to leave on the server what is there, as that cluster is being deleted and gets no other login`;

/** What is kept for one server, as long as it is reached by the same connection. */
interface Held {
  readonly users: NameList;
  readonly databases: NameList;
  readonly signingIn: SingleFlight<Session>;
  /** The user that the operator works as; undefined: it has not signed in yet. */
  adminUsername: string | undefined;
  /** The user in the admin Secret of this name, in the version seen when it was read; undefined: it was not read yet. */
  named:
    | { readonly secretName: string; readonly version: string | undefined; readonly username: string | undefined }
    | undefined;
}

/**
 * The servers of all clusters, for all users and databases on them. However many objects ask, each server has one admin session, and
 * at any time one List of its users and one of its databases.
 */
export class Servers {
  readonly #options: ServersOptions;
  readonly #held = new WeakMap<Logins, Held>();

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /** Reports whether there is such a user, by a List that is at most 2 s old and includes our own changes. */
  async hasUser(place: ServerPlace, username: string, signal: AbortSignal): Promise<boolean> {
    const list = () => this.asAdmin(place, (client, token) => client.listUsers(token));
    return (await this.#of(place).users.get(list, signal)).has(username.normalize());
  }

  /** The same by a List of this moment: for a decision that cannot be taken back. */
  listsUser(place: ServerPlace, username: string, signal: AbortSignal): Promise<boolean> {
    const list = (client: ServerClient, token: string) => client.listUsers(token, signal);
    return this.#isListed(place, 'users', username, list, signal);
  }

  /** Makes one GET, and updates the shared List; undefined: it says that there is none, which one answer alone does not prove. */
  async user(place: ServerPlace, username: string, signal: AbortSignal) {
    const found = await this.asAdmin(place, (client, token) => client.getUser(token, username, signal), signal);
    this.userChanged(place, username, found !== undefined);
    return found;
  }

  /** Reports whether there is such a database, like `hasUser`. */
  async hasDatabase(place: ServerPlace, name: string, signal: AbortSignal): Promise<boolean> {
    const list = () => this.asAdmin(place, (client, token) => client.listDatabases(token));
    return (await this.#of(place).databases.get(list, signal)).has(name.normalize());
  }

  /** The same by a List of this moment, like `listsUser`. */
  listsDatabase(place: ServerPlace, name: string, signal: AbortSignal): Promise<boolean> {
    const list = (client: ServerClient, token: string) => client.listDatabases(token, signal);
    return this.#isListed(place, 'databases', name, list, signal);
  }

  async #isListed(
    place: ServerPlace,
    of: 'users' | 'databases',
    name: string,
    list: (client: ServerClient, token: string) => Promise<readonly string[]>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const listed = (await this.asAdmin(place, list, signal)).includes(name.normalize());
    this.#of(place)[of].changed(name, listed);
    return listed;
  }

  /** Updates the shared List with a change that was just made. */
  userChanged(place: ServerPlace, username: string, exists: boolean): void {
    this.#of(place).users.changed(username, exists);
  }

  databaseChanged(place: ServerPlace, name: string, exists: boolean): void {
    this.#of(place).databases.changed(name, exists);
  }

  /**
   * Does `work`, which is one call, as the server's default user. Throws TransientError ClusterLoginRefused if the published login is
   * refused, ClusterLoginLost if its Secret is missing, and otherwise what `work` throws.
   */
  async asAdmin<T>(
    place: ServerPlace,
    work: (client: ServerClient, token: string) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const first = await this.#asAdminOnce(place, work, signal);
    if (!('refusal' in first)) return first.result;
    // The cluster may just have replaced the password: its Secret has the new one. A refused call surely had no effect.
    const second = await this.#asAdminOnce(place, work, signal);
    if (!('refusal' in second)) return second.result;
    throw this.#refused(place, second.refusal);
  }

  async #asAdminOnce<T>(
    place: ServerPlace,
    work: (client: ServerClient, token: string) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly result: T } | { readonly refusal: ApiError }> {
    const session = await this.#adminSession(place, signal);
    try {
      return { result: await session.use(work, signal) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== 'unauthorized') throw error;
      place.logins.drop(session);
      return { refusal: error };
    }
  }

  /** Reports whether the user is the cluster's own: the one that the operator works as, or the one that new clusters come with. */
  async isReserved(place: ServerPlace, username: string, signal: AbortSignal): Promise<boolean> {
    if (isSameName(username, place.factoryUsername)) return true;
    const held = this.#of(place);
    if (held.adminUsername === undefined) await this.#adminSession(place, signal);
    if (isSameName(username, held.adminUsername)) return true;
    // A session may outlive a change of the user in the Secret, as when a login was lost and the cluster's spec named another.
    const { namespace } = splitKey(place.clusterKey);
    const version = this.#options.secrets.version(namespace, place.adminSecretName);
    const isKnown = held.named?.secretName === place.adminSecretName && held.named.version === version;
    if (!isKnown) await this.#readAdminSecret(place, held, signal);
    return isSameName(username, held.named?.username);
  }

  async #readAdminSecret(place: ServerPlace, held: Held, signal: AbortSignal): Promise<SecretContents | undefined> {
    const { secrets } = this.#options;
    const { namespace } = splitKey(place.clusterKey);
    const secretName = place.adminSecretName;
    // Taken before the read, so that what changes during it is read once more.
    const version = secrets.version(namespace, secretName);
    const secret = await secrets.read(namespace, secretName, signal);
    held.named = { secretName, version, username: secret?.data.get('username') };
    return secret;
  }

  /** Tries the login and keeps nothing of it. Throws ApiError if the server does not say. */
  signIn({ logins }: ServerPlace, login: Login, signal: AbortSignal): Promise<Verdict> {
    return logins.probe(login, signal);
  }

  #of({ logins }: ServerPlace): Held {
    let held = this.#held.get(logins);
    if (held === undefined) {
      const { clock } = this.#options;
      held = {
        users: new NameList(clock),
        databases: new NameList(clock),
        signingIn: new SingleFlight(),
        adminUsername: undefined,
        named: undefined,
      };
      this.#held.set(logins, held);
    }
    return held;
  }

  async #adminSession(place: ServerPlace, signal: AbortSignal | undefined): Promise<Session> {
    const held = this.#of(place);
    const session = held.adminUsername === undefined ? undefined : place.logins.heldBy(held.adminUsername);
    return session ?? held.signingIn.run((shared) => this.#signInAsAdmin(place, held, shared), signal);
  }

  /** Signs in with the passwords of the admin Secret, one of which works at every moment. */
  async #signInAsAdmin(place: ServerPlace, held: Held, signal: AbortSignal): Promise<Session> {
    const { name } = splitKey(place.clusterKey);
    const secret = await this.#readAdminSecret(place, held, signal);
    const username = secret?.data.get('username');
    if (secret === undefined || username === undefined) {
      const otherwise = place.leaving ? GETS_NO_OTHER : 'see what the conditions of that cluster say';
      const message = `Secret "${place.adminSecretName}" with the login of DatabaseCluster "${name}" does not exist: restore it, with labels ${labelsInWords(OWNER_LABEL, name)}, or ${otherwise}`;
      const session = place.logins.heldBy(held.adminUsername ?? place.factoryUsername);
      if (session !== undefined) return session;
      this.#options.onLoginRefused(place.clusterKey);
      throw new TransientError('ClusterLoginLost', message);
    }
    held.adminUsername = username;
    for (const key of ['password', 'nextPassword']) {
      const password = secret.data.get(key);
      if (password === undefined || password === '') continue;
      const login = { username, password };
      if (place.logins.isHeld(login) || (await place.logins.attempt(login, signal)) === 'accepted')
        return place.logins.session(login);
    }
    throw this.#refused(place, undefined);
  }

  #refused(place: ServerPlace, cause: ApiError | undefined): TransientError {
    this.#options.onLoginRefused(place.clusterKey);
    const { name } = splitKey(place.clusterKey);
    const remedy = place.leaving
      ? `put the password that works there, or ${GETS_NO_OTHER}`
      : 'Mooring checks the login of that cluster';
    const message = `The server refuses the login in Secret "${place.adminSecretName}" of DatabaseCluster "${name}": ${remedy}`;
    return new TransientError('ClusterLoginRefused', message, cause === undefined ? {} : { cause });
  }
}

/** A server may compose the characters of a name that a person wrote decomposed. */
function isSameName(one: string, other: string | undefined): boolean {
  return one.normalize() === other?.normalize();
}
