import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyYaml, kubectl, mustKubectl, waitUntil } from '../support/control-plane.ts';
import { type KubectlBench, startKubectlBench } from '../support/kubectl-bench.ts';
import { mooring } from '../support/plugin.ts';

/* What an admission policy only warns of, as kubectl shows it. */

let bench: KubectlBench;

beforeAll(async () => {
  bench = await startKubectlBench(1);
});

afterAll(() => bench?.close());

const ANY = { apiVersions: ['*'], operations: ['CREATE', 'UPDATE'] };

/** Warns, in one namespace, of each Secret and DatabaseCluster that is written, and repeats what is in them. */
function policyFor(namespace: string): string {
  const name = `warn-${namespace}`;
  const metadata = { name };
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        resourceRules: [
          { ...ANY, apiGroups: [''], resources: ['secrets'] },
          { ...ANY, apiGroups: ['mooring.dev'], resources: ['databaseclusters'] },
        ],
      },
      validations: [
        {
          expression: 'false',
          messageExpression:
            "object.kind + ' ' + object.metadata.name + ' lacks an owner' + (has(object.data) ? ' ' + object.data.map(key, object.data[key]).join(' ') : '')",
        },
      ],
    },
  };
  const binding = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: name, validationActions: ['Warn'] },
  };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [policy, binding] });
}

test('What an admission policy warns of is in the log once, and shown by the plugin', async (context) => {
  const desk = await bench.desk(context);
  const { namespace, id } = desk;
  await applyYaml(policyFor(namespace));
  context.onTestFinished(async () => {
    const name = `warn-${namespace}`;
    await mustKubectl(['delete', `validatingadmissionpolicybinding/${name}`, `validatingadmissionpolicy/${name}`]);
  });
  const isHeeded = async () => {
    const trial = ['create', 'secret', 'generic', 'trial', '--dry-run=server', `--namespace=${namespace}`];
    return (await kubectl(trial)).stderr.includes('lacks an owner');
  };
  await waitUntil(isHeeded, { what: 'the policy is heeded' });

  await desk.begin();
  await desk.ready(id);
  const lines = bench.operator.logs().split('\n');
  const about = (kind: string) =>
    lines.filter((line) => line.includes('The API server warns: ') && line.includes(kind));
  expect(about(`DatabaseCluster ${id} lacks an owner`)).toEqual([expect.stringContaining('"verb":"patch"')]);
  expect(about('Secret ').length).toBeGreaterThan(0);
  const { password = '' } = (await desk.secret(`${id}-admin`))?.data ?? {};
  expect(password).toMatch(/.{20}/);
  for (const form of [password, Buffer.from(password).toString('base64')])
    expect(bench.operator.logs()).not.toContain(form);

  const paused = await mooring(namespace, ['pause', `dbc/${id}`]);
  expect(paused).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(`^Warning: .*: DatabaseCluster ${id} lacks an owner\n$`),
  });
});
