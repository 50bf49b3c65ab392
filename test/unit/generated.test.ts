import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedFiles, renderCrds, staleFiles } from '../../src/crdgen.ts';
import { run } from '../../tools/control-plane/run.ts';

const ROOT = join(import.meta.dirname, '../..');

function readPackage(): { readonly scripts: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
}

test('generated files match the schemas (if not: npm run generate)', () => {
  expect(staleFiles(generatedFiles())).toEqual([]);
});

test('crds/ contains nothing else, and renderCrds() is its text', () => {
  const names = readdirSync(join(ROOT, 'crds')).sort();
  expect(names.map((name) => `crds/${name}`)).toEqual(
    [...generatedFiles().keys()].filter((path) => path.startsWith('crds/')),
  );
  expect(renderCrds()).toBe(names.map((name) => readFileSync(join(ROOT, 'crds', name), 'utf8')).join(''));
});

test('npm run generate starts, and compares the files', async () => {
  const command = (readPackage().scripts['generate'] ?? '').split(' && ')[0] ?? '';
  const [node, ...args] = command.split(' ');
  expect(node).toBe('node');
  const { stdout } = await run(process.execPath, [...args, '--check'], { cwd: ROOT });
  expect(stdout).toMatch(/^\d+ files are what the schemas say$|: Run npm run generate$/m);
});

test('staleFiles() names files that differ or are missing', () => {
  expect(
    staleFiles(
      new Map([
        ['README.nowhere', ''],
        ['package.json', 'other'],
      ]),
    ),
  ).toEqual(['README.nowhere', 'package.json']);
});
