import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIALECTS } from '../../src/simulator/dialect.ts';
import { mustKubectl, waitUntil } from '../support/control-plane.ts';
import { cluster, factorySecret, space, tokenSecret, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench } from '../support/operator-bench.ts';
import { conditionOf } from '../support/site.ts';

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(8);
});

afterAll(() => bench?.close());

describe.each(DIALECTS)('in dialect %s', (dialect) => {
  test('manifests in any order lead to a Ready cluster whose factory login is retired', async (context) => {
    const site = await bench.site(context, { dialect, knobs: { provisionMs: [700, 700], serverLagMs: [300, 300] } });
    const { cloud } = site;
    await site.apply(cluster());
    await site.until('DatabaseCluster', { status: 'Unknown', reason: 'SpaceNotFound' });
    await site.apply(space(cloud));
    await site.until('DatabaseSpace', { reason: 'SecretNotFound' });
    await site.apply(factorySecret(cloud), tokenSecret('admin'), tokenSecret('write'));

    const { status, metadata } = await site.ready();
    const login = (await site.secret())?.data ?? {};
    const endpoint = status?.endpoint ?? '';
    expect(await cloud.signIn(endpoint, login['username'] ?? '', login['password'] ?? '')).toBe(200);
    expect(await cloud.signIn(endpoint, cloud.factory.username, cloud.factory.password)).toBe(401);
    expect(Object.keys(login).toSorted()).toEqual(['password', 'username']);
    expect(cloud.simulator.count('deploy')).toBe(1);
    expect(cloud.simulator.count('updateUser')).toBe(1);

    expect(metadata.finalizers).toEqual(['mooring.dev/cluster']);
    expect(status).toMatchObject({
      observedGeneration: metadata.generation,
      state: 'running',
      clusterID: 'orders',
      version: '3.12.0',
      observed: {
        machineType: 'c2d-highcpu-4',
        storageSizeGB: 100,
        serverCount: 1,
        provider: 'gcp',
        region: 'europe-west2',
      },
      servers: [{ status: 'running' }],
      endpoint: `http://${status?.servers?.[0]?.address}`,
    });
    expect(Date.parse(status?.createdAt ?? '')).toBeGreaterThan(0);
    expect(status?.operation).toBeUndefined();
    expect(status?.conditions?.map(({ type, status: value }) => `${type}=${value}`)).toEqual([
      'Ready=True',
      'Synced=True',
      'CredentialsSecured=True',
      'Available=True',
    ]);
    const { status: ofSpace } = await site.until('DatabaseSpace', { status: 'True' });
    await waitUntil(async () => (await site.get('DatabaseSpace'))?.status?.clusters?.managed === 1, {
      what: 'the space counts the cluster',
    });
    expect(ofSpace?.availableVersions).toEqual(['3.12.0', '3.5.0', '2.29.1']);
    expect(conditionOf(ofSpace, 'CredentialsValid')).toMatchObject({ status: 'True' });
  });
});

test('each change of state makes one Event', async (context) => {
  const site = await bench.site(context, { knobs: { provisionMs: [600, 600] } });
  await site.apply(...wholeSpace(site.cloud));
  await site.until('DatabaseSpace', { status: 'True' });
  await site.apply(cluster());
  await site.ready();
  const reasonsNow = async () =>
    (await site.events()).filter(({ regarding }) => regarding.includes('Cluster')).map(({ reason }) => reason);
  // The event follows the status.
  await waitUntil(async () => (await reasonsNow()).includes('Running'), { what: 'the event of being Ready' });
  const reasons = await reasonsNow();
  expect(reasons).toEqual([...new Set(reasons)]);
  expect(reasons[0]).toBe('Deploying');
  expect(reasons.at(-1)).toBe('Running');
});

test('kubectl waits for Ready, and shows columns', async (context) => {
  const site = await bench.site(context, { knobs: { provisionMs: [600, 600] } });
  const inNamespace = `--namespace=${site.namespace}`;
  await site.apply(...wholeSpace(site.cloud), cluster());
  await mustKubectl(['wait', inNamespace, '--for=condition=Ready', '--timeout=20s', 'dbs/production', 'dbc/orders']);
  const table = await mustKubectl(['get', 'mooring', inNamespace]);
  expect(table).toMatch(/databasecluster\S*\/orders +True +Running +running +3\.12\.0/);
  expect(table).toMatch(/databasespace\S*\/production +True +Observed/);
});

test('when nothing changes, nothing is written, and nothing requested but Lists', async (context) => {
  const site = await bench.site(context);
  const { operator } = bench;
  await site.apply(...wholeSpace(site.cloud), cluster());
  await site.ready();
  const lists = () => site.cloud.simulator.count('list');
  const after = (count: number) => waitUntil(() => lists() >= count, { what: `List number ${count}` });
  const writes = () => operator.metric('mooring_kube_requests_total', { verb: /create|patch|delete|update/ });
  const reads = () => operator.metric('mooring_kube_requests_total', { verb: 'get' });
  await waitUntil(async () => (await site.get('DatabaseSpace'))?.status?.clusters?.managed === 1, {
    what: 'it is counted',
  });
  await after(lists() + 1);

  const [calls, writesBefore, readsBefore] = [site.cloud.callsButLists(), await writes(), await reads()];
  await after(lists() + 4);
  expect(site.cloud.callsButLists() - calls).toBe(0);
  expect((await writes()) - writesBefore).toBe(0);
  expect((await reads()) - readsBefore).toBe(0);
});
