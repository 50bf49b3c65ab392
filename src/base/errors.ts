/** A failure that time may mend: the object is tried again with backoff. `reason` is a CamelCase word for the condition. */
export class TransientError extends Error {
  override readonly name = 'TransientError';
  readonly reason: string;
  /** At the earliest after this many milliseconds, when the other side named a time. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: string, message: string, options?: { retryAfterMs?: number | undefined; cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** A failure that only a person can mend: the object is Stalled until something it depends on changes, and retried slowly. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly reason: string;

  constructor(reason: string, message: string, options?: { cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Does `work` for each, also after it threw for one; then throws what it threw first. */
export function forAll<T>(each: Iterable<T>, work: (one: T) => void): void {
  const thrown: unknown[] = [];
  for (const one of each) {
    try {
      work(one);
    } catch (error) {
      thrown.push(error);
    }
  }
  if (thrown.length > 0) throw thrown[0];
}
