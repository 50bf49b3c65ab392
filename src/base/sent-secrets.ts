import type { Clock } from './clock.ts';

/** What is no longer sent was replaced, or ended. Logins are looked after more often. */
const LATELY_MS = 3_600_000;
/** Each error is searched for all of them. */
const MAX_SECRETS = 64;
const MAX_CHARACTERS = 8_192;
/** Of a shorter one every second message of all others would be full. */
const MIN_LENGTH = 4;

interface Sent {
  readonly secret: string;
  readonly atMs: number;
}

/**
 * The secrets that were sent to one other side lately: it may repeat them in the answer to any later request, also one that
 * somebody else makes. A bounded number; whatever was not sent for an hour is forgotten.
 */
export class SentSecrets {
  readonly #clock: Clock;
  /** By the time of the last request. A plain array: there may be thousands of servers, with few secrets each. */
  #sent: Sent[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(secrets: readonly string[]): void {
    const atMs = this.#clock.monotonic();
    for (const secret of secrets) {
      if (secret.length < MIN_LENGTH) continue;
      this.#sent = this.#sent.filter((each) => each.secret !== secret);
      this.#sent.push({ secret, atMs });
    }
    this.#forget(atMs);
  }

  all(): readonly string[] {
    this.#forget(this.#clock.monotonic());
    return this.#sent.map(({ secret }) => secret);
  }

  #forget(nowMs: number): void {
    let kept = 0;
    let characters = 0;
    for (const { secret, atMs } of this.#sent.toReversed()) {
      characters += secret.length;
      const isOver = kept === MAX_SECRETS || (kept > 0 && characters > MAX_CHARACTERS);
      if (isOver || nowMs - atMs > LATELY_MS) break;
      kept++;
    }
    if (kept < this.#sent.length) this.#sent = this.#sent.slice(this.#sent.length - kept);
  }
}
