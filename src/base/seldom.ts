import type { Clock } from './clock.ts';
import { Recent } from './collections/recent.ts';

/** What a broken connection is called goes back and forth between two or three words. */
const REMEMBERED = 10;

/** Knows what was told lately, so that what is wrong for hours is told once in a while. */
export class Seldom {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #everyMs: number;
  readonly #toldMs = new Recent<string, number>(REMEMBERED);

  constructor(clock: Pick<Clock, 'monotonic'>, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Reports whether to tell it, which then counts as told: not if it was told less than `everyMs` ago. */
  isDue(what: string): boolean {
    const now = this.#clock.monotonic();
    if (now - (this.#toldMs.peek(what) ?? Number.NEGATIVE_INFINITY) < this.#everyMs) return false;
    this.#toldMs.set(what, now);
    return true;
  }
}
