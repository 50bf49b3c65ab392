import { createHash } from 'node:crypto';
import { ApiError } from '../base/api-error.ts';
import { generatePassword, type Random } from '../base/random.ts';
import type { ServerClient } from './client.ts';
import type { Login } from './request.ts';
import { Session } from './session.ts';

/** What a server says to a login. */
export type Verdict = 'accepted' | 'refused';

interface Held {
  readonly session: Session;
  readonly username: string;
}

/**
 * The logins of one server, as far as they were tried here. A session that is held proves that its password has not been
 * changed since it was tried: an update of a user ends the user's tokens (compatibility.md).
 */
export class Logins {
  readonly baseURL: string;
  readonly #connect: (baseURL: string) => ServerClient;
  #connected: ServerClient | undefined;
  /** In the order in which they were begun. Made with the first: there may be thousands of servers, of which few are called soon. */
  #sessions: Map<string, Held> | undefined;

  /** `connect` is called once, before the first call. */
  constructor(baseURL: string, connect: (baseURL: string) => ServerClient) {
    this.baseURL = baseURL;
    this.#connect = connect;
  }

  get #client(): ServerClient {
    this.#connected ??= this.#connect(this.baseURL);
    return this.#connected;
  }

  /** Whether the login was accepted and nothing that we did has ended it since. Costs no call. */
  isHeld(login: Login): boolean {
    return this.#sessions?.has(digestOf(login)) ?? false;
  }

  /** Tries the login now: one sign-in. Throws ApiError where the server does not say (not reached, for example). */
  async attempt(login: Login, signal?: AbortSignal): Promise<Verdict> {
    const session = new Session(this.#client, login);
    try {
      await session.signIn(signal);
    } catch (error) {
      if (!(error instanceof ApiError) || !isRefusal(error)) throw error;
      this.#sessions?.delete(digestOf(login));
      return 'refused';
    }
    this.#sessions ??= new Map();
    this.#sessions.delete(digestOf(login));
    this.#sessions.set(digestOf(login), { session, username: login.username });
    return 'accepted';
  }

  /** As `attempt`, and nothing is kept: for logins that are only ever tried. */
  async probe(login: Login, signal?: AbortSignal): Promise<Verdict> {
    try {
      await this.#client.signIn(login, signal);
      return 'accepted';
    } catch (error) {
      if (!(error instanceof ApiError) || !isRefusal(error)) throw error;
      return 'refused';
    }
  }

  /** Whether the server signs the user in with a password that it was never given: then which one it has cannot be told. */
  async acceptsAny(username: string, random: Random, signal?: AbortSignal): Promise<boolean> {
    return (await this.probe({ username, password: generatePassword(random) }, signal)) === 'accepted';
  }

  /** Forgets a session that turned out to be of no use. */
  drop(session: Session): void {
    for (const [id, held] of this.#sessions ?? []) if (held.session === session) this.#sessions?.delete(id);
  }

  /**
   * The session of the user that is held and was begun last, with whatever password: it goes on when the password itself is lost. Of
   * those before it the password may have been changed elsewhere.
   */
  heldBy(username: string): Session | undefined {
    return [...(this.#sessions?.values() ?? [])].findLast((held) => held.username === username)?.session;
  }

  /** The session of a login that is held, else a new one. */
  session(login: Login): Session {
    return this.#sessions?.get(digestOf(login))?.session ?? new Session(this.#client, login);
  }

  /**
   * Whether the server lets the login see other users, as it lets the default user only (compatibility.md): one List. Throws ApiError
   * where the server does not say.
   */
  async seesUsers(login: Login, signal?: AbortSignal): Promise<boolean> {
    try {
      await this.session(login).use((client, token) => client.listUsers(token, signal), signal);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== 'forbidden') throw error;
      return false;
    }
  }

  /**
   * Sets the password of `username`, as `login`. It may have taken effect also if this throws: try both passwords.
   * ("Update user")
   */
  async setPassword(login: Login | Session, username: string, password: string, signal?: AbortSignal): Promise<void> {
    const session = login instanceof Session ? login : this.session(login);
    try {
      await session.updateUser(username, password, signal);
    } finally {
      for (const [id, held] of this.#sessions ?? []) if (held.username === username) this.#sessions?.delete(id);
    }
  }
}

/**
 * Only a 401: a 403 may be of whatever stands before the server, and a factory login that is taken for dead while it lives would be left
 * alive.
 */
function isRefusal(error: ApiError): boolean {
  return error.kind === 'unauthorized';
}

/** Tells logins apart without their passwords, for who remembers them and has no use for these. */
export function digestOf(login: Login): string {
  return createHash('sha256')
    .update(JSON.stringify([login.username, login.password]))
    .digest('base64');
}
