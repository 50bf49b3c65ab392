import { type Figure, isMet } from './figure.ts';
import type { Beside } from './report.ts';

const ROW = 26;
const LEFT = 420;
const BAR = 320;
const TOP = 56;

/**
 * Returns the figures that have a target as a picture (SVG). Each bar shows how much of its target was used; the line is the
 * target. Below it, a thin grey bar shows an earlier run, and a thin blue one another operator.
 */
export function chartOf(figures: readonly Figure[], title: string, { earlier, other }: Beside = {}): string {
  const thin = [
    { figures: earlier ?? [], colour: '#9a9a9a' },
    { figures: other ?? [], colour: '#2f6db5' },
  ].filter(({ figures }) => figures.length > 0);
  const judged = figures.filter(({ target }) => target !== undefined && target > 0);
  const height = TOP + judged.length * ROW + 24;
  const width = LEFT + BAR * 1.5 + 120;
  const rows = judged.map((figure, index) => row(figure, TOP + index * ROW, thin));
  const line = LEFT + BAR;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    `<text x="16" y="24" font-size="16">${escaped(title)}</text>`,
    `<text x="${line}" y="44" text-anchor="middle" fill="#555555">target</text>`,
    `<line x1="${line}" x2="${line}" y1="${TOP - 6}" y2="${height - 16}" stroke="#555555" stroke-dasharray="4 3"/>`,
    ...rows,
    '</svg>\n',
  ].join('\n');
}

interface ThinBars {
  readonly figures: readonly Figure[];
  readonly colour: string;
}

function row(figure: Figure, y: number, thin: readonly ThinBars[]): string {
  const { scenario, figure: name, value, target = 1, unit } = figure;
  const colour = isMet(figure) ? '#2a7f4f' : '#b3372c';
  const bars = thin.flatMap(({ figures, colour: fill }, index) => {
    const same = figures.find((one) => one.scenario === scenario && one.figure === name);
    const top = y + 15 + index * 4;
    const bar =
      same && `<rect x="${LEFT}" y="${top}" width="${widthOf(same.value, target)}" height="3" fill="${fill}"/>`;
    return bar === undefined ? [] : [bar];
  });
  return [
    `<text x="${LEFT - 10}" y="${y + 12}" text-anchor="end">${escaped(`${scenario}: ${name}`)}</text>`,
    `<rect x="${LEFT}" y="${y + 2}" width="${widthOf(value, target)}" height="12" fill="${colour}"/>`,
    ...bars,
    `<text x="${LEFT + widthOf(value, target) + 6}" y="${y + 12}">${shown(value)} of ${shown(target)} ${unit}</text>`,
  ].join('\n');
}

/** A figure far beyond its target stays within the picture. */
function widthOf(value: number, target: number): number {
  return Math.round(Math.min(value / target, 1.5) * BAR);
}

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
