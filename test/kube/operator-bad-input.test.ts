import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../support/control-plane.ts';
import { cluster, factorySecret, secret, space, tokenSecret, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench } from '../support/operator-bench.ts';
import { clustersIn } from '../support/simulator.ts';
import type { Expected, Kind, Site } from '../support/site.ts';

/*
 * Each wrong input leads to a clear condition whose message names the remedy. There is no hot loop, nothing is created or
 * changed that should not be, and all is well again once the cause is gone.
 */

/** The limit until all is well after the cause is gone: one second, and some time for slow machines. */
const SOON_MS = 3_000;

let bench: OperatorBench;
/** A good space, listed every second: its Lists show that time passes and the operator is alive. */
let metronome: Site;

beforeAll(async () => {
  bench = await startBench(19);
  metronome = await bench.site({ onTestFinished: () => {} });
  await metronome.apply(...wholeSpace(metronome.cloud));
  await metronome.until('DatabaseSpace', { status: 'True' });
});

afterAll(async () => {
  await bench?.close();
  await metronome?.cloud.close();
});

async function beats(count: number): Promise<void> {
  const until = metronome.cloud.simulator.count('list') + count;
  await waitUntil(() => metronome.cloud.simulator.count('list') >= until, { what: `${count} beats` });
}

/** Expects that for three Lists no status is written, no Event recorded, and cloud and servers get only Lists. */
async function staysQuiet(site: Site): Promise<void> {
  const versions = async () => {
    const kinds: readonly Kind[] = ['DatabaseSpace', 'DatabaseCluster'];
    const shown = await Promise.all(
      kinds.map(async (kind) => {
        const objects = await Promise.all((await site.names(kind)).map((name) => site.get(kind, name)));
        return objects.map((object) => [object?.metadata.resourceVersion, object?.status?.conditions?.[0]?.message]);
      }),
    );
    return { shown, events: (await site.events()).length };
  };
  // Work from the last change may still be going on, longer on a busy machine. A loop would never end.
  let before = await versions();
  for (let beat = 0; beat < 10; beat++) {
    await beats(1);
    const now = await versions();
    if (isDeepStrictEqual(now, before)) break;
    before = now;
  }
  const calls = site.cloud.callsButLists();
  await beats(3);
  expect(await versions()).toEqual(before);
  expect(site.cloud.callsButLists() - calls).toBe(0);
}

/** Applies the remedy, and measures the time until the object is as expected. */
async function mends(site: Site, remedy: () => Promise<void> | void, kind: Kind, expected: Expected): Promise<void> {
  const startedAt = performance.now();
  await remedy();
  await site.until(kind, expected);
  expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
}

const clusters = ({ cloud }: Site) => clustersIn(cloud.simulator);

