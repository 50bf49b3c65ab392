import { instant } from './instant.ts';

/** No wait that the other side asks for is longer than `MAX_RETRY_AFTER_MS`. */
const MINUTE_MS = 60_000;
const MAX_RETRY_AFTER_MS = 10 * MINUTE_MS;

/**
 * A `Retry-After` header as milliseconds from `nowMs` (wall clock): a number of seconds or an HTTP date, at most ten minutes.
 * `undefined` if it is absent or neither; 0 for a date that has passed.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  const delayMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs;
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, 0), MAX_RETRY_AFTER_MS);
}

/** Says when a pause ends, if it is long enough for a person to ask. To the minute, so that many that begin one by one say the same. */
export function untilWords(pauseMs: number, nowMs: number): string {
  if (pauseMs <= MINUTE_MS) return '';
  return ` until ${instant(Math.ceil((nowMs + pauseMs) / MINUTE_MS) * MINUTE_MS)}`;
}

/** Only the HTTP forms begin with a weekday; Date.parse would also accept much that is not a date. */
function dateMs(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
}
