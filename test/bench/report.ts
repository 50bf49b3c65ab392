import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { type Figure, isMet } from './figure.ts';

/** All of one run, as it is kept. */
export interface Report {
  readonly startedAt: string;
  readonly machine: {
    readonly platform: string;
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGB: number;
    readonly node: string;
  };
  readonly arguments: readonly string[];
  readonly figures: readonly (Figure & { readonly ok: boolean | null })[];
}

export function reportOf(startedAt: Date, args: readonly string[], figures: readonly Figure[]): Report {
  return {
    startedAt: startedAt.toISOString(),
    machine: {
      platform: `${process.platform} ${process.arch}`,
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      memoryGB: Math.round(totalmem() / 2 ** 30),
      node: process.version,
    },
    arguments: args,
    figures: figures.map((figure) => ({ ...figure, ok: isMet(figure) ?? null })),
  };
}

export function writeReport(path: string, report: Report): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
}

/** Throws where the file is not one of ours. */
export function readReport(path: string): Report {
  const report: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (typeof report !== 'object' || report === null || !('figures' in report) || !Array.isArray(report.figures)) {
    throw new Error(`${path} holds no figures`);
  }
  return report as Report;
}

/** The figures as a table for people; `earlier`: shown beside them, with the ratio of now to then. */
export function tableOf(figures: readonly Figure[], earlier: readonly Figure[] | undefined): string {
  const then = new Map(earlier?.map((figure) => [idOf(figure), figure.value]));
  const rows = figures.map((figure) => {
    const { scenario, unit, value, target, atLeast } = figure;
    const met = isMet(figure);
    const before = then.get(idOf(figure));
    return [
      scenario,
      figure.figure,
      shown(value),
      unit,
      target === undefined ? '' : `${atLeast ? '≥' : '≤'} ${shown(target)}`,
      met === undefined ? '' : met ? 'ok' : 'MISSED',
      ...(earlier === undefined ? [] : [before === undefined ? '' : shown(before), ratio(value, before)]),
    ];
  });
  const header = ['scenario', 'figure', 'value', 'unit', 'target', ''];
  return aligned([earlier === undefined ? header : [...header, 'earlier', 'ratio'], ...rows]);
}

function idOf({ scenario, figure, unit }: Figure): string {
  return JSON.stringify([scenario, figure, unit]);
}

function ratio(now: number, before: number | undefined): string {
  return before === undefined || before === 0 ? '' : `×${(now / before).toFixed(2)}`;
}

function shown(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

const RIGHT: ReadonlySet<number> = new Set([2, 4, 6, 7]);

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        RIGHT.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const [header = [], ...body] = rows;
  return `${[line(header), widths.map((width) => '─'.repeat(width)).join('  '), ...body.map(line)].join('\n')}\n`;
}
