import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MODULE_FOLDER, moduleText, readVersions } from './versions.ts';

test('readVersions() reads what go.mod pins', () => {
  const text =
    'module m\n\ngo 1.26.0\n\nrequire (\n\tgo.etcd.io/etcd/server/v3 v3.6.8\n\tk8s.io/kubernetes v1.36.3\n)\n';
  expect(readVersions(text)).toEqual({ kubernetes: 'v1.36.3', etcd: 'v3.6.8', go: '1.26' });
});

test('the staging modules have the version that belongs to Kubernetes', () => {
  const text = moduleText('go.mod');
  const { kubernetes } = readVersions(text);
  const client = /k8s\.io\/client-go v0(\S+)/.exec(text)?.[1];
  expect(`v1${client}`).toBe(kubernetes);
});

test('readVersions() names what is missing', () => {
  expect(() => readVersions('module m\n')).toThrow('does not name k8s.io/kubernetes');
});

test('programs made from the libraries of Kubernetes use one version of each module, so that Go compiles it once', () => {
  const texts = globSync('../*/go.mod', { cwd: MODULE_FOLDER })
    .map((file) => readFileSync(join(MODULE_FOLDER, file), 'utf8'))
    .filter((text) => text.includes('k8s.io/'));
  const versions = new Map<string, Set<string>>();
  for (const [, path = '', version = ''] of texts.join('\n').matchAll(/^\t(\S+) (v\S+)/gm))
    versions.set(path, (versions.get(path) ?? new Set()).add(version));
  expect(versions.size).toBeGreaterThan(100);
  const several = [...versions].filter(([, each]) => each.size > 1);
  expect(several.map(([path, each]) => `${path}: ${[...each].join(', ')}`)).toEqual([]);
});
