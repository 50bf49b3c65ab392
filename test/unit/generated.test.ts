import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedFiles, renderCrds, staleFiles } from '../../src/crdgen.ts';

const ROOT = join(import.meta.dirname, '../..');

test('what is checked in is what the schemas say (else: npm run generate)', () => {
  expect(staleFiles(generatedFiles())).toEqual([]);
});

test('crds/ holds nothing else, and renderCrds() is its text', () => {
  const names = readdirSync(join(ROOT, 'crds')).sort();
  expect(names.map((name) => `crds/${name}`)).toEqual(
    [...generatedFiles().keys()].filter((path) => path.startsWith('crds/')),
  );
  expect(renderCrds()).toBe(names.map((name) => readFileSync(join(ROOT, 'crds', name), 'utf8')).join(''));
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
