import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { run } from '../../tools/control-plane/run.ts';
import { SCENARIOS, type ScenarioName } from '../bench/options.ts';
import { type Report, readReport } from '../bench/report.ts';

const MAIN = fileURLToPath(new URL('../bench/main.ts', import.meta.url));
const MOORING = fileURLToPath(new URL('../../bin/mooring', import.meta.url));

async function bench(...args: readonly string[]): Promise<Report & { readonly table: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
  try {
    const json = join(folder, 'figures.json');
    const { code, stdout, stderr } = await run(process.execPath, [MAIN, '--quick', '--json', json, ...args]);
    expect(code, stderr).toBe(0);
    return { ...readReport(json), table: stdout };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All scenarios but S1, in parts of about equal length. They mostly wait, so the parts run at the same time. */
const PARTS: readonly (readonly ScenarioName[])[] = [
  ['S3', 'S4', 'S5', 'S6', 'S7', 'S8', 'S10'],
  ['S9', 'S11'],
  ['S12', 'S13'],
  ['S2', 'S14', 'S15'],
];
const CROWD = ['--clusters', '2', '--spaces', '2', '--users', '2', '--standing', '3,4', '--provision', '0s'];
const SHORT = ['--quiet-polls', '1', '--outage', '1', '--storm', '1', '--churn', '1'];

/** Figures that do not depend on time, and so are the same on any machine. */
const EXPECTED: readonly (readonly [scenario: string, figure: string, value: number])[] = [
  ['S3 N=2', 'Kubernetes writes', 6],
  ['S4 N=2', 'Kubernetes writes', 0],
  ['S5 N=2', 'Kubernetes writes', 0],
  ['S6 N=2', 'update requests', 1],
  ['S7 N=2', 'Kubernetes writes', 4],
  ['S9 N=2 connections break', 'clusters changed meanwhile', 1],
  ['S11 N=2', 'deploy requests for each new cluster', 1],
  // If the copies are right, a starting operator writes nothing.
  ['S13', 'Kubernetes writes at the start', 0],
  ['S13', 'other Kubernetes writes', 0],
  ['S13', 'tokens', 2],
  ['S14', 'management calls except Lists and the new deploy', 0],
  ['S15', '3 replicas: Kubernetes writes at their start', 0],
  ['S15', 'other spaces that moved', 0],
];

it.concurrent.each(PARTS)(
  'npm run bench can run $0 and the scenarios listed with it',
  { timeout: 600_000 },
  async (...part) => {
    const { figures } = await bench('--only', part.join(','), ...CROWD, ...SHORT);
    const nameOf = (scenario: string) => scenario.split(' ')[0] ?? '';
    expect(new Set(figures.map(({ scenario }) => nameOf(scenario)))).toEqual(new Set(part));
    for (const figure of figures) expect(Number.isFinite(figure.value), JSON.stringify(figure)).toBe(true);
    const measured = (scenario: string, name: string) =>
      figures.find((one) => one.scenario === scenario && one.figure.trim() === name)?.value;
    const expected = EXPECTED.filter(([scenario]) => part.some((name) => name === nameOf(scenario)));
    expect(expected.map(([scenario, name]) => [scenario, name, measured(scenario, name)])).toEqual(expected);
  },
);

it.concurrent('npm run bench measures new clusters, with Mooring and with another operator', {
  timeout: 300_000,
}, async () => {
  // Any program that handles the resources can be the other one. Here it is Mooring, treated as unknown.
  const other = `${process.execPath} ${MOORING} controller --metrics-address=127.0.0.1:0 --health-address=127.0.0.1:0`;
  const {
    table,
    machine,
    figures,
    other: others,
  } = await bench('--only', 'S1', '--clusters', '2', '--operator', other);
  expect(table).toMatch(/^scenario +figure +value +unit +target +other/);
  expect(machine).toMatchObject({ cores: expect.any(Number), node: process.version });
  for (const each of [figures, others]) {
    expect(each.map(({ figure }) => figure)).toEqual([
      'API server answered → deploy request, p50',
      'API server answered → deploy request, p99',
      'kubectl started → deploy request, p50',
    ]);
    for (const figure of each) {
      expect(figure).toMatchObject({ scenario: 'S1', unit: 'ms', value: expect.any(Number) });
      expect([true, false, null]).toContain(figure.ok);
    }
    expect(each.map(({ target }) => target)).toEqual([undefined, 100, undefined]);
  }
});

it('These tests run all scenarios', () => {
  expect(['S1', ...PARTS.flat()].toSorted()).toEqual(SCENARIOS.toSorted());
});

it('npm run bench refuses options that it does not know', async () => {
  const { code, stderr } = await run(process.execPath, [MAIN, '--only', 'S99']);
  expect(code).toBe(2);
  expect(stderr).toContain('S99');
});
