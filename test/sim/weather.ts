import type { Clock } from '../../src/base/clock.ts';

/** A trouble that affects everybody for some time. */
export type Condition =
  | 'stale'
  | 'duplicate'
  | 'gap'
  | 'apiOutage'
  | 'cloudOutage'
  | 'serverOutage'
  | 'flaky'
  | 'clockForward';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

export const LASTS_MS: Readonly<Record<Condition, number>> = {
  stale: 20 * SECOND_MS,
  duplicate: MINUTE_MS,
  gap: 30 * SECOND_MS,
  apiOutage: 3 * MINUTE_MS,
  cloudOutage: 10 * MINUTE_MS,
  serverOutage: 5 * MINUTE_MS,
  flaky: 2 * MINUTE_MS,
  clockForward: 20 * MINUTE_MS,
};

export class Weather {
  readonly #clock: Clock;
  readonly #until = new Map<Condition, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(condition: Condition): void {
    this.#until.set(condition, this.#clock.monotonic() + LASTS_MS[condition]);
  }

  /** Returns for how many milliseconds it goes on; 0: it is over. */
  remainingMs(condition: Condition): number {
    return Math.max(0, (this.#until.get(condition) ?? 0) - this.#clock.monotonic());
  }

  is(condition: Condition): boolean {
    return this.remainingMs(condition) > 0;
  }
}
