import { describe, expect, it } from 'vitest';
import { addressOf } from '../../../../test/support/simulator.ts';
import { APP, readyUserBench, settleRefused, userBench } from '../../../../test/support/user-bench.ts';
import { DATABASE_CLUSTERS } from '../../databasecluster/resource.ts';
import { DATABASE_USERS } from '../resource.ts';

describe('edits by others', () => {
  it.each([
    ['a key changed', { data: { host: 'elsewhere' } }],
    ['a key removed', { data: { uri: null } }],
    ['a key added', { data: { surplus: 'x' } }],
    ['our label changed back', { metadata: { labels: { 'app.kubernetes.io/managed-by': 'somebody' } } }],
    ['an own label removed', { metadata: { labels: { team: null } } }],
    ['an own annotation changed', { metadata: { annotations: { note: 'changed' } } }],
    ['the checksum removed', { metadata: { annotations: { 'mooring.dev/checksum': null } } }],
    ['the owner removed', { metadata: { ownerReferences: [] } }],
    ['the factory password entered as the next one', { data: { nextPassword: 'password' } }],
    ['a next password that is not ours', { data: { nextPassword: 'put by somebody' } }],
    ['a next password that no server accepts', { data: { nextPassword: 'x'.repeat(73) } }],
  ])('%s: it is put right by one write, and nothing is called', async (_what, change) => {
    const user = { connectionSecret: { labels: { team: 'shop' }, annotations: { note: 'ours' } } };
    const bench = await readyUserBench({ user });
    const before = bench.secretObject();
    await bench.editSecret('app-connection', change);
    await bench.settle();
    const { resourceVersion: _, ...metadata } = bench.secretObject()?.metadata ?? {};
    const { resourceVersion: __, ...wanted } = before?.metadata ?? {};
    expect({ metadata, data: bench.secretObject()?.['data'] }).toEqual({ metadata: wanted, data: before?.['data'] });
    expect(bench.takeRequests().filter((request) => /^(patch|create|delete) secrets/.test(request))).toEqual([
      'patch secrets/app-connection',
    ]);
    expect(bench.takeCalls().filter((call) => call !== 'signIn')).toEqual([]);
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('labels, annotations and owners that others have put there stay', async () => {
    const bench = await readyUserBench();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: 'u' };
    const ownerReferences = [...(bench.secretObject()?.metadata.ownerReferences ?? []), owner];
    await bench.editSecret('app-connection', {
      metadata: { labels: { theirs: 'x' }, annotations: { theirs: 'y' }, ownerReferences },
    });
    await bench.editSecret('app-connection', { data: { host: 'elsewhere' } });
    await bench.settle();
    expect(bench.secretObject()?.metadata).toMatchObject({
      labels: { theirs: 'x' },
      annotations: { theirs: 'y' },
      ownerReferences,
    });
    expect(bench.secret()?.['host']).not.toBe('elsewhere');
  });

  it('a Secret of ours with another type is rewritten with the same passwords', async () => {
    const bench = await readyUserBench();
    const data = bench.secret() ?? {};
    await bench.putSecret('app-connection', data, { labels: { 'mooring.dev/user': 'app' } });
    await bench.settle();
    expect(bench.secretObject()?.['type']).toBe('servicebinding.io/database');
    expect(bench.secret()).toEqual(data);
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it('a Secret of ours with another type stays if somebody has just paused the object', async () => {
    const bench = await readyUserBench();
    await bench.putSecret('app-connection', bench.secret() ?? {}, { labels: { 'mooring.dev/user': 'app' } });
    const before = bench.secretObject()?.metadata.uid;
    const cached = bench.object();
    await bench.annotate('mooring.dev/paused', 'true');
    await bench.pass(undefined, cached).catch(() => {});
    expect(bench.secretObject()?.metadata.uid).toBe(before);
  });
});

describe('a Secret that is not ours', () => {
  it('is never overwritten, and that stays so after it was named', async () => {
    const bench = await userBench({ user: { connectionSecret: { name: 'theirs' } } });
    await bench.putSecret('theirs', { password: 'theirs' });
    const before = bench.secretObject('theirs');
    await bench.settle();
    expect(bench.ready()).toBe('False SecretNotOurs');
    expect(bench.secretObject('theirs')).toEqual(before);
    expect(bench.users()).not.toContain('app');
    bench.removeSecret('theirs');
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('nor is that of another DatabaseUser', async () => {
    const bench = await readyUserBench();
    const before = bench.secretObject();
    await bench.create('shop/second', { connectionSecret: { name: 'app-connection' } });
    await bench.settle('shop/second');
    expect(bench.ready('shop/second')).toBe('False SecretNotOurs');
    expect(bench.secretObject()).toEqual(before);
  });

  it('replaces ours: the user goes on working, and says so', async () => {
    const bench = await readyUserBench();
    await bench.putSecret('app-connection', { password: 'theirs' });
    await bench.settle();
    expect(bench.ready()).toBe('False SecretNotOurs');
    bench.remove();
    await bench.until('gone');
    expect(bench.secret()).toEqual({ password: 'theirs' });
  });
});

describe('another name', () => {
  it('is written with the same password before the former Secret goes', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    await bench.edit({ connectionSecret: { name: 'renamed' } });
    await bench.pass();
    expect([bench.secret('renamed')?.['password'], bench.secret()?.['password']]).toEqual([password, password]);
    await bench.settle();
    expect(bench.secret()).toBeUndefined();
    expect(bench.secret('renamed')).toMatchObject({ password, username: 'app' });
    expect(bench.status()).toMatchObject({ binding: { name: 'renamed' }, connection: { secretName: 'renamed' } });
    expect(bench.works(password)).toBe(true);
    expect(bench.takeCalls()).not.toContain('updateUser');
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('takes both passwords along in the middle of a rotation', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    const { nextPassword } = bench.secret() ?? {};
    await bench.edit({ connectionSecret: { name: 'renamed' } });
    await bench.pass();
    expect(bench.secret('renamed')).toMatchObject({ password, nextPassword });
    await bench.settle();
    expect(bench.secret('renamed')).toMatchObject({ password: nextPassword });
    expect(bench.works(nextPassword)).toBe(true);
    expect(bench.secret()).toBeUndefined();
  });

  it('leaves one Secret if it changes twice, before the first change was finished', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    await bench.edit({ connectionSecret: { name: 'second' } });
    await bench.pass();
    await bench.edit({ connectionSecret: { name: 'third' } });
    await bench.settle();
    expect(bench.secret('third')).toMatchObject({ password });
    expect([bench.secret(), bench.secret('second')]).toEqual([undefined, undefined]);
  });

  it('finds the password again before the user was Ready for the first time', async () => {
    const bench = await userBench({ user: {} });
    await bench.pass();
    await bench.pass();
    expect(bench.users()).toContain('app');
    const { nextPassword } = bench.secret() ?? {};
    await bench.edit({ connectionSecret: { name: 'renamed' } });
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.secret('renamed')).toMatchObject({ password: nextPassword });
    expect(bench.secret()).toBeUndefined();
  });

  it.each([0, 1, 2])('is not followed because of a cache that shows an older spec, after %i passes', async (passes) => {
    const bench = await readyUserBench();
    await bench.edit({ connectionSecret: { name: 'renamed' } });
    for (let pass = 0; pass < passes; pass++) await bench.pass();
    const seen = bench.object();
    await bench.edit({ connectionSecret: null });
    const before = [bench.secretObject(), bench.secretObject('renamed')];
    for (let pass = 0; pass < 4; pass++) await bench.pass(APP, seen);
    expect([bench.secretObject(), bench.secretObject('renamed')]).toEqual(before);
    await bench.settle();
    expect([bench.works(bench.secret()?.['password']), bench.secret('renamed')]).toEqual([true, undefined]);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'that is taken back after %i passes leaves one Secret, whose login works',
    async (passes) => {
      const bench = await readyUserBench();
      await bench.edit({ connectionSecret: { name: 'renamed' } });
      for (let pass = 0; pass < passes; pass++) await bench.pass();
      await bench.edit({ connectionSecret: null });
      await bench.settle();
      expect([bench.works(bench.secret()?.['password']), bench.secret('renamed')]).toEqual([true, undefined]);
    },
  );

  it('leaves the former Secret and its password alone if it is taken', async () => {
    const bench = await readyUserBench();
    const before = bench.secretObject();
    await bench.putSecret('theirs', { password: 'theirs' });
    await bench.edit({ connectionSecret: { name: 'theirs' } });
    await bench.settle();
    expect(bench.ready()).toBe('False SecretNotOurs');
    expect(bench.secretObject()).toEqual(before);
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });
});

describe('what the spec adds', () => {
  it('labels, annotations and texts come and go with it', async () => {
    const template = {
      DATABASE_URL: 'db://{{ username }}:{{ password | urlencode }}@{{ host }}:{{port}}',
      PLAIN: 'as it is',
    };
    const connectionSecret = { labels: { team: 'shop' }, annotations: { note: 'ours' }, template };
    const bench = await userBench({ user: { connectionSecret } });
    await bench.pass();
    expect(bench.secret()).toHaveProperty('PLAIN');
    expect(bench.secret(), 'no password yet').not.toHaveProperty('DATABASE_URL');
    await bench.settle();
    const { password = '', host, port } = bench.secret() ?? {};
    expect(bench.secret()).toMatchObject({ PLAIN: 'as it is', DATABASE_URL: `db://app:${password}@${host}:${port}` });
    expect(bench.secretObject()?.metadata).toMatchObject({ labels: { team: 'shop' }, annotations: { note: 'ours' } });

    bench.takeCalls();
    await bench.edit({
      connectionSecret: { labels: null, annotations: null, template: { PLAIN: 'changed', DATABASE_URL: null } },
    });
    await bench.settle();
    expect(bench.secret()).toMatchObject({ PLAIN: 'changed', password });
    expect(bench.secret()).not.toHaveProperty('DATABASE_URL');
    const { labels, annotations } = bench.secretObject()?.metadata ?? {};
    expect(labels).not.toHaveProperty('team');
    expect(Object.keys(annotations ?? {}).toSorted()).toEqual([
      'mooring.dev/checksum',
      'mooring.dev/next-password-mark',
      'mooring.dev/password-changed-at',
    ]);
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it.each<[object, string]>([
    [{ labels: { 'bad key': 'x' } }, 'spec.connectionSecret.labels cannot be {"bad key":"x"}: labels has a key that'],
    [
      { labels: { a: 'bad value!' } },
      'spec.connectionSecret.labels.a cannot be "bad value!": a label value has only letters',
    ],
    [{ annotations: { 'a/b/c': 'x' } }, 'spec.connectionSecret.annotations cannot be {"a/b/c":"x"}: annotations has'],
    [{ template: { '..data': 'x' } }, 'spec.connectionSecret.template cannot be {"..data":"x"}: template has a key'],
    [{ template: { host: 'x' } }, 'spec.connectionSecret.template cannot be {"host":"x"}: template must not name'],
  ])('%j of an older object, which no Secret can have, is named, and the Secret stays', async (wrong, says) => {
    const bench = await readyUserBench();
    const before = bench.secretObject();
    await bench.edit({ connectionSecret: wrong });
    await bench.settle();
    expect(bench.ready()).toBe('False InvalidSpec');
    expect(bench.condition()?.message).toContain(says);
    expect(bench.secretObject()).toEqual(before);
    // What the object has stays its own, and goes with it.
    await bench.create('shop/second', { username: 'app', adoptionPolicy: 'IfExists' });
    await bench.settle('shop/second');
    expect(bench.ready('shop/second')).toBe('False UserClaimed');
    bench.remove();
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
  });

  it('a placeholder that is not known is named, and the Secret stays', async () => {
    const bench = await readyUserBench();
    const before = bench.secretObject();
    await bench.edit({ connectionSecret: { template: { URL: '{{ hots }}' } } });
    await bench.settle();
    expect(bench.ready()).toBe('False InvalidTemplate');
    expect(bench.condition()?.message).toContain('"URL"');
    expect(bench.secretObject()).toEqual(before);
  });
});

describe('the cluster', () => {
  it('is followed to another address, with the same password', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    bench.cluster.simulator.moveServers('orders');
    await bench.cluster.world().connections.get('shop/production')?.poller.refresh();
    await bench.cluster.until('True Running');
    bench.takeCalls();
    await bench.settle();
    const address = addressOf(bench.cluster.simulator, 'orders');
    expect(bench.secret()).toMatchObject({ password, uri: `https://${address}`, addresses: address });
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.status().connection).toMatchObject({ endpoint: `https://${address}` });
    expect(bench.takeCalls()).toEqual(['signIn']);
  });

  it('is followed to other servers, and which of them run does not matter', async () => {
    const bench = await readyUserBench();
    const { addresses = '' } = bench.secret() ?? {};
    const show = async (servers: readonly { readonly address: string; readonly status: string }[]) => {
      const ref = { namespace: 'shop', name: 'orders' };
      await bench.cluster.kube.patch(DATABASE_CLUSTERS, ref, { status: { servers } }, { subresource: 'status' });
      await bench.settle();
    };
    const first = { address: addresses, status: 'running' };
    await show([first, { address: 'a.test:1', status: 'running' }]);
    expect(bench.secret()?.['addresses']).toBe(`a.test:1,${addresses}`);
    expect(bench.status().connection?.addresses).toBe(`a.test:1,${addresses}`);
    bench.takeRequests();
    await show([{ address: 'a.test:1', status: 'stopped' }, first]);
    expect(bench.takeRequests()).toEqual([]);
  });

  it('leaves a user waiting while it is suspended if its Secret is not what was verified', async () => {
    const bench = await readyUserBench();
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    await bench.settle();
    bench.removeSecret('app-connection');
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
  });

  it.each([
    ['somebody suspended it before its spec said so', false],
    ['its server did not answer right before', true],
  ])('lets a user be Ready while it is suspended, although %s', async (_, isSilent) => {
    const bench = await readyUserBench();
    const { cluster } = bench;
    await cluster.edit({ driftPolicy: 'Report' });
    await cluster.pass();
    const fault = cluster.simulator.faults.add({ match: { operation: 'signIn' }, effect: 'errorBefore', status: 503 });
    if (isSilent) {
      await bench.annotate('mooring.dev/reconcile-at', '1');
      await bench.settle();
      expect(bench.ready()).toBe('Unknown ServerUnreachable');
    }
    cluster.simulator.faults.remove(fault);
    const { client, poller } = cluster.world().connections.get('shop/production') ?? expect.unreachable();
    await client.suspend('orders', new AbortController().signal);
    await cluster.clock.advance(600_000);
    await poller.refresh();
    await cluster.until('False Drifted');
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
    await cluster.edit({ state: 'Suspended' });
    await cluster.until('True Suspended');
    await bench.settle();
    expect(bench.ready()).toBe('True ClusterSuspended');
    const types = bench.status().conditions?.map(({ type }) => type);
    expect(types).not.toContain('Reconciling');
  });

  it('leaves a user waiting while it is suspended if its login did not work before', async () => {
    const bench = await readyUserBench();
    bench.cluster.simulator.setPassword('orders', 'app', 'changed on the server');
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    await bench.cluster.clock.advance(660_000);
    await settleRefused(bench);
    expect(bench.ready()).toBe('False RefusedByServer');
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
  });

  it('leaves a user waiting while it is suspended if it is another cluster by now', async () => {
    const bench = await readyUserBench();
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    await bench.settle();
    expect(bench.ready()).toBe('True ClusterSuspended');
    const ref = { namespace: 'shop', name: 'orders' };
    const identity = { createdAt: '2026-11-28T00:00:00.000Z' };
    await bench.cluster.kube.patch(DATABASE_CLUSTERS, ref, { status: identity }, { subresource: 'status' });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
  });

  it('leaves the user its finalizer while it is suspended, and a replaced object gets it back', async () => {
    const bench = await readyUserBench();
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    await bench.settle();
    await bench.cluster.kube.patch(
      DATABASE_USERS,
      { namespace: 'shop', name: 'app' },
      { metadata: { finalizers: null } },
    );
    bench.takeCalls();
    await bench.settle();
    expect(bench.object()?.metadata.finalizers).toEqual(['mooring.dev/user']);
    expect([bench.ready(), bench.takeCalls()]).toEqual(['True ClusterSuspended', []]);
  });

  it('costs no calls while it is suspended, and the user is Ready again when it runs', async () => {
    const bench = await readyUserBench();
    const before = bench.secret();
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    bench.takeCalls();
    await bench.settle();
    expect(bench.ready()).toBe('True ClusterSuspended');
    await bench.cluster.clock.advance(3_600_000);
    await bench.settle();
    expect(bench.takeCalls()).toEqual([]);
    await bench.cluster.edit({ state: 'Running' });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
    await bench.cluster.until('True Running');
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.takeCalls()).toContain('signIn');
    expect(bench.secret()).toEqual(before);
  });

  it('is tried again if its server does not answer, and nothing is changed', async () => {
    const bench = await readyUserBench();
    const before = bench.secretObject();
    const outage = bench.cluster.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
    await bench.cluster.clock.advance(660_000);
    expect((await bench.settle()).next).toBe('failed');
    expect(bench.ready()).toBe('Unknown ServerUnreachable');
    bench.cluster.simulator.faults.remove(outage);
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.secretObject()).toEqual(before);
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it('is waited for if it does not exist yet', async () => {
    const bench = await userBench({ user: { clusterRef: { name: 'later' } } });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterNotFound');
    expect(bench.takeCalls()).toEqual([]);
  });
});

it('no password appears anywhere but in Secrets', async () => {
  const bench = await readyUserBench();
  const { password = '' } = bench.secret() ?? {};
  expect(JSON.stringify([bench.object(), bench.told])).not.toContain(password);
  const { metadata } = bench.secretObject() ?? {};
  expect(JSON.stringify(metadata)).not.toContain(password);
});