describe.concurrent('the space', () => {
  test('with a wrong API token is stalled until the Secret is right', async (context) => {
    const site = await bench.site(context);
    await site.apply(
      ...wholeSpace(site.cloud),
      ...(['write', 'admin'] as const).map((level) =>
        secret(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: 'not-the-secret' }),
      ),
      cluster(),
    );
    const { status } = await site.until('DatabaseSpace', {
      status: 'False',
      reason: 'CredentialsInvalid',
      message: /Correct the client id and the client secret in Secrets "cloud-write", "cloud-admin"/,
    });
    expect(status?.conditions?.map(({ type, status: value }) => `${type}=${value}`)).toEqual([
      'Ready=False',
      'Stalled=True',
      'CredentialsValid=False',
    ]);
    await site.until('DatabaseCluster', {
      status: 'Unknown',
      reason: 'WaitingForSpace',
      message: /CredentialsInvalid/,
    });
    await staysQuiet(site);
    expect(clusters(site)).toEqual([]);

    // With one of two tokens the space is observed, reports the other, and accepts no new cluster.
    await site.apply(tokenSecret('admin'));
    await site.until('DatabaseSpace', { status: 'False', reason: 'CredentialsInvalid', message: /of level write/ });
    expect(clusters(site)).toEqual([]);
    await mends(site, () => site.apply(tokenSecret('write')), 'DatabaseSpace', { status: 'True' });
    await site.ready();
  });

  test.for([['team', { teamID: 'nobody' }] as const, ['space', { spaceID: 'nowhere' }] as const])(
    'of an unknown %s is stalled until the spec is right',
    async ([, wrong], context) => {
      const site = await bench.site(context);
      await site.apply(...wholeSpace(site.cloud, wrong), cluster());
      await site.until('DatabaseSpace', {
        status: 'False',
        message: /check teamID, spaceID and baseURL|Give the space a token/,
      });
      await site.until('DatabaseCluster', { status: 'Unknown', reason: 'WaitingForSpace' });
      await staysQuiet(site);
      expect(clusters(site)).toEqual([]);

      await mends(site, () => site.apply(space(site.cloud)), 'DatabaseSpace', { status: 'True' });
      await site.ready();
    },
  );

  test('with a base URL that is not https is stalled, and the tokens are not sent', async (context) => {
    const site = await bench.site(context);
    await site.apply(...wholeSpace(site.cloud, { baseURL: 'http://cloud.example.com' }), cluster());
    const { status } = await site.until('DatabaseSpace', {
      status: 'False',
      reason: 'BaseURLNotAllowed',
      message: /is not https: use https, or start the operator with --allow-http/,
    });
    expect(status?.conditions?.[1]).toMatchObject({ type: 'Stalled', status: 'True' });
    await staysQuiet(site);
    expect(site.cloud.simulator.inspect().counters.total).toBe(0);

    await mends(site, () => site.apply(space(site.cloud)), 'DatabaseSpace', { status: 'True' });
    await site.ready();
  });

  test('whose token Secret is missing waits for it', async (context) => {
    const site = await bench.site(context);
    await site.apply(tokenSecret('admin'), factorySecret(site.cloud), space(site.cloud), cluster());
    await site.until('DatabaseSpace', {
      status: 'Unknown',
      reason: 'SecretNotFound',
      message:
        /Secret "cloud-write" does not exist: create it in namespace ".*", with keys "clientID" and "clientSecret"/,
    });
    await site.until('DatabaseCluster', { status: 'Unknown', reason: 'WaitingForSpace', message: /SecretNotFound/ });
    await staysQuiet(site);
    expect(site.cloud.simulator.inspect().counters.total).toBe(0);

    await mends(site, () => site.apply(tokenSecret('write')), 'DatabaseSpace', { status: 'True' });
    await site.ready();
  });

  test('whose factory login is missing waits for it, and deploys nothing that it could not secure', async (context) => {
    const site = await bench.site(context);
    await site.apply(tokenSecret('admin'), tokenSecret('write'), space(site.cloud), cluster());
    await site.until('DatabaseSpace', { status: 'Unknown', reason: 'SecretNotFound', message: /"factory-login"/ });
    await staysQuiet(site);
    expect(clusters(site)).toEqual([]);

    await mends(site, () => site.apply(factorySecret(site.cloud)), 'DatabaseSpace', { status: 'True' });
    await site.ready();
  });

  test('whose Secret lacks a key says which keys there are', async (context) => {
    const site = await bench.site(context);
    const wrong = secret('cloud-write', { clientID: 'write-id', secret: 'write-secret-0123456789' });
    await site.apply(...wholeSpace(site.cloud).slice(1), wrong, cluster());
    await site.until('DatabaseSpace', {
      status: 'False',
      reason: 'SecretKeyMissing',
      message: /has no value under key "clientSecret" \(its keys: "clientID", "secret"\): add it, or name another key/,
    });
    await staysQuiet(site);
    expect(site.cloud.simulator.inspect().counters.total).toBe(0);

    await mends(site, () => site.apply(tokenSecret('write')), 'DatabaseSpace', { status: 'True' });
    await site.ready();
  });

  test('whose cloud does not answer is tried again with growing pauses', async (context) => {
    const site = await bench.site(context);
    const fault = site.cloud.simulator.faults.add({ match: { api: 'cloud' }, effect: 'outage' });
    await site.apply(...wholeSpace(site.cloud), cluster());
    const unreachable = { status: 'Unknown', reason: 'CloudUnreachable' } as const;
    const { status } = await site.until('DatabaseSpace', {
      ...unreachable,
      message: /since .*Z\. Next try within a minute/,
    });
    expect(status?.conditions?.find(({ type }) => type === 'CredentialsValid')).toMatchObject({ status: 'Unknown' });
    await site.until('DatabaseCluster', { status: 'Unknown', reason: 'WaitingForSpace', message: /CloudUnreachable/ });
    const types = async () =>
      (await site.events()).flatMap(({ reason, type }) => (reason === 'CloudUnreachable' ? [type] : []));
    await waitUntil(async () => (await types()).length > 0, { what: 'an event tells' });
    expect(await types()).toEqual(['Warning']);
    // The message names the cause, even while the cloud is spared except for one call in half a minute.
    await site.until('DatabaseSpace', { ...unreachable, message: /no complete answer came/ });
    // Five failures in a row open the circuit breaker.
    await waitUntil(() => site.cloud.callsButLists() >= 5, { what: 'the cloud is spared' });
    await staysQuiet(site);

    site.cloud.simulator.faults.remove(fault);
    await site.until('DatabaseSpace', { status: 'True' }, 'production', 45_000);
    await site.ready();
    expect(site.cloud.tookEffect('deploy')).toBe(1);
  });

  test('whose cloud goes away reports that, and its clusters stay as they are', async (context) => {
    const site = await bench.site(context);
    await site.apply(...wholeSpace(site.cloud, { pollInterval: '4s' }), cluster());
    const { metadata } = await site.ready();
    const fault = site.cloud.simulator.faults.add({ match: { api: 'cloud' }, effect: '5xx' });
    await site.until('DatabaseSpace', { status: 'False', reason: 'CloudUnreachable' });
    await staysQuiet(site);
    expect(site.cloud.simulator.count('list')).toBeLessThan(10);
    expect((await site.get('DatabaseCluster'))?.metadata.resourceVersion).toBe(metadata.resourceVersion);

    site.cloud.simulator.faults.remove(fault);
    await site.until('DatabaseSpace', { status: 'True' }, 'production', 45_000);
  });
});

