import type { Clock } from '../base/clock.ts';
import { KubeError } from '../kube/api.ts';

/** Watches end at their own times: so long may only some of them have met it. */
const LASTING_MS = 120_000;
/** A watch that is refused is tried again within half a minute: one that was not refused again for so long was answered. */
const FORGOTTEN_MS = 60_000;
/** Each collection meets it, again and again: of them all one line in so much time is enough. */
const TELL_EVERY_MS = 60_000;

/**
 * Whether the API server still takes this operator's login, as its watches tell: whoever holds no Lease would notice by nothing else.
 * An API server that is away, or refuses something else, does not count: it is back by itself, or is told of where it is in the way.
 */
export class RefusedLogin {
  readonly #clock: Clock;
  /** By collection, since when each attempt was answered 401, and when the last one was; monotonic clock. */
  readonly #refused = new Map<string, { readonly sinceMs: number; readonly lastMs: number }>();
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A list or watch of the collection failed. Whether that is to be logged: not where the same was for another one a moment ago. */
  failed(plural: string, error: unknown): boolean {
    if (!(error instanceof KubeError && error.status === 401)) return true;
    const lastMs = this.#clock.monotonic();
    this.#refused.set(plural, { sinceMs: this.#goingOn(plural)?.sinceMs ?? lastMs, lastMs });
    if (lastMs - this.#toldMs < TELL_EVERY_MS) return false;
    this.#toldMs = lastMs;
    return true;
  }

  /** What is wrong, where all of these collections have been refused for minutes. */
  problem(plurals: readonly string[]): string | undefined {
    const begins = plurals.map((plural) => this.#goingOn(plural)?.sinceMs ?? Number.POSITIVE_INFINITY);
    const lastedMs = this.#clock.monotonic() - Math.max(...begins);
    if (lastedMs < LASTING_MS) return undefined;
    return `The API server has not accepted this operator's login for ${Math.floor(lastedMs / 60_000)} minutes (401), so it hears of no change: its token is wrong or has expired, or its ServiceAccount is gone`;
  }

  #goingOn(plural: string) {
    const refused = this.#refused.get(plural);
    return refused !== undefined && this.#clock.monotonic() - refused.lastMs < FORGOTTEN_MS ? refused : undefined;
  }
}
