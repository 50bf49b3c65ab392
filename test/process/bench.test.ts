import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../../tools/control-plane/run.ts';
import { readReport } from '../bench/report.ts';

const MAIN = fileURLToPath(new URL('../bench/main.ts', import.meta.url));

it('npm run bench measures newcomers, and leaves a table and a file', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const json = join(folder, 'figures.json');
  const args = ['--quick', '--only', 'S1', '--clusters', '2', '--json', json];
  const { code, stdout, stderr } = await run(process.execPath, [MAIN, ...args]);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^scenario +figure +value +unit +target/);

  const { machine, figures } = readReport(json);
  expect(machine).toMatchObject({ cores: expect.any(Number), node: process.version });
  expect(figures.map(({ figure }) => figure)).toEqual([
    'API server answered → deploy request, p50',
    'API server answered → deploy request, p99',
    'kubectl started → deploy request, p50',
  ]);
  for (const figure of figures) {
    expect(figure).toMatchObject({ scenario: 'S1', unit: 'ms', value: expect.any(Number) });
    expect([true, false, null]).toContain(figure.ok);
  }
  expect(figures.map(({ target }) => target)).toEqual([undefined, 100, undefined]);
});

it('npm run bench refuses options that it does not know', async () => {
  const { code, stderr } = await run(process.execPath, [MAIN, '--only', 'S99']);
  expect(code).toBe(2);
  expect(stderr).toContain('S99');
});
