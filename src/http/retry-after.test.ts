import { expect, test } from 'vitest';
import { retryAfterMs, untilWords } from './retry-after.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 0, 0);

test.each([
  ['5', 5_000],
  [' 0 ', 0],
  ['1.5', 1_500],
  ['Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
  ['Friday, 20-Nov-26 10:00:30 GMT', 30_000],
  ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
  ['999999999', 600_000],
  // The header came twice, for example from a server and from a proxy.
  ['5, 30', 30_000],
  ['30,5', 30_000],
  ['Fri, 20 Nov 2099 10:00:00 GMT', 600_000],
  ['', undefined],
  [undefined, undefined],
  ['soon', undefined],
  ['-5', undefined],
  ['5, soon', undefined],
  ['Fri, nonsense', undefined],
  ['2026-11-20', undefined],
])('retryAfterMs() reads %j as %s', (header, expected) => {
  expect(retryAfterMs({ ...(header === undefined ? {} : { 'retry-after': header }) }, NOW)).toBe(expected);
});

test.each([
  ['two minutes ahead', 'Fri, 20 Nov 2026 10:02:00 GMT', 'Fri, 20 Nov 2026 10:02:30 GMT'],
  ['a day behind', 'Thu, 19 Nov 2026 10:00:00 GMT', 'Thu, 19 Nov 2026 10:00:30 GMT'],
])('retryAfterMs() counts a date from the clock that it is by, which is %s', (_, date, header) => {
  expect(retryAfterMs({ date, 'retry-after': header }, NOW)).toBe(30_000);
});

test('retryAfterMs() counts a date from its own clock if the answer names no time', () => {
  expect(retryAfterMs({ date: 'now', 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT' }, NOW)).toBe(30_000);
  expect(retryAfterMs({ date: 'Thu, 19 Nov 2026 10:00:00 GMT', 'retry-after': '5' }, NOW)).toBe(5_000);
});

test.each([
  [60_000, ''],
  [60_001, ' until 2023-11-14T22:15:00Z'],
  [99_000, ' until 2023-11-14T22:15:00Z'],
  [600_000, ' until 2023-11-14T22:24:00Z'],
])('untilWords() says when a pause of %d ms ends, to the minute, if it is long', (pauseMs, words) => {
  expect(untilWords(pauseMs, Date.parse('2023-11-14T22:13:20Z'))).toBe(words);
});
