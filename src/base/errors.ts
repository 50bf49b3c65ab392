/** A failure that may pass with time: the object is retried with backoff. `reason` is a CamelCase word for the condition. */
export class TransientError extends Error {
  override readonly name = 'TransientError';
  readonly reason: string;
  /** Retry no sooner than this many milliseconds, if the other side named a time. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: string, message: string, options?: { retryAfterMs?: number | undefined; cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** A failure that only a person can fix: the object is Stalled until something it depends on changes, and retried slowly. */
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

/** Calls `work` for each, even after it threw for one; then throws the first error. */
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
