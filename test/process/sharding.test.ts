import { afterAll, beforeAll, expect, test } from 'vitest';
import { REPLICA_LEASE_PREFIX } from '../../src/base/lease-names.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { ownRules, policyRules } from '../../src/rbac.ts';
import { createTeam } from '../../src/simulator/simulator.ts';
import { type Api, installCrds, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace, mustKubectl, waitUntil } from '../support/control-plane.ts';
import type { Gate } from '../support/gate.ts';
import { startKubeProxy } from '../support/kube-proxy.ts';
import { cluster, factorySecret, secret, space } from '../support/manifests.ts';
import { type OperatorProcess, type StartingOperator, startOperator } from '../support/operator.ts';
import { accountWith } from '../support/operator-rights.ts';
import { RETRY_WAITS } from '../support/retry.ts';
import { type ServedCloud, startCloud } from '../support/served-cloud.ts';
import { createSite } from '../support/site.ts';
import { createTrap } from '../support/trap.ts';

const ARGS = [
  '--shard-by-space',
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=500ms',
];
const SPACES = ['production', 'staging', 'testing', 'archive', 'preview', 'training'];

let api: Api;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  await installCrds(api);
});

afterAll(() => api?.close());

/** A cloud with these spaces, and replicas of the operator that share them. `gateOf`: the gate for each replica's requests. */
async function startReplicas(
  count: number,
  onTestFinished: (run: () => Promise<void>) => void,
  cloudGate: Gate = (_, pass) => pass(),
  gateOf: (replica: number) => Gate = () => (_, pass) => pass(),
) {
  const namespace = await makeNamespace();
  // The rights that the chart gives for this, and no others. Without them no replica could take or remove another's Lease.
  const kubeconfig = await accountWith(namespace, 'operator', [...policyRules, ...ownRules]);
  const teams = [createTeam('acme', SPACES, true)];
  const cloud = await startCloud({ knobs: { provisionMs: [100, 100] }, teams, gate: cloudGate });
  onTestFinished(() => cloud.close());
  const site = createSite(api, namespace, cloud);
  await site.apply(factorySecret(cloud), ...SPACES.flatMap((name, index) => spaceNamed(cloud, name, index === 0)));
  const start = async (index: number) => {
    const proxy = await startKubeProxy(kubeconfig, `${namespace}-${index}`, gateOf(index), namespace);
    onTestFinished(() => proxy.close());
    const operator = await startOperator({ kubeconfig: proxy.kubeconfig, namespaces: [namespace], args: ARGS });
    onTestFinished(() => operator.kill());
    return operator;
  };
  const replicas = await Promise.all(Array.from({ length: count }, (_, index) => start(index)));
  const spacesOf = async (operator: OperatorProcess) => {
    const text = await operator.metricsText();
    return SPACES.filter((name) =>
      text.includes(`last_observed_timestamp_seconds{namespace="${namespace}",name="${name}"}`),
    );
  };
  /** Waits until one of these replicas has each space. Returns the spaces of each. */
  const shared = async (among: readonly StartingOperator[]) => {
    let each: (readonly string[])[] = [];
    const isShared = async () => {
      each = await Promise.all(among.map(spacesOf));
      return each.flat().length === SPACES.length && new Set(each.flat()).size === SPACES.length;
    };
    await waitUntil(isShared, { what: 'each space has one owner' });
    return each;
  };
  /** The replicas. */
  const leases = async () => {
    const names = await mustKubectl(['get', LEASES.plural, `--namespace=${namespace}`, '--output=name']);
    return names.split('\n').filter((name) => name.includes(REPLICA_LEASE_PREFIX));
  };
  return { cloud, site, replicas, shared, leases };
}

/** The space, and the Secret with its token. */
function spaceNamed(cloud: ServedCloud, spaceID: string, isFirst: boolean) {
  const prefix = isFirst ? 'admin' : `${spaceID}-admin`;
  const name = `cloud-${spaceID}`;
  const apiTokens = [{ level: 'admin', secretRef: { name } }];
  const token = { clientID: `${prefix}-id`, clientSecret: `${prefix}-secret-0123456789` };
  return [secret(name, token), { ...space(cloud, { spaceID, apiTokens }), metadata: { name: spaceID } }];
}

test('three operators on a real API server share the spaces; when one is killed, its spaces move to the others, and no others do', {
  ...RETRY_WAITS,
  timeout: 180_000,
}, async ({ onTestFinished }) => {
  const { cloud, site, replicas, shared, leases } = await startReplicas(3, onTestFinished);
  for (const name of SPACES) await site.apply(cluster({ spaceRef: { name } }, {}, `of-${name}`));
  for (const name of SPACES) await site.ready(`of-${name}`);
  const before = await shared(replicas);
  expect(cloud.tookEffect('deploy')).toBe(SPACES.length);

  const lost = before.toSorted((one, other) => other.length - one.length)[0] ?? [];
  const dying = replicas[before.indexOf(lost)];
  const living = replicas.filter((each) => each !== dying);
  await dying?.kill();
  const [moved = ''] = lost;
  await site.apply(cluster({ spaceRef: { name: moved }, machineType: 'c2d-highcpu-8' }, {}, `of-${moved}`));
  await site.ready(`of-${moved}`);
  const after = await shared(living);
  for (const [index, each] of living.entries())
    expect(after[index]).toEqual(expect.arrayContaining([...(before[replicas.indexOf(each)] ?? [])]));
  await waitUntil(async () => (await leases()).length === 2, { what: 'the Lease of the dead one is removed' });
  expect(cloud.tookEffect('deploy')).toBe(SPACES.length);
  expect(await Promise.all(living.map((each) => each.stop()))).toEqual([0, 0]);
});

test('an operator stopped for longer than its Lease, with an answer on its way, changes nothing in its former space', {
  ...RETRY_WAITS,
  timeout: 180_000,
}, async ({ onTestFinished }) => {
  const trap = createTrap('POST /clusters/deploy');
  let frozenIndex = -1;
  const gateOf =
    (index: number): Gate =>
    (what, pass) =>
      index === frozenIndex ? trap.gate(what, pass) : pass();
  const { cloud, site, replicas, shared } = await startReplicas(2, onTestFinished, trap.gate, gateOf);
  const before = await shared(replicas);
  const name = before[0]?.[0] ?? before[1]?.[0] ?? '';
  frozenIndex = before.findIndex((each) => each.includes(name));
  const frozen = replicas[frozenIndex];
  await site.apply(cluster({ spaceRef: { name } }));
  await waitUntil(trap.isSprung, { what: 'the deploy is asked for' });
  process.kill(frozen?.pid ?? 0, 'SIGSTOP');

  await site.ready();
  const settled = await site.get('DatabaseCluster');
  trap.watch();
  trap.release();
  // The answer passes through this process: once this one is here, the other is waiting to be read.
  await site.get('DatabaseCluster');
  process.kill(frozen?.pid ?? 0, 'SIGCONT');
  await waitUntil(() => frozen?.hasEnded() ?? false, { what: 'the one that was stopped ends' });

  expect(trap.changes()).toEqual([]);
  expect(await frozen?.stop()).toBe(1);
  expect(frozen?.logs()).toContain('The lease was lost');
  expect(cloud.tookEffect('deploy')).toBe(1);
  expect((await site.get('DatabaseCluster'))?.status).toEqual(settled?.status);
  expect((await shared(replicas.filter((each) => each !== frozen)))[0]).toHaveLength(SPACES.length);
});
