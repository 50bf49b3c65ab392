import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GROUP } from '../../../src/base/group.ts';
import { type Api, installCrds, openApi } from '../../kube/api.ts';
import { adminKubeconfig, makeNamespace, mustKubectl } from '../../support/control-plane.ts';
import { type ForeignKinds, installForeignKinds } from '../../support/foreign-kinds.ts';
import { ROOT, readDocument } from '../../support/readme.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Record<string, string>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

const DOWNLOAD_MS = 10 * 60_000;
const FILES = globSync('deploy/{argocd,flux}/{,databases/}*.yaml', { cwd: ROOT }).toSorted();
const manifestsOf = (path: string) => loadAll(readFileSync(join(ROOT, path), 'utf8')) as Manifest[];

let api: Api;
let foreign: ForeignKinds;
let namespace: string;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  await installCrds(api);
  foreign = await installForeignKinds(['Application', 'Kustomization', 'HelmRelease', 'GitRepository']);
  namespace = await makeNamespace();
}, DOWNLOAD_MS);

afterAll(async () => {
  await foreign?.remove();
  await api?.close();
});

describe('examples for Argo CD and Flux', () => {
  test('are all listed here', () => {
    expect(FILES).toEqual([
      'deploy/argocd/applications.yaml',
      'deploy/argocd/argocd-cm.yaml',
      'deploy/argocd/databases/orders.yaml',
      'deploy/argocd/databases/space.yaml',
      'deploy/flux/databases.yaml',
      'deploy/flux/mooring.yaml',
    ]);
  });

  test.each(['deploy/argocd/applications.yaml', 'deploy/flux/databases.yaml', 'deploy/flux/mooring.yaml'])(
    '%s: the API server knows every field, by the schemas of Argo CD and Flux',
    async (path) => {
      for (const manifest of manifestsOf(path)) {
        const { namespace: _, ...metadata } = manifest.metadata;
        expect(await foreign.refused({ ...manifest, metadata } as Manifest, namespace)).toBe('');
      }
    },
  );

  test('deploy/flux/mooring.yaml: Flux rolls no upgrade back, which would bring back the older CustomResourceDefinitions', () => {
    const release = manifestsOf('deploy/flux/mooring.yaml').find(({ kind }) => kind === 'HelmRelease');
    // Flux remediates an upgrade by a rollback, unless it is told to retry.
    expect(release?.spec['upgrade']).toEqual({ crds: 'Skip', strategy: { name: 'RetryOnFailure' } });
  });

  test('A misspelling would be found', async () => {
    const [application] = manifestsOf('deploy/argocd/applications.yaml');
    const { namespace: _, ...metadata } = application?.metadata ?? { name: '' };
    const wrong = { ...application, metadata, spec: { ...application?.spec, syncPolicies: {} } } as Manifest;
    expect(await foreign.refused(wrong, namespace)).toContain('.spec.syncPolicies: field not declared in schema');
  });

  test.each(['deploy/argocd/databases/space.yaml', 'deploy/argocd/databases/orders.yaml'])(
    '%s: the API server accepts every object',
    async (path) => {
      const args = [
        'apply',
        '--server-side',
        '--dry-run=server',
        '--validate=strict',
        `--filename=${join(ROOT, path)}`,
      ];
      await mustKubectl([...args, `--namespace=${namespace}`]);
    },
  );

  test('argocd-cm merges into the existing one, and leaves the rest', async () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'argocd-cm' }, data: { url: 'https://a' } };
    await mustKubectl(['create', `--namespace=${namespace}`, '--filename=-'], { input: JSON.stringify(other) });
    const text = readDocument('deploy/argocd/argocd-cm.yaml').replace('namespace: argocd', `namespace: ${namespace}`);
    await mustKubectl(['apply', '--server-side', '--field-manager=mooring', '--filename=-'], { input: text });
    const shown = await mustKubectl(['get', 'configmap/argocd-cm', `--namespace=${namespace}`, '--output=json']);
    const { data } = JSON.parse(shown) as { data: Readonly<Record<string, string>> };
    expect(data['url']).toBe('https://a');
    expect(Object.keys(data)).toContain(`resource.customizations.health.${GROUP}_DatabaseCluster`);
  });

  test('Waves follow references between objects', () => {
    const all = ['space', 'orders'].flatMap((name) => manifestsOf(`deploy/argocd/databases/${name}.yaml`));
    const waves = all.map(({ kind, metadata }) => [kind, metadata.annotations?.['argocd.argoproj.io/sync-wave']]);
    expect(Object.fromEntries(waves)).toEqual({
      DatabaseSpace: '0',
      DatabaseCluster: '1',
      Database: '2',
      DatabaseUser: '2',
    });
  });
});
