import { instant } from './instant.ts';

/** Nobody waits longer for a time that the other side named. */
const MINUTE_MS = 60_000;
const MAX_RETRY_AFTER_MS = 10 * MINUTE_MS;

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

/** Words for when a pause ends, where it is long enough that a person asks. To the minute: many that begin one by one say the same. */
export function untilWords(pauseMs: number, nowMs: number): string {
  if (pauseMs <= MINUTE_MS) return '';
  return ` until ${instant(Math.ceil((nowMs + pauseMs) / MINUTE_MS) * MINUTE_MS)}`;
}

/** Only the HTTP forms begin with a weekday; Date.parse would also read much that is no date. */
function dateMs(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
}
