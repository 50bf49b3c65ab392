import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../../tools/control-plane/run.ts';
import { type Report, readReport } from '../bench/report.ts';

const MAIN = fileURLToPath(new URL('../bench/main.ts', import.meta.url));
const MOORING = fileURLToPath(new URL('../../bin/mooring', import.meta.url));

async function bench(...args: readonly string[]): Promise<Report & { readonly table: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const json = join(folder, 'figures.json');
  const { code, stdout, stderr } = await run(process.execPath, [MAIN, '--quick', '--json', json, ...args]);
  expect(code, stderr).toBe(0);
  return { ...readReport(json), table: stdout };
}

it('npm run bench measures newcomers, at Mooring and at another operator', { timeout: 300_000 }, async () => {
  // Any program that keeps to the resources can be the other one: here it is Mooring, of which then nothing is known.
  const other = `${process.execPath} ${MOORING} controller --metrics-address=127.0.0.1:0 --health-address=127.0.0.1:0`;
  const {
    table,
    machine,
    figures,
    other: others,
  } = await bench('--only', 'S1', '--clusters', '2', '--operator', other);
  expect(table).toMatch(/^scenario +figure +value +unit +target +other/);
  expect(machine).toMatchObject({ cores: expect.any(Number), node: process.version });
  for (const of of [figures, others]) {
    expect(of.map(({ figure }) => figure)).toEqual([
      'API server answered → deploy request, p50',
      'API server answered → deploy request, p99',
      'kubectl started → deploy request, p50',
    ]);
    for (const figure of of) {
      expect(figure).toMatchObject({ scenario: 'S1', unit: 'ms', value: expect.any(Number) });
      expect([true, false, null]).toContain(figure.ok);
    }
    expect(of.map(({ target }) => target)).toEqual([undefined, 100, undefined]);
  }
});

it('npm run bench makes objects that the operator finds in order when it starts', { timeout: 300_000 }, async () => {
  const { figures } = await bench('--only', 'S13', '--standing', '3,4', '--clusters', '1', '--churn', '1');
  const measured = (name: string) => figures.find(({ figure }) => figure.trim() === name)?.value;
  expect(measured('Kubernetes writes at the start')).toBe(0);
  expect(measured('Kubernetes writes besides them')).toBe(0);
  expect(measured('tokens')).toBe(2);
  expect(measured('changes that do not matter')).toBeGreaterThan(0);
});

it('npm run bench refuses options that it does not know', async () => {
  const { code, stderr } = await run(process.execPath, [MAIN, '--only', 'S99']);
  expect(code).toBe(2);
  expect(stderr).toContain('S99');
});
