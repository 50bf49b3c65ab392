import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readText } from '../../src/base/transport.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { policyRules } from '../../src/rbac.ts';
import { FIRST } from '../support/certificates.ts';
import { adminKubeconfig, mustKubectl } from '../support/control-plane.ts';
import { startOperator } from '../support/operator.ts';
import { createNamespace, installOperator } from '../support/operator-bench.ts';
import { accountWith, grantInCluster, type Rule } from '../support/operator-rights.ts';
import { openApi } from './api.ts';

/* `--metrics-secure`: the real API server decides who may see /metrics. */

const REVIEW_RULES = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];
const SCRAPE_RULES = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];

test('metrics are shown over TLS to a service account that may get them, and to nobody else', async () => {
  const api = await openApi(adminKubeconfig());
  onTestFinished(() => api.close());
  await installOperator(api);
  const namespace = `metrics-${randomUUID().slice(0, 8)}`;
  await createNamespace(api, namespace);
  const grant = async (name: string, rules: readonly Rule[]) =>
    onTestFinished(await grantInCluster({ namespace, name }, rules));
  const kubeconfig = await accountWith(namespace, 'mooring', policyRules);
  await grant('mooring', REVIEW_RULES);
  for (const name of ['prometheus', 'curious']) await accountWith(namespace, name, []);
  await grant('prometheus', SCRAPE_RULES);
  const tokenOf = async (name: string) =>
    (await mustKubectl(['create', 'token', name, `--namespace=${namespace}`])).trim();

  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  writeFileSync(files.cert, FIRST.cert);
  writeFileSync(files.key, FIRST.key);
  const args = ['--metrics-secure', `--metrics-cert-file=${files.cert}`, `--metrics-key-file=${files.key}`];
  const operator = await startOperator({ kubeconfig, namespaces: [namespace], args });
  onTestFinished(async () => void (await operator.stop()));

  const { metrics } = await operator.addresses;
  const transport = createUndiciTransport({ ca: FIRST.cert });
  onTestFinished(() => transport.close());
  const ask = async (token?: string, scheme = 'https') => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await transport({ method: 'GET', url: `${scheme}://${metrics}/metrics`, headers });
    return { status: response.status, text: await readText(response, 1_000_000) };
  };
  expect(await ask()).toMatchObject({ status: 401 });
  expect(await ask('made-up')).toMatchObject({ status: 401 });
  const refused = await ask(await tokenOf('curious'));
  expect(refused.status).toBe(403);
  expect(refused.text).toMatch(/system:serviceaccount:metrics-\S+:curious may not get \/metrics: .*nonResourceURLs/);
  expect(refused.text).not.toContain('mooring_');
  const shown = await ask(await tokenOf('prometheus'));
  expect(shown.status).toBe(200);
  expect(shown.text).toContain('mooring_build_info');
  await expect(ask(await tokenOf('prometheus'), 'http')).rejects.toThrow();
});
