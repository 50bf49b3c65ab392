import type { Clock } from '../base/clock.ts';
import { LEAST_SECRET } from './redact.ts';

/** A secret that is not sent for this long was replaced, or ended. Logins are checked more often. */
const LATELY_MS = 3_600_000;
/** For all sides together. Of thousands of servers, those called last are the ones that may repeat a secret. */
const MAX_IN_ALL = 2_048;
/** For one side: each of its errors is searched for these. */
const MAX_SECRETS = 64;
const MAX_CHARACTERS = 8_192;

interface Sent {
  readonly secret: string;
  readonly atMs: number;
}

/**
 * The secrets that were lately sent to each side, which may repeat them in the answer to any later request, even somebody else's.
 * Their number is bounded, and one not sent for an hour no longer counts. A lookup for a side sees only what was sent to that
 * side: thousands of servers refuse a login every few minutes, as they should.
 */
export class SentSecrets {
  readonly #clock: Clock;
  /** By the base URL of the side. The secret sent last is at the end, and so is the side that it was sent to. */
  readonly #sides = new Map<string, readonly Sent[]>();
  #size = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(to: string, secrets: readonly string[]): void {
    const atMs = this.#clock.monotonic();
    const long = new Set(secrets.filter((secret) => secret.length >= LEAST_SECRET));
    if (long.size === 0) return;
    const kept = this.#recent(to).filter(({ secret }) => !long.has(secret));
    const sent = [...kept, ...[...long].map((secret) => ({ secret, atMs }))].slice(-MAX_SECRETS);
    this.#forget(to);
    this.#sides.set(to, sent);
    this.#size += sent.length;
    for (const [side, first] of this.#sides) {
      if (this.#size <= MAX_IN_ALL && first.some((each) => this.#isRecent(each))) break;
      this.#forget(side);
    }
  }

  /** The secrets sent to this side, in the order in which they were sent. */
  all(to: string): readonly string[] {
    const found: string[] = [];
    let characters = 0;
    for (const { secret } of this.#recent(to).toReversed()) {
      characters += secret.length;
      if (found.length > 0 && characters > MAX_CHARACTERS) break;
      found.push(secret);
    }
    return found.toReversed();
  }

  #recent(to: string): readonly Sent[] {
    return (this.#sides.get(to) ?? []).filter((each) => this.#isRecent(each));
  }

  #forget(side: string): void {
    this.#size -= this.#sides.get(side)?.length ?? 0;
    this.#sides.delete(side);
  }

  #isRecent({ atMs }: Sent): boolean {
    return this.#clock.monotonic() - atMs <= LATELY_MS;
  }
}
