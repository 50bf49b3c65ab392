import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { goModule, type PinnedModule } from '../../tools/go-module.ts';
import { applyYaml, kubectl, mustKubectl } from './control-plane.ts';

/** CustomResourceDefinitions of other projects, from their own modules. */
export const FOREIGN_KINDS = {
  Application: {
    path: 'github.com/argoproj/argo-cd/v3',
    version: 'v3.5.7',
    sum: 'h1:Xm1BF+I5OgDKUG3SDK49vn2/Y5AMyaNVko+/JT08gj0=',
    file: 'manifests/crds/application-crd.yaml',
  },
  Kustomization: {
    path: 'github.com/fluxcd/kustomize-controller',
    version: 'v1.9.6',
    sum: 'h1:XB+G3A0mky0j5uVHZWv4oSlS2RvZBoNIUhstIvY0JKE=',
    file: 'config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml',
  },
  HelmRelease: {
    path: 'github.com/fluxcd/helm-controller',
    version: 'v1.6.4',
    sum: 'h1:u/Ew7LehrwDQaE/NqWdaB3XnNDCxRGDcp1FZl7RKj4g=',
    file: 'config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml',
  },
  GitRepository: {
    path: 'github.com/fluxcd/source-controller',
    version: 'v1.9.6',
    sum: 'h1:nG534/bI6nVpyHra7ONAk6xDB3xPsVT+EOLHZHXPrrc=',
    file: 'config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml',
  },
  PrometheusRule: {
    path: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  },
} as const satisfies Readonly<Record<string, PinnedModule & { readonly file: string }>>;

export type ForeignKind = keyof typeof FOREIGN_KINDS;

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } };
}

export interface ForeignKinds {
  /** The API server's objections to the manifest, including unknown fields; empty if there are none. */
  refused(manifest: { readonly apiVersion: string }, namespace: string): Promise<string>;
  remove(): Promise<void>;
}

/** Appended to their groups, so that a cluster that has the real ones keeps them unchanged. */
const ENDING = '.test.mooring.dev';

/** Installs the schemas of these kinds in the API server. */
export async function installForeignKinds(kinds: readonly ForeignKind[]): Promise<ForeignKinds> {
  const names: string[] = [];
  for (const kind of kinds) {
    const { file, ...module } = FOREIGN_KINDS[kind];
    const definition = load(readFileSync(join(await goModule(module), file), 'utf8')) as Definition;
    const { group, names: own } = definition.spec;
    const name = `${own.plural}.${group}${ENDING}`;
    const ours = { ...definition, metadata: { name }, spec: { ...definition.spec, group: `${group}${ENDING}` } };
    await applyYaml(JSON.stringify(ours));
    names.push(`customresourcedefinition/${name}`);
  }
  await mustKubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
  return {
    refused: async (manifest, namespace) => {
      const apiVersion = manifest.apiVersion.replace('/', `${ENDING}/`);
      const input = JSON.stringify({ ...manifest, apiVersion });
      const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename=-'];
      const { code, stderr } = await kubectl([...args, `--namespace=${namespace}`], { input });
      return code === 0 ? '' : stderr;
    },
    remove: async () => void (await mustKubectl(['delete', ...names, '--ignore-not-found', '--wait=false'])),
  };
}
