import { expect, test } from 'vitest';
import { chartOf } from '../../bench/chart.ts';
import type { Figure } from '../../bench/figure.ts';

const figures: readonly Figure[] = [
  { scenario: 'S3', figure: 'writes <of Kubernetes>', unit: 'per cluster', value: 3, target: 6 },
  { scenario: 'S4', figure: 'CPU', unit: 's', value: 12 },
  { scenario: 'S5', figure: 'done', unit: 's', value: 100, target: 10 },
];

test('chartOf() draws what has a target, as its share of that, and no further than the picture', () => {
  const svg = chartOf(figures, 'A & B', {
    earlier: [{ ...figures[0], value: 6 } as Figure],
    other: [{ ...figures[0], value: 9 } as Figure],
  });
  expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  expect(svg).toContain('A &amp; B');
  expect(svg).toContain('S3: writes &lt;of Kubernetes&gt;');
  expect(svg).not.toContain('CPU');
  const widths = [...svg.matchAll(/<rect x="420" [^>]*width="(\d+)"/g)].map((match) => Number(match[1]));
  expect(widths).toEqual([160, 320, 480, 480]);
  expect(svg).toContain('#2a7f4f');
  expect(svg).toContain('#b3372c');
});
