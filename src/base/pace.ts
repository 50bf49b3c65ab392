import type { Clock, YieldNow } from './clock.ts';

export const yieldToEventLoop: YieldNow = () => new Promise((resolve) => setImmediate(resolve));

/** How many times shorter turns are while somebody hurries. */
const HURRIED = 10;

/**
 * Long work checks `due` between its pieces and then takes a `rest`, so that the event loop is never held for long. Tasks that
 * share a Pace continue one by one, each after a turn of others. While somebody hurries because they wait for answers from
 * outside, a rest is due sooner.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #yieldNow: YieldNow;
  readonly #everyMs: number;
  #startedMs: number;
  #hurried = 0;
  #resting: Promise<void> = Promise.resolve();

  constructor(clock: Clock, everyMs = 2) {
    this.#clock = clock;
    this.#yieldNow = clock.yieldNow ?? yieldToEventLoop;
    this.#everyMs = everyMs;
    this.#startedMs = clock.monotonic();
  }

  get due(): boolean {
    const everyMs = this.#hurried > 0 ? this.#everyMs / HURRIED : this.#everyMs;
    return this.#clock.monotonic() - this.#startedMs >= everyMs;
  }

  /** Hurries until the returned function is called. Call it once. */
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
