import { instant } from '../base/instant.ts';
import type { HttpResponse } from '../base/transport.ts';

const MINUTE_MS = 60_000;
/** No wait that the other side asks for is longer. */
const MAX_RETRY_AFTER_MS = 10 * MINUTE_MS;

/**
 * The `Retry-After` of an answer in milliseconds, at most ten minutes: a number of seconds, the longest if it came several times, or
 * an HTTP date. `undefined` if it is absent or neither; 0 for a date that has passed. A date is by the other side's clock, as is the
 * answer's own; `nowMs` (wall clock) counts if that is absent.
 */
export function retryAfterMs(headers: HttpResponse['headers'], nowMs: number): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  const delayMs = secondsMs(text) ?? untilDateMs(text, dateMs(headers['date'] ?? '') ?? nowMs);
  return delayMs === undefined ? undefined : Math.min(Math.max(delayMs, 0), MAX_RETRY_AFTER_MS);
}

function secondsMs(text: string): number | undefined {
  if (!/^\d+(\.\d+)?(\s*,\s*\d+(\.\d+)?)*$/.test(text)) return undefined;
  return Math.max(...text.split(',').map(Number)) * 1000;
}

function untilDateMs(text: string, nowMs: number): number | undefined {
  const atMs = dateMs(text);
  return atMs === undefined ? undefined : atMs - nowMs;
}

/** Says when a pause ends, if it is long enough for a person to ask. To the minute, so that many that begin one by one say the same. */
export function untilWords(pauseMs: number, nowMs: number): string {
  if (pauseMs <= MINUTE_MS) return '';
  return ` until ${instant(Math.ceil((nowMs + pauseMs) / MINUTE_MS) * MINUTE_MS)}`;
}

/** Only the HTTP forms begin with a weekday; Date.parse would also accept much that is not a date. */
function dateMs(text: string): number | undefined {
  const ms = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
