import type { Clock } from './clock.ts';

const BEAT_MS = 5_000;
/** Garbage collection does not make a beat this late: something is wrong. */
const LATE_MS = 5_000;
/** Of the last `BEATS`, which are a minute, `MAX_LATE` may be late: a machine that was suspended is late once. */
const BEATS = 12;
const MAX_LATE = 2;

/**
 * Notices when the event loop blocks again and again. Everything waits then, and a probe that happens to be answered in between
 * says nothing. A loop that blocks for good answers no probe at all.
 */
export class EventLoopWatch {
  readonly #clock: Clock;
  readonly #lateMs: number[] = [];
  #cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    const beganAt = this.#clock.monotonic();
    this.#cancel = this.#clock.after(BEAT_MS, () => {
      this.#lateMs.push(this.#clock.monotonic() - beganAt - BEAT_MS);
      if (this.#lateMs.length > BEATS) this.#lateMs.shift();
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  /** Says what is wrong with the event loop; undefined if nothing is. */
  problem(): string | undefined {
    const late = this.#lateMs.filter((ms) => ms > LATE_MS);
    if (late.length <= MAX_LATE) return undefined;
    return `The event loop was blocked ${late.length} times in the last minutes, for up to ${Math.round(Math.max(...late) / 1000)} s`;
  }
}
