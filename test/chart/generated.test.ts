import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, loadAll } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { staleFiles } from '../../src/crdgen.ts';
import { VERSION } from '../../src/version.ts';
import { chartFiles, ROOT, renderedFiles } from '../../tools/helm/generate.ts';
import { builtHelm } from '../../tools/helm/helm.ts';
import { typesOf, WANTED } from '../../tools/helm/kubernetes-types.ts';
import { kubectl, mustKubectl } from '../support/control-plane.ts';

const BUILD_MS = 600_000;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

let helm: string;

beforeAll(async () => {
  helm = await builtHelm({ log: (line) => console.log(line) });
}, BUILD_MS);

describe('generated files match the chart (if not: npm run generate)', () => {
  test('schema and table of values', () => expect(staleFiles(chartFiles())).toEqual([]));
  test('deploy/', async () => expect(staleFiles(await renderedFiles(helm))).toEqual([]));
});

test('the chart has the version of the package', () => {
  expect(load(read('charts/mooring/Chart.yaml'))).toMatchObject({ version: VERSION, appVersion: VERSION });
});

test('Kubernetes types in the schema are those of the API server', async () => {
  const documents = new Map<string, unknown>();
  for (const path of Object.keys(WANTED)) documents.set(path, JSON.parse(await mustKubectl(['get', '--raw', path])));
  expect(JSON.parse(read('tools/helm/kubernetes-types.json'))).toEqual(typesOf(documents));
});

test('kubectl kustomize deploy/base gives deploy/install.yaml', async () => {
  const { stdout, stderr } = await kubectl(['kustomize', join(ROOT, 'deploy/base')]);
  expect(stderr).toBe('');
  const byName = (text: string) =>
    new Map(
      loadAll(text).map((object) => {
        const { kind, metadata } = object as { kind: string; metadata: { name: string } };
        return [`${kind}/${metadata.name}`, object];
      }),
    );
  const base = byName(stdout);
  expect(base.size).toBeGreaterThan(10);
  expect(base).toEqual(byName(read('deploy/install.yaml')));
});
