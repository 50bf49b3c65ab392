import type { Clock } from './clock.ts';

/** What is no longer sent was replaced, or ended. Logins are looked after more often. */
const LATELY_MS = 3_600_000;
/** Of all sides together: of thousands of servers those that were called last, who are the ones to repeat it. */
const MAX_IN_ALL = 2_048;
/** Of one side: each of its errors is searched for them. */
const MAX_SECRETS = 64;
const MAX_CHARACTERS = 8_192;
/** Of a shorter one every second message of all others would be full. */
const MIN_LENGTH = 4;

interface Sent {
  /** The base URL of the side that it was sent to. */
  readonly to: string;
  readonly secret: string;
  readonly atMs: number;
}

/**
 * The secrets that were sent to each other side lately: it may repeat them in the answer to any later request, also one that
 * somebody else makes. A bounded number; whatever was not sent for an hour counts no more.
 */
export class SentSecrets {
  readonly #clock: Clock;
  /** By side and secret; those that were sent last stand at the end. */
  readonly #sent = new Map<string, Sent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(to: string, secrets: readonly string[]): void {
    const atMs = this.#clock.monotonic();
    for (const secret of secrets) {
      if (secret.length < MIN_LENGTH) continue;
      const key = `${to} ${secret}`;
      this.#sent.delete(key);
      this.#sent.set(key, { to, secret, atMs });
    }
    for (const [key, first] of this.#sent) {
      if (this.#sent.size <= MAX_IN_ALL && this.#isRecent(first)) break;
      this.#sent.delete(key);
    }
  }

  /** Of this side, in the order in which they were sent. */
  all(to: string): readonly string[] {
    const found: string[] = [];
    let characters = 0;
    for (const each of [...this.#sent.values()].filter((sent) => sent.to === to && this.#isRecent(sent)).toReversed()) {
      characters += each.secret.length;
      if (found.length === MAX_SECRETS || (found.length > 0 && characters > MAX_CHARACTERS)) break;
      found.push(each.secret);
    }
    return found.toReversed();
  }

  #isRecent({ atMs }: Sent): boolean {
    return this.#clock.monotonic() - atMs <= LATELY_MS;
  }
}
