import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

test.each([
  ['0s', 0],
  ['250ms', 250],
  ['60s', 60_000],
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['2160h', 7_776_000_000],
])('parseDuration() reads %s as %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  ['0s', 0],
  ['60ms', 60],
  ['1s500ms', 1_500],
  ['1h30m', 5_400_000],
  ['4h', 14_400_000],
])('formatDuration() writes %s for %d ms', (text, ms) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each(['', '60', '1d', '-1s', '1.5h', ' 1s', '1s ', '100000h', 's'])(
  'parseDuration() refuses "%s" and shows how to write one',
  (text) => {
    expect(() => parseDuration(text)).toThrow(`Not a duration: "${text}", write it like 60s, 10m or 2160h`);
  },
);
