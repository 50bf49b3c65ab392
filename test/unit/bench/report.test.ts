import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Sheet } from '../../bench/figure.ts';
import { parseOptions } from '../../bench/options.ts';
import { readReport, reportOf, tableOf, writeReport } from '../../bench/report.ts';

function aSheet(): Sheet {
  const sheet = new Sheet('S1');
  sheet.add('fast', 80.04, 'ms', 100);
  sheet.add('slow', 120, 'ms', 100);
  sheet.add('for information', 3, 'count');
  return sheet;
}

describe('tableOf()', () => {
  it('shows which targets are missed', () => {
    const [, , fast, slow, information] = tableOf(aSheet().figures).split('\n');
    expect(fast).toMatch(/S1 +fast +80.0 +ms +≤ 100 +ok$/);
    expect(slow).toMatch(/slow +120 +ms +≤ 100 +MISSED$/);
    expect(information).toMatch(/for information +3 +count$/);
  });

  it('shows what must not be less than its target', () => {
    const sheet = new Sheet('S12');
    sheet.addAtLeast('goodput', 0.99, 'share', 0.95);
    sheet.addAtLeast('fairness', 0.5, 'share', 0.95);
    const [, , goodput, fairness] = tableOf(sheet.figures).split('\n');
    expect(goodput).toMatch(/≥ 0.95 +ok$/);
    expect(fairness).toMatch(/≥ 0.95 +MISSED$/);
  });

  it('shows an earlier run beside it, with the ratio, where that has the figure', () => {
    const earlier = new Sheet('S1');
    earlier.add('slow', 60, 'ms', 100);
    const [, , fast, slow] = tableOf(aSheet().figures, { earlier: earlier.figures }).split('\n');
    expect(slow).toMatch(/MISSED +60 +×2.00$/);
    expect(fast).toMatch(/ok$/);
  });

  it('shows another operator beside it, and in a row of its own what only that one did', () => {
    const other = new Sheet('S1');
    other.add('slow', 60, 'ms', 100);
    other.add('  suspend', 7, 'count');
    const [header, , fast, slow, , suspend] = tableOf(aSheet().figures, { other: other.figures }).split('\n');
    expect(header).toMatch(/target +other$/);
    expect(fast).toMatch(/ok$/);
    expect(slow).toMatch(/MISSED +60$/);
    expect(suspend).toMatch(/suspend +count +7$/);
  });
});

describe('writeReport()', () => {
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'bench-report-'));
    onTestFinished(() => rmSync(path, { recursive: true }));
    return path;
  };

  it('makes the folder, and keeps what readReport() gives back', () => {
    const path = join(folder(), 'results', 'one.json');
    const report = reportOf(new Date(0), ['--quick'], aSheet().figures);
    writeReport(path, report);
    expect(readReport(path)).toEqual(report);
    expect(report.figures.map(({ ok }) => ok)).toEqual([true, false, null]);
  });

  it('is not taken from a file that holds something else', () => {
    const path = join(folder(), 'other.json');
    writeFileSync(path, '[]');
    expect(() => readReport(path)).toThrow('holds no figures');
  });
});

describe('parseOptions()', () => {
  it('measures all of it by default', () => {
    expect(parseOptions([])).toMatchObject({ only: [], newcomers: 50, crowds: [100, 1000] });
  });

  it('takes --clusters for the crowd, and for newcomers at most', () => {
    expect(parseOptions(['--clusters', '2000'])).toMatchObject({ newcomers: 50, crowds: [2000] });
    expect(parseOptions(['--clusters', '3'])).toMatchObject({ newcomers: 3, crowds: [3] });
  });

  it('takes another operator by its command line', () => {
    expect(parseOptions([]).other).toBeUndefined();
    expect(parseOptions(['--operator', 'other --flag']).other).toEqual({
      command: 'other --flag',
      readyURL: undefined,
    });
  });

  it('takes how long something goes on', () => {
    const args = ['--quiet-polls', '360', '--outage', '3600', '--spaces', '1,10'];
    expect(parseOptions(args)).toMatchObject({ quietPolls: 360, outageS: 3600, spaces: [1, 10] });
  });

  it('takes --standing for what is there already', () => {
    expect(parseOptions(['--standing', '10000,20000']).standing).toEqual({ clusters: 10_000, users: 20_000 });
    expect(parseOptions(['--quick']).standing).toEqual({ clusters: 200, users: 200 });
  });

  it.each([
    [['--only', 'S1,S99'], 'S9'],
    [['--clusters', '0'], '--clusters'],
    [['--clusters', '10001'], '--clusters'],
    [['--standing', '10001,1'], '--standing'],
    [['--standing', '10'], '--standing'],
    [['--spaces', '1,'], '--spaces'],
    [['--outage', 'hour'], '--outage'],
    [['--unknown'], 'unknown'],
  ])('refuses %j', (args, what) => {
    expect(() => parseOptions(args)).toThrow(what);
  });
});
