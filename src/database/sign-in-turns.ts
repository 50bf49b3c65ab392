import { type Clock, sleep } from '../base/clock.ts';

/** A check takes a server some 60 ms (compatibility.md). What takes so long hangs, and those after it need not wait it out. */
const MAX_WAIT_MS = 5_000;

/** "One sign-in at a time per user" (compatibility.md), whoever asks for it: in the order in which they come. */
export class SignInTurns {
  readonly #clock: Clock;
  /** By user, while it has any under way: resolves when the last one is over, and those before it. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #onIdle: () => void;

  /** `onIdle`: none is under way any more. */
  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  /** Does `signIn` when it is its turn, or as soon as `signal` aborts: what to make of that is its own affair. */
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
