import { createHash } from 'node:crypto';
import { generatePassword, type Random } from '../base/random.ts';
import { ApiError } from '../http/api-error.ts';
import type { ServerClient } from './client.ts';
import type { Login } from './request.ts';
import { Session } from './session.ts';

/** A server's answer to a login. */
export type Verdict = 'accepted' | 'refused';

interface Held {
  readonly session: Session;
  readonly username: string;
  /** Whether its password signed in since the server was last doubted. */
  readonly isProof: boolean;
}

/**
 * The logins of one server that were tried here. A session that is held proves its password until that is changed elsewhere, or the
 * server is doubted.
 */
export class Logins {
  readonly baseURL: string;
  readonly #connect: (baseURL: string) => ServerClient;
  #connected: ServerClient | undefined;
  /** In the order in which they began. Made with the first: there may be thousands of servers, few of which are called soon. */
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

  /** Reports whether the login was accepted since the server was last doubted, and nothing we did has ended it. Costs no call. */
  isHeld(login: Login): boolean {
    return this.#sessions?.get(digestOf(login))?.isProof ?? false;
  }

  /** The server was down, or may have been: what signed in before proves nothing any more. Sessions may still be of use. */
  doubt(): void {
    for (const [id, held] of this.#sessions ?? []) this.#sessions?.set(id, { ...held, isProof: false });
  }

  /** Tries the login now: one sign-in. Throws ApiError if the server does not say (not reached, for example). */
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
    this.#sessions.set(digestOf(login), { session, username: login.username, isProof: true });
    return 'accepted';
  }

  /** As `attempt`, but keeps nothing: for logins that are only ever tried. */
  async probe(login: Login, signal?: AbortSignal): Promise<Verdict> {
    try {
      await this.#client.signIn(login, signal);
      return 'accepted';
    } catch (error) {
      if (!(error instanceof ApiError) || !isRefusal(error)) throw error;
      return 'refused';
    }
  }

  /** Reports whether the server accepts a password that the user was never given: then nobody can tell which one is set. */
  async acceptsAny(username: string, random: Random, signal?: AbortSignal): Promise<boolean> {
    return (await this.probe({ username, password: generatePassword(random) }, signal)) === 'accepted';
  }

  /** Forgets a session that turned out to be useless. */
  drop(session: Session): void {
    for (const [id, held] of this.#sessions ?? []) if (held.session === session) this.#sessions?.delete(id);
  }

  /**
   * The user's held session that began last, with whatever password: it works even if the password itself is lost. Earlier ones'
   * passwords may have been changed elsewhere.
   */
  heldBy(username: string): Session | undefined {
    return [...(this.#sessions?.values() ?? [])].findLast((held) => held.username === username)?.session;
  }

  /** The held session of the login, or a new one. */
  session(login: Login): Session {
    return this.#sessions?.get(digestOf(login))?.session ?? new Session(this.#client, login);
  }

  /**
   * Reports whether the server lets the login see other users, as only the default user may (compatibility.md): one List. Throws
   * ApiError if the server does not say.
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

  /** Sets the password of `username`, as `login`. May have taken effect even if it throws: try both passwords. ("Update user") */
  async setPassword(login: Login | Session, username: string, password: string, signal?: AbortSignal): Promise<void> {
    const session = login instanceof Session ? login : this.session(login);
    try {
      await session.updateUser(username, password, signal);
    } finally {
      for (const [id, held] of this.#sessions ?? []) if (held.username === username) this.#sessions?.delete(id);
    }
  }
}

/** Only a 401: a 403 may come from something in front of the server, and a factory login mistaken for dead would be left alive. */
function isRefusal(error: ApiError): boolean {
  return error.kind === 'unauthorized';
}

/** Tells logins apart without their passwords, for callers that remember logins and need no passwords. */
export function digestOf(login: Login): string {
  return createHash('sha256')
    .update(JSON.stringify([login.username, login.password]))
    .digest('base64');
}