describe.concurrent('the cluster', () => {
  test('whose id is used by a foreign cluster leaves that cluster alone', async (context) => {
    const site = await bench.site(context);
    site.cloud.simulator.deployForeign({ id: 'orders', storageSizeGB: 30 });
    const before = clusters(site);
    await site.apply(...wholeSpace(site.cloud), cluster({ deletionPolicy: 'Delete' }));
    await site.until('DatabaseCluster', {
      status: 'False',
      reason: 'ClusterIDInUse',
      message: /Choose another clusterID, or set adoptionPolicy: IfExists/,
    });
    expect((await site.get('DatabaseCluster'))?.metadata.finalizers).toBeUndefined();
    await staysQuiet(site);
    expect(clusters(site)).toEqual(before);
    expect(await site.secret()).toBeUndefined();

    const remedy = () => site.apply(cluster({ deletionPolicy: 'Delete', clusterID: 'orders-2' }));
    await mends(site, remedy, 'DatabaseCluster', { status: 'True' });
    expect(clusters(site).map(({ id }) => id)).toEqual(['orders', 'orders-2']);
    expect(clusters(site)[0]).toEqual(before[0]);
  });

  test('of a machine type that the region lacks is refused when applied', async (context) => {
    const site = await bench.site(context);
    await site.apply(...wholeSpace(site.cloud));
    const complaints = await site.refused(cluster({ machineType: 'c7g.large' }));
    expect(complaints.join()).toMatch(/machineType.*allowUnlisted/s);
    expect(await site.get('DatabaseCluster')).toBeUndefined();
  });

  test("of an unlisted machine type shows the cloud's answer", async (context) => {
    const site = await bench.site(context);
    await site.apply(...wholeSpace(site.cloud), cluster({ machineType: 'z9-huge-1', allowUnlisted: true }));
    const { status } = await site.until('DatabaseCluster', {
      status: 'False',
      reason: 'RefusedByCloud',
      message: /z9-huge-1/,
    });
    expect(status?.conditions?.[1]).toMatchObject({ type: 'Stalled', status: 'True' });
    expect(status?.lastError).toMatchObject({
      operation: 'deploy',
      httpStatus: 400,
      message: expect.stringMatching(/z9-huge-1/),
    });
    await staysQuiet(site);
    expect(clusters(site)).toEqual([]);

    await mends(site, () => site.apply(cluster()), 'DatabaseCluster', { status: 'True' });
    expect(site.cloud.tookEffect('deploy')).toBe(1);
  });

  test('whose server does not answer is tried again, and is Ready when it does', async (context) => {
    const site = await bench.site(context);
    const fault = site.cloud.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
    await site.apply(...wholeSpace(site.cloud), cluster());
    const { status } = await site.until('DatabaseCluster', {
      status: 'Unknown',
      reason: 'ServerUnreachable',
      message: /Mooring tries again/,
    });
    expect(status?.conditions?.find(({ type }) => type === 'Available')).toMatchObject({ status: 'False' });
    expect(status?.state).toBe('running');
    await staysQuiet(site);
    expect(await site.secret()).toBeUndefined();

    site.cloud.simulator.faults.remove(fault);
    await site.ready();
  });

  test('whose factory login was changed earlier is stalled until a Secret has the login that works', async (context) => {
    const site = await bench.site(context, { knobs: { provisionMs: [1_500, 1_500] } });
    await site.apply(...wholeSpace(site.cloud), cluster());
    await site.until('DatabaseCluster', { reason: 'Deploying' });
    await waitUntil(() => site.cloud.tookEffect('deploy') === 1, { what: 'it is deployed' });
    site.cloud.simulator.setPassword('orders', 'admin', 'changed-in-the-console');
    await site.until('DatabaseCluster', {
      status: 'False',
      reason: 'DefaultLoginRefused',
      message: /put .* login that works into a Secret and name it in adminCredentials.existingSecretRef/,
    });
    await staysQuiet(site);
    expect(site.cloud.simulator.count('updateUser')).toBe(0);
    expect(await site.secret()).toBeUndefined();

    const existingSecretRef = { name: 'console-login' };
    await site.apply(cluster({ adminCredentials: { existingSecretRef } }));
    await site.until('DatabaseCluster', { status: 'Unknown', reason: 'SecretNotFound', message: /"console-login"/ });
    const login = secret('console-login', { username: 'admin', password: 'changed-in-the-console' });
    await mends(site, () => site.apply(login), 'DatabaseCluster', { status: 'True' });
    expect(site.cloud.simulator.passwordIs('orders', 'admin', (await site.secret())?.data['password'] ?? '')).toBe(
      true,
    );
  });

  test('whose Secret belongs to somebody else does not touch it', async (context) => {
    const site = await bench.site(context);
    await site.apply(...wholeSpace(site.cloud), secret('orders-admin', { password: 'somebodys' }), cluster());
    await site.until('DatabaseCluster', {
      status: 'False',
      reason: 'SecretNotOurs',
      message: /adminCredentials.secretName/,
    });
    await staysQuiet(site);
    expect((await site.secret())?.data).toEqual({ password: 'somebodys' });
    expect(site.cloud.simulator.count('updateUser')).toBe(0);

    await mends(site, () => site.remove('Secret', 'orders-admin'), 'DatabaseCluster', { status: 'True' });
  });
});
