import { SingleFlight } from '../base/single-flight.ts';
import { HttpError } from '../base/transport.ts';
import { ApiError } from '../http/api-error.ts';
import type { ServerClient } from './client.ts';
import type { Login } from './request.ts';

/**
 * One login on one server. Keeps its token, signs in once however many ask, and again if the token is refused (tokens end with a
 * server restart, a password update, or by age; only a 401 says so).
 */
export class Session {
  readonly #client: ServerClient;
  readonly #login: Login;
  readonly #signingIn = new SingleFlight<string>();
  #token: string | undefined;

  constructor(client: ServerClient, login: Login) {
    this.#client = client;
    this.#login = login;
  }

  get username(): string {
    return this.#login.username;
  }

  /** Makes sure that there is a token. `unauthorized`: the login is wrong. */
  async signIn(signal?: AbortSignal): Promise<void> {
    await this.#tokenInHand(signal);
  }

  /**
   * Calls `work` with a token, and once more with a new one if that was refused, which surely had no effect. `work` must make one
   * call: anything before a refused one would be done again.
   */
  async use<T>(work: (client: ServerClient, token: string) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const token = await this.#tokenInHand(signal);
    try {
      return await work(this.#client, token);
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== 'unauthorized') throw error;
      this.#drop(token);
      return await work(this.#client, await this.#tokenInHand(signal));
    }
  }

  /** `ServerClient.updateUser`. Drops the session's own token if it is the session's own user: it is dead then. */
  async updateUser(username: string, password: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.use((client, token) => client.updateUser(token, username, password, signal), signal);
    } finally {
      // Even after a failure: it may have taken effect.
      if (username === this.#login.username) this.invalidate();
    }
  }

  /** Forgets the token: the next use signs in. */
  invalidate(): void {
    this.#token = undefined;
  }

  /** A newer token is kept. */
  #drop(token: string): void {
    if (this.#token === token) this.#token = undefined;
  }

  async #tokenInHand(signal: AbortSignal | undefined): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    try {
      return await this.#signingIn.run((shared) => this.#signIn(shared), signal);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new ApiError({
        api: 'server',
        operation: 'signIn',
        phrase: 'sign in',
        idempotent: true,
        kind: 'aborted',
        what: 'it was canceled',
      });
    }
  }

  async #signIn(signal: AbortSignal): Promise<string> {
    const { token } = await this.#client.signIn(this.#login, signal);
    this.#token = token;
    return token;
  }
}
