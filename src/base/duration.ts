/** A duration as users write it: `60s`, `10m`, `1h30m`, `2160h` (the subset of Go's that Gateway API takes, GEP-2257). */
export const DURATION_PATTERN = /^([0-9]{1,5}(h|m|s|ms)){1,4}$/;

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** As a person would write it: `4h`, `1h30m`, `1s500ms`. */
export function formatDuration(milliseconds: number): string {
  let rest = milliseconds;
  const parts = Object.entries(UNIT_MS).flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? [] : [`${count}${unit}`];
  });
  return parts.length === 0 ? '0s' : parts.join('');
}

/** The milliseconds of a duration text. Throws RangeError on text that DURATION_PATTERN does not match. */
export function parseDuration(text: string): number {
  if (!DURATION_PATTERN.test(text)) throw new RangeError(`Not a duration: "${text}", write it like 60s, 10m or 2160h`);
  let total = 0;
  for (const [, count, unit] of text.matchAll(/([0-9]+)(ms|h|m|s)/g))
    total += Number(count) * (UNIT_MS[unit ?? ''] ?? 0);
  return total;
}
