import type { Clock } from '../base/clock.ts';

/** Of requests that failed together and may be tried again, one goes first: the others follow only if it did better. */
export class Trial {
  readonly #clock: Clock;
  #going: Promise<void> | undefined;
  /** Monotonic; when a second try last failed. */
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns what `again` gives. Rejects with `failure` if another second try has failed since `startedAt` (monotonic), when the
   * first try began. `fails`: whether an error of `again` is such a failure.
   */
  async run<T>(
    startedAt: number,
    again: () => Promise<T>,
    failure: unknown,
    fails: (error: unknown) => boolean,
  ): Promise<T> {
    const follows = this.#going !== undefined;
    if (follows) await this.#going;
    if (this.#failedAt >= startedAt) throw failure;
    const attempt = again();
    if (follows) return attempt;
    this.#going = attempt.then(
      () => {},
      (error: unknown) => {
        if (fails(error)) this.#failedAt = this.#clock.monotonic();
      },
    );
    try {
      return await attempt;
    } finally {
      this.#going = undefined;
    }
  }
}
