import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { type Figure, isMet } from './figure.ts';

/** Everything about one run, as it is saved. */
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
  readonly figures: readonly JudgedFigure[];
  /** Figures of the other operator; absent without one. */
  readonly other: readonly JudgedFigure[];
}

type JudgedFigure = Figure & { readonly ok: boolean | null };

export function reportOf(
  startedAt: Date,
  args: readonly string[],
  figures: readonly Figure[],
  other: readonly Figure[] = [],
): Report {
  const judged = (figure: Figure) => ({ ...figure, ok: isMet(figure) ?? null });
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
    figures: figures.map(judged),
    other: other.map(judged),
  };
}

export function writeReport(path: string, report: Report): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
}

/** Throws if the file is not one of ours. */
export function readReport(path: string): Report {
  const report: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (typeof report !== 'object' || report === null || !('figures' in report) || !Array.isArray(report.figures)) {
    throw new Error(`${path} holds no figures`);
  }
  return report as Report;
}

/** What to show beside the figures. */
export interface Beside {
  /** The figures of an earlier run, with the ratio of now to then. */
  readonly earlier?: readonly Figure[] | undefined;
  /** The figures of another operator in this run. */
  readonly other?: readonly Figure[] | undefined;
}

/** Returns the figures as a table for people. Figures that only the other operator has get rows of their own. */
export function tableOf(figures: readonly Figure[], { earlier, other }: Beside = {}): string {
  const valuesOf = (some: readonly Figure[]) => new Map(some.map((figure) => [idOf(figure), figure.value]));
  const own = valuesOf(figures);
  const then = valuesOf(earlier ?? []);
  const others = valuesOf(other ?? []);
  const foreign = (other ?? []).filter((figure) => !own.has(idOf(figure)));
  const rows = [...figures, ...foreign].map((figure) => {
    const { scenario, unit, target, atLeast } = figure;
    const id = idOf(figure);
    const [value, before, theirs] = [own.get(id), then.get(id), others.get(id)];
    const met = value === undefined ? undefined : isMet(figure);
    return [
      scenario,
      figure.figure,
      shownOr(value),
      unit,
      target === undefined ? '' : `${atLeast ? '≥' : '≤'} ${shown(target)}`,
      met === undefined ? '' : met ? 'ok' : 'MISSED',
      ...(other === undefined ? [] : [shownOr(theirs)]),
      ...(earlier === undefined ? [] : [shownOr(before), ratio(value, before)]),
    ];
  });
  const header = ['scenario', 'figure', 'value', 'unit', 'target', ''];
  if (other !== undefined) header.push('other');
  if (earlier !== undefined) header.push('earlier', 'ratio');
  return aligned([header, ...rows]);
}

function idOf({ scenario, figure, unit }: Figure): string {
  return JSON.stringify([scenario, figure, unit]);
}

function ratio(now: number | undefined, before: number | undefined): string {
  return now === undefined || before === undefined || before === 0 ? '' : `×${(now / before).toFixed(2)}`;
}

function shownOr(value: number | undefined): string {
  return value === undefined ? '' : shown(value);
}

function shown(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

const RIGHT: ReadonlySet<number> = new Set([2, 4, 6, 7, 8]);

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
