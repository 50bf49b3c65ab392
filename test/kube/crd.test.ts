import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { API_VERSION } from '../../src/base/group.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { fieldsOf, resourceSchema } from '../../src/kube/crd/crd.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { type Api, collectionPath, createNamespace, installCrds, openApi } from './api.ts';
import { VALID } from './samples.ts';

const ROOT = join(import.meta.dirname, '../..');
const SAMPLES = join(ROOT, 'deploy/samples');

let controlPlane: ControlPlane;
let api: Api;
let namespace: string;

beforeAll(async () => {
  controlPlane = await startControlPlane();
  api = await openApi(controlPlane.kubeconfig);
  await installCrds(api);
  namespace = await createNamespace(api);
}, 600_000);

afterAll(async () => {
  await api?.send('DELETE', `/api/v1/namespaces/${namespace}`);
  await api?.close();
  await controlPlane?.stop();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const common = [`--kubeconfig=${controlPlane.kubeconfig}`, `--cache-dir=${join(controlPlane.directory, 'cache')}`];
  const { stdout } = await promisify(execFile)(controlPlane.kubectl, [...common, `--namespace=${namespace}`, ...args]);
  return stdout;
}

async function create(kind: keyof typeof VALID, name: string, spec = VALID[kind]) {
  const object = { apiVersion: API_VERSION, kind, metadata: { name }, spec };
  const answer = await api.send('POST', collectionPath(kind, namespace), object);
  expect(answer.causes).toEqual([]);
  return answer.body as { spec: Record<string, unknown>; status: Record<string, unknown> };
}

describe('the CustomResourceDefinitions', () => {
  test.each(definitions)('of $kind is established, with its names', async ({ plural, shortNames }) => {
    const { body } = await api.send(
      'GET',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.mooring.dev`,
    );
    const { conditions, acceptedNames } = (body as { status: Record<string, unknown> }).status;
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'Established', status: 'True' }));
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'NamesAccepted', status: 'True' }));
    expect(conditions).not.toContainEqual(expect.objectContaining({ type: 'NonStructuralSchema', status: 'True' }));
    expect(acceptedNames).toMatchObject({ plural, shortNames, categories: ['mooring'] });
  });

  test('are accepted by kubectl apply, which must fit them into an annotation', async () => {
    const applied = await kubectl('apply', '--dry-run=server', '-f', join(ROOT, 'crds'));
    expect(applied.trim().split('\n')).toHaveLength(definitions.length);
  });
});

describe('an object as the API server stores it', () => {
  test('is in progress before the operator has seen it', async () => {
    expect((await create('DatabaseCluster', 'unseen')).status).toEqual({ observedGeneration: -1 });
    expect((await create('DatabaseSpace', 'unseen')).status).toEqual({ observedGeneration: -1 });
  });

  test('has the defaults of the schema, and nothing else that the user did not write', async () => {
    expect((await create('DatabaseCluster', 'defaults')).spec).toEqual({
      ...VALID.DatabaseCluster,
      serverCount: 1,
      isFree: false,
      state: 'Running',
      adoptionPolicy: 'Never',
      recreatePolicy: 'Never',
      driftPolicy: 'Revert',
      managementPolicy: 'Manage',
      deletionPolicy: 'Retain',
      deletionProtection: false,
      allowUnlisted: false,
    });
    expect((await create('DatabaseSpace', 'defaults')).spec).toEqual({
      ...VALID.DatabaseSpace,
      serverURL: 'https://{host}:{port}',
      pollInterval: '60s',
      verifyInterval: '10m',
    });
  });

  test("equals what the operator parses from the user's manifest alone", async () => {
    for (const definition of definitions) {
      const raw = VALID[definition.kind as keyof typeof VALID];
      const { spec } = await create(definition.kind as keyof typeof VALID, 'parsed');
      expect(definition.spec.parse(raw)).toEqual(spec);
    }
  });

  test('loses fields that are not in the schema', async () => {
    const { spec } = await create('DatabaseCluster', 'pruned', { ...VALID.DatabaseCluster, replicas: 3 });
    expect(spec).not.toHaveProperty('replicas');
  });
});

describe('deploy/samples', () => {
  test('can be applied as one folder, as they are', async () => {
    const applied = await kubectl('apply', '-f', SAMPLES);
    expect(applied).not.toContain('unchanged');
    // Both ways in which GitOps tools compare: defaults of the schema are no differences.
    expect(await kubectl('diff', '-f', SAMPLES)).toBe('');
    expect(await kubectl('diff', '--server-side', '--field-manager=kubectl-client-side-apply', '-f', SAMPLES)).toBe('');
  });

  /** Lines that begin with # and no space are further fields that the sample does not use. */
  function withCommented(file: string): readonly unknown[] {
    return loadAll(readFileSync(join(SAMPLES, file), 'utf8').replace(/^(\s*)#(?=\S)/gm, '$1'));
  }

  test.each(['space.yaml', 'cluster-complete.yaml'])('%s is valid with its commented fields too', async (file) => {
    for (const object of withCommented(file)) {
      const { kind } = object as { kind: string };
      const sample = { ...(object as object), metadata: { generateName: 'sample-' } };
      const answer = await api.send(
        'POST',
        `${collectionPath(kind, namespace)}?dryRun=All&fieldValidation=Strict`,
        sample,
      );
      expect(answer.causes).toEqual([]);
    }
  });

  test.each([
    ['space.yaml', 'DatabaseSpace'],
    ['cluster-complete.yaml', 'DatabaseCluster'],
    ['user-complete.yaml', 'DatabaseUser'],
    ['database-complete.yaml', 'Database'],
  ])('%s shows every field of a %s', (file, kind) => {
    const shown = pathsIn(specOf(withCommented(file)[0]), 'spec');
    const definition = definitions.find((each) => each.kind === kind);
    const schema = definition && resourceSchema(definition).properties?.['spec'];
    const fields = fieldsOf(schema ?? {}, 'spec');
    const elsewhere = [/^spec\.cloneFrom\.clusterID$/, /Key$/, kind === 'DatabaseSpace' ? /\.selector/ : /$^/];
    const missing = fields.map(({ path }) => path).filter((path) => !shown.has(path));
    expect(missing.filter((path) => !elsewhere.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  test('are all files in the folder', () => {
    expect(readdirSync(SAMPLES).sort()).toEqual([
      'app',
      'cluster-complete.yaml',
      'cluster.yaml',
      'database-complete.yaml',
      'database.yaml',
      'secrets.yaml',
      'space.yaml',
      'user-complete.yaml',
      'user.yaml',
    ]);
  });
});

function specOf(object: unknown): unknown {
  return (object as { spec: unknown }).spec;
}

function pathsIn(value: unknown, path: string): Set<string> {
  if (Array.isArray(value)) return new Set([path, ...value.flatMap((item) => [...pathsIn(item, `${path}[]`)])]);
  if (typeof value !== 'object' || value === null) return new Set([path]);
  return new Set([path, ...Object.entries(value).flatMap(([name, child]) => [...pathsIn(child, `${path}.${name}`)])]);
}

describe('kubectl', () => {
  test.each(definitions)('explain describes every field of a $kind', { timeout: 60_000 }, async (definition) => {
    const fields = fieldsOf(resourceSchema(definition), definition.plural).slice(1);
    expect(fields.length).toBeGreaterThan(20);
    // One call per object shows all its fields, once the API server has published them.
    const parents = new Set(fields.map(({ path }) => path.slice(0, path.lastIndexOf('.'))));
    const shown = new Map<string, string>();
    for (const parent of parents) {
      const path = parent.replaceAll(/\[\]|\{\}/g, '');
      const text = await vi.waitFor(() => kubectl('explain', path), { timeout: 30_000, interval: 250 });
      for (const [name, description] of explainedFields(text)) shown.set(`${path}.${name}`, description);
    }
    const words = (text: string | undefined) => text?.replaceAll(/\s+/g, ' ').trim();
    for (const { path, schema } of fields) {
      expect.soft(words(shown.get(path.replaceAll(/\[\]|\{\}/g, ''))), path).toContain(words(schema.description));
    }
  });

  test('get mooring lists every kind, with columns', { timeout: 30_000 }, async () => {
    await create('DatabaseSpace', 'shown');
    const cluster = await create('DatabaseCluster', 'shown');
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Healthy',
      message: '',
      lastTransitionTime: '2026-11-20T10:00:00Z',
    };
    const observed = { machineType: 'c2d-highcpu-4', storageSizeGB: 100 };
    const status = {
      state: 'running',
      version: '3.5.0',
      endpoint: 'https://db:8000',
      observed,
      conditions: [condition],
    };
    const written = await api.send('PUT', `${collectionPath('DatabaseCluster', namespace)}/shown/status`, {
      ...cluster,
      status,
    });
    expect(written.causes).toEqual([]);

    const rows = await vi.waitFor(
      async () => {
        const text = await kubectl('get', 'mooring');
        expect(text).toContain('databasespace.mooring.dev/shown');
        expect(text).toContain('databasecluster.mooring.dev/shown');
        return text.split('\n');
      },
      { timeout: 20_000, interval: 250 },
    );
    const rowOf = (name: string) =>
      rows
        .find((row) => row.startsWith(name))
        ?.split(/\s{2,}/)
        .slice(1, -1);
    expect(rowOf('databasespace.mooring.dev/shown')).toEqual(['acme', 'production']);
    expect(rowOf('databasecluster.mooring.dev/shown')).toEqual(['True', 'Healthy', 'running', '3.5.0']);

    const wide = await kubectl('get', 'dbc', 'shown', '--output=wide', '--no-headers');
    expect(wide.split(/\s{2,}/).slice(5, 9)).toEqual(['https://db:8000', 'c2d-highcpu-4', '100', 'Retain']);
  });
});

/** Parses the FIELDS of `kubectl explain`: name → description. */
function explainedFields(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let name = '';
  for (const line of text.split('FIELDS:\n')[1]?.split('\n') ?? []) {
    const field = /^ {2}(\S+)\t/.exec(line)?.[1];
    if (field !== undefined) name = field;
    else if (name !== '') fields.set(name, `${fields.get(name) ?? ''}${line}\n`);
  }
  return fields;
}
