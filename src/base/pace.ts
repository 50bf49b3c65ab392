import type { Clock } from './clock.ts';

/** Gives other work of the process a turn. */
export type YieldNow = () => Promise<void>;

export const yieldToEventLoop: YieldNow = () => new Promise((resolve) => setImmediate(resolve));

/** So much shorter are turns while somebody hurries. */
const HURRIED = 10;

/**
 * Long work asks `due` between its pieces and takes a `rest` when it is: the event loop is never held for long. Where several
 * share one, they go on one by one, each after a turn of others. While somebody hurries, who waits for answers from outside,
 * a rest is due sooner.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #yieldNow: YieldNow;
  readonly #everyMs: number;
  #startedMs: number;
  #hurried = 0;
  #resting: Promise<void> = Promise.resolve();

  constructor(clock: Clock, yieldNow: YieldNow = yieldToEventLoop, everyMs = 2) {
    this.#clock = clock;
    this.#yieldNow = yieldNow;
    this.#everyMs = everyMs;
    this.#startedMs = clock.monotonic();
  }

  get due(): boolean {
    const everyMs = this.#hurried > 0 ? this.#everyMs / HURRIED : this.#everyMs;
    return this.#clock.monotonic() - this.#startedMs >= everyMs;
  }

  /** Hurries until the function that it returns is called, once. */
  hurry(): () => void {
    this.#hurried++;
    return () => {
      this.#hurried--;
    };
  }

  async rest(): Promise<void> {
    this.#resting = this.#resting.then(this.#yieldNow);
    await this.#resting;
    this.#startedMs = this.#clock.monotonic();
  }
}
