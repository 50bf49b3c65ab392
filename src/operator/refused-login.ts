import type { Clock } from '../base/clock.ts';
import { Seldom } from '../base/seldom.ts';
import { HttpError } from '../base/transport.ts';
import { KubeError } from '../kube/api.ts';

/** Watches end at different times: for this long, only some of them may have met it. */
const LASTING_MS = 120_000;
/** A refused watch is tried again within half a minute: one not refused again for this long was answered. */
const FORGOTTEN_MS = 60_000;
/** Each collection meets it again and again, as it does an API server that is away: one line in this time is enough for all. */
const TELL_EVERY_MS = 60_000;

/** What all watches meet alike: the API server is away, or does not accept the login. Undefined: it is something else. */
export function metByAll(error: unknown): 'unanswered' | 'refused' | undefined {
  if (error instanceof HttpError && error.isUnanswered) return 'unanswered';
  return error instanceof KubeError && error.status === 401 ? 'refused' : undefined;
}

/**
 * Whether the API server still accepts this operator's login, judging by its watches: without a Lease, nothing else would show it. An API
 * server that is away, or refuses something else, does not count: it comes back by itself, or is reported where it is in the way.
 */
export class RefusedLogin {
  readonly #clock: Clock;
  /** By collection: since when each attempt was answered 401, and when the last one was; monotonic clock. */
  readonly #refused = new Map<string, { readonly sinceMs: number; readonly lastMs: number }>();
  readonly #told: Seldom;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#told = new Seldom(clock, TELL_EVERY_MS);
  }

  /** A list or watch of the collection failed. Reports whether to log that: not if the same just happened to another collection. */
  failed(plural: string, error: unknown): boolean {
    const met = metByAll(error);
    if (met === undefined) return true;
    if (met === 'refused') {
      const lastMs = this.#clock.monotonic();
      this.#refused.set(plural, { sinceMs: this.#goingOn(plural)?.sinceMs ?? lastMs, lastMs });
    }
    return this.#told.isDue(met);
  }

  /** Returns what is wrong if all of these collections have been refused for minutes. */
  problem(plurals: readonly string[]): string | undefined {
    const begins = plurals.map((plural) => this.#goingOn(plural)?.sinceMs ?? Number.POSITIVE_INFINITY);
    const lastedMs = this.#clock.monotonic() - Math.max(...begins);
    if (lastedMs < LASTING_MS) return undefined;
    return `The API server has not accepted this operator's login for ${Math.floor(lastedMs / 60_000)} minutes (401), so it sees no changes: its token is wrong or has expired, or its ServiceAccount is gone`;
  }

  #goingOn(plural: string) {
    const refused = this.#refused.get(plural);
    return refused !== undefined && this.#clock.monotonic() - refused.lastMs < FORGOTTEN_MS ? refused : undefined;
  }
}
