import { type Clock, sleep } from '../base/clock.ts';

/** A check takes a server some 60 ms (compatibility.md). One that takes this long hangs, and those after it need not wait for it. */
const MAX_WAIT_MS = 5_000;

/** "One sign-in at a time per user" (compatibility.md), whoever asks, in the order in which they ask. */
export class SignInTurns {
  readonly #clock: Clock;
  /** By user, while any are running: resolves when the last one is over, and those before it. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #onIdle: () => void;

  /** `onIdle`: called when none is running any more. */
  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  /** Calls `signIn` when it is its turn, or as soon as `signal` aborts: what to do then is up to `signIn`. */
  async take<T>(username: string, signIn: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#last.get(username);
    const ended = Promise.withResolvers<void>();
    const over = before === undefined ? ended.promise : Promise.all([before, ended.promise]);
    this.#last.set(username, over);
    try {
      if (before !== undefined) await this.#await(before, signal);
      return await signIn();
    } finally {
      ended.resolve();
      over.then(() => {
        if (this.#last.get(username) === over) this.#last.delete(username);
        if (this.#last.size === 0) this.#onIdle();
      });
    }
  }

  async #await(before: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
    const waited = new AbortController();
    const either = signal === undefined ? waited.signal : AbortSignal.any([signal, waited.signal]);
    await Promise.race([before, sleep(this.#clock, MAX_WAIT_MS, either)]);
    waited.abort();
  }
}
