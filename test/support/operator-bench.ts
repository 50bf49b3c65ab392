import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ABANDON } from '../../src/kube/annotations.ts';
import { type Api, installCrds, openApi } from '../kube/api.ts';
import { adminKubeconfig, applyYaml, kubeconfigFor, waitUntil } from './control-plane.ts';
import { TEST_LABEL } from './control-plane-setup.ts';
import { type OperatorProcess, startOperator } from './operator.ts';
import { type ServedCloudOptions, startCloud } from './served-cloud.ts';
import { createSite, type Site } from './site.ts';

const RBAC = ['namespace', 'rbac'].map((name) => join(import.meta.dirname, `../../deploy/base/${name}.yaml`));

/** An operator that runs for all tests of a file, and a namespace with a cloud for each test. */
export interface OperatorBench {
  readonly operator: OperatorProcess;
  readonly api: Api;
  /** A namespace that the operator watches, and a cloud. Both end in `onTestFinished`. */
  site(context: TestContext, options?: ServedCloudOptions): Promise<Site>;
  close(): Promise<void>;
}

/** The part of a test's context that is needed. */
export interface TestContext {
  onTestFinished(run: () => Promise<void>): void;
}

/** Installs the CRDs and the rules of deploy/base/rbac.yaml; returns the kubeconfig of the operator's service account. */
export async function installOperator(api: Api): Promise<string> {
  await installCrds(api);
  for (const path of RBAC) await applyYaml(readFileSync(path, 'utf8'));
  return kubeconfigFor({ namespace: 'mooring-system', name: 'mooring' });
}

export async function createNamespace(api: Api, name: string): Promise<void> {
  const metadata = { name, labels: { [TEST_LABEL]: '' } };
  const { status, causes } = await api.send('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata,
  });
  if (status >= 300) throw new Error(`Cannot create namespace ${name}: ${causes.join(', ')}`);
}

/** Spare places of a bench: a repeated test gets another one, away from what its first try left. */
export const SPARE_PLACES = 3;

/** `sites`: the maximum number of tests. */
export async function startBench(sites: number, args: readonly string[] = []): Promise<OperatorBench> {
  const api = await openApi(adminKubeconfig());
  const kubeconfig = await installOperator(api);
  const prefix = `op-${randomUUID().slice(0, 8)}`;
  const namespaces = Array.from({ length: sites + SPARE_PLACES }, (_, index) => `${prefix}-${index}`);
  const operator = await startOperator({ kubeconfig, namespaces, args });
  const free = [...namespaces];
  return {
    operator,
    api,
    site: async ({ onTestFinished }, options) => {
      const namespace = free.shift();
      if (namespace === undefined) throw new Error('The bench was started for fewer tests');
      await createNamespace(api, namespace);
      const cloud = await startCloud(options);
      const site = createSite(api, namespace, cloud, operator.logs);
      onTestFinished(async () => {
        await abandonAll(site);
        await cloud.close();
      });
      return site;
    },
    close: async () => {
      await operator.stop();
      await api.close();
    },
  };
}

/** Keeps objects of finished tests from occupying the operator. */
async function abandonAll(site: Site): Promise<void> {
  const kinds = ['DatabaseUser', 'Database', 'DatabaseCluster'] as const;
  for (const kind of kinds) {
    for (const name of await site.names(kind)) {
      await site.annotate(name, { [ABANDON]: 'true' }, kind);
      await site.remove(kind, name);
    }
  }
  for (const name of await site.names('DatabaseSpace')) await site.remove('DatabaseSpace', name);
  const isEmpty = async () => (await Promise.all(kinds.map(site.names))).flat().length === 0;
  await waitUntil(isEmpty, { what: `${site.namespace} is empty` });
}
