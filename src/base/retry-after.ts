/** Nobody waits longer for a time that the other side named. */
const MAX_RETRY_AFTER_MS = 10 * 60_000;

/**
 * A `Retry-After` header as milliseconds from `nowMs` (wall clock): a number of seconds or an HTTP date, at most ten
 * minutes. `undefined` when it is absent or neither; 0 for a date that has passed.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  const delayMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs;
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, 0), MAX_RETRY_AFTER_MS);
}

/** Only the HTTP forms begin with a weekday; Date.parse would also read much that is no date. */
function dateMs(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
}
