import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bundle } from './bundle.ts';

/** Bundles a file with this text; returns the folder. */
async function bundled(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'tried.ts'), text);
  await bundle(folder, join(folder, 'tried.ts'));
  return folder;
}

test('bundle() writes what Node runs, without comments, and refers to external packages by name', async () => {
  const folder = await bundled(`
    // For readers only.
    const answer: number = 42;
    export const tool = async () => (await import('../../../tools/site/main.ts'));
    export default answer;`);
  const text = readFileSync(join(folder, 'dist/tried.js'), 'utf8');
  expect(text).toMatch(/tools\/site\/main\.ts/);
  expect(text).not.toMatch(/readers|number/);
  expect((await import(join(folder, 'dist/tried.js'))).default).toBe(42);
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name).toBe('mooring');
});

test('bundle() says what cannot be resolved', async () => {
  await expect(bundled("import './not-there.ts';")).rejects.toThrow('./not-there.ts');
});
