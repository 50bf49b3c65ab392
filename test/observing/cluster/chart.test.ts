import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeNamespace } from '../../support/control-plane.ts';
import { type ForeignKinds, installForeignKinds } from '../../support/foreign-kinds.ts';
import { CHART, createHelm, HELM_BUILD_MS, type Helm, mustHelm } from '../../support/helm.ts';
import { readDocument } from '../../support/readme.ts';
import { ALERTS, DASHBOARD } from '../files.ts';

/* The chart contains alerts, dashboard and health checks as they are in its files, which other tests check. */

const VALUES = {
  metrics: {
    prometheusRule: {
      enabled: true,
      renderMode: 'alwaysRender',
      labels: { release: 'prometheus' },
      runbookURL: 'https://mooring.dev/docs/alerts',
    },
    dashboards: { enabled: true, annotations: { 'k8s-sidecar-target-directory': 'Databases' } },
  },
  argocd: { healthChecks: { enabled: true, namespace: 'argocd' } },
};

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

let helm: Helm;
let foreign: ForeignKinds;

beforeAll(async () => {
  helm = await createHelm();
  foreign = await installForeignKinds(['PrometheusRule']);
}, HELM_BUILD_MS);

afterAll(() => foreign?.remove());

async function rendered(template: string): Promise<Rendered> {
  const args = ['template', 'mooring', CHART, '--namespace=harbour', `--show-only=templates/${template}.yaml`];
  return load(await mustHelm(helm, args, { values: VALUES })) as Rendered;
}

test('PrometheusRule has the alerts, and the Prometheus operator accepts it', async () => {
  const rule = await rendered('prometheusrule');
  expect(rule).toMatchObject({
    kind: 'PrometheusRule',
    metadata: { name: 'mooring', namespace: 'harbour', labels: { release: 'prometheus' } },
    spec: load(readDocument(ALERTS)),
  });
  const { namespace: _, ...metadata } = rule.metadata;
  const anywhere = { ...rule, metadata };
  expect(await foreign.refused(anywhere, await makeNamespace())).toBe('');
});

test('Alerts link to the configured place of their runbooks, and nowhere otherwise', async () => {
  const alertsWith = (settings: object) => {
    const values = { metrics: { prometheusRule: { enabled: true, renderMode: 'alwaysRender', ...settings } } };
    return mustHelm(helm, ['template', 'mooring', CHART, '--show-only=templates/prometheusrule.yaml'], { values });
  };
  const runbookURL = 'https://wiki.example.com/mooring-alerts';
  const text = await alertsWith({ runbookURL });
  expect(text).toContain(`runbook_url: ${runbookURL}#mooringabsent\n`);
  expect(text).not.toContain('mooring.dev/docs');
  const unlinked = text.replaceAll(/^ +runbook_url: .*\n/gm, '');
  expect(load(await alertsWith({}))).toEqual(load(unlinked));
});

test('The ConfigMap for Grafana holds the dashboard', async () => {
  const { metadata, data } = await rendered('dashboard');
  expect(metadata).toMatchObject({
    labels: { grafana_dashboard: '1' },
    annotations: { 'k8s-sidecar-target-directory': 'Databases' },
  });
  expect(JSON.parse(data?.['mooring.json'] ?? '')).toEqual(JSON.parse(readDocument(DASHBOARD)));
});

test('The ConfigMap for Argo CD holds what should be merged into argocd-cm', async () => {
  const { metadata, data } = await rendered('argocd-health');
  expect(metadata.namespace).toBe('argocd');
  expect(data).toEqual((load(readDocument('deploy/argocd/argocd-cm.yaml')) as Rendered).data);
});
