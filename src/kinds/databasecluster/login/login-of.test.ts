import { describe, expect, it } from 'vitest';
import { aCluster, CREATED_AT, PLACE } from '../../../../test/support/builders.ts';
import { expectOneWorkingLogin, type KindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { clusterNamed, makeUnreadable } from '../../../../test/support/simulator.ts';
import { SECRETS } from '../../../kube/api.ts';
import { NO_CREATION_TIME } from '../identity.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';
import { holdsOwnLogin, isOurSecret } from './login-of.ts';

const REF = { namespace: 'shop', name: 'orders' };
const SECRET = { namespace: 'shop', name: 'orders-admin' };
/** A cluster of somebody else that the object's spec fits. */
const LIKE_OURS = { version: '3.5.0', machineType: 'c2d-highcpu-4', storageSizeGB: 100 };

async function annotationsOf({ kube }: KindBench): Promise<Readonly<Record<string, string>>> {
  return (await kube.get(SECRETS, SECRET))?.metadata.annotations ?? {};
}

/** The object is deleted, its cluster stays, and another object of that name is created. */
async function replaced(bench: KindBench, changes: object): Promise<void> {
  await bench.edit({ deletionPolicy: 'Retain' });
  await bench.pass();
  bench.kube.remove(DATABASE_CLUSTERS, REF);
  for (let pass = 0; pass < 20 && bench.kube.all(DATABASE_CLUSTERS).length > 0; pass++) {
    await bench.pass();
    await bench.clock.advance(5_000);
  }
  await bench.pass();
  const object = { apiVersion: 'mooring.dev/v1alpha1', kind: 'DatabaseCluster', metadata: { name: REF.name } };
  const { spec } = aCluster().subject;
  await bench.kube.create(DATABASE_CLUSTERS, REF.namespace, { ...object, spec: { ...spec, ...changes } });
}

describe('The Secret of a cluster that was released', () => {
  it('keeps the only password of that cluster if another object of the name has another cluster', async () => {
    const bench = await runningBench();
    const kept = bench.secret();
    await replaced(bench, { clusterID: 'orders-2' });
    await bench.until('False SecretNotOurs');
    expect(bench.told.at(-1)).toContain(
      'holds the login of another cluster, which an earlier object of this name left',
    );
    expect(bench.secret()).toEqual(kept);
    expectOneWorkingLogin(bench, 'orders');
    expect(bench.calls).not.toContain('deploy');

    await bench.edit({ adminCredentials: { secretName: 'orders-2-admin' } });
    await bench.until('True Running');
    expect(bench.secret()).toEqual(kept);
    expect(bench.secret('orders-2-admin')?.['password']).not.toBe(kept?.['password']);
  });

  it('holds its only login: a session that the operator holds does not help another object that came by that cluster', async () => {
    const bench = await runningBench();
    await replaced(bench, { adoptionPolicy: 'IfExists', adminCredentials: { secretName: 'another' } });
    bench.world().memory.forget('shop/orders', 'deleted');
    await bench.until('False DefaultLoginRefused');
    // Here the space's Secret is right, and each new cluster needs it as it is.
    expect(bench.told.at(-1)).toMatch(
      /or this cluster had another login before\. Correct that Secret only if new clusters come with another login\. Or put a login/,
    );
    expect(bench.secret('another')).toBeUndefined();
    expectOneWorkingLogin(bench, 'orders');
    // As after a restart of the process.
    await bench.restart();
    await bench.until('False DefaultLoginRefused');
  });

  it('is said to belong to the object that has that cluster and names this Secret, if there is one', async () => {
    const bench = await runningBench();
    await replaced(bench, { clusterID: 'orders-2' });
    const { cluster } = bench.world();
    const createdAt = clusterNamed(bench.simulator, 'orders')?.createdAt;
    const status = {
      clusterID: 'orders',
      createdAt: new Date(createdAt ?? '').toISOString(),
      credentials: { secretName: 'orders-admin', secretResourceVersion: '1', endpoint: 'https://a.test' },
    };
    const first = { metadata: { namespace: 'shop', name: 'first', uid: 'u' }, spec: aCluster().subject.spec, status };
    Object.assign(bench.world(), {
      claimants: (_space: string, id: string) => ['shop/orders', ...(id === 'orders' ? ['shop/first'] : [])],
      cluster: (key: string) => (key === 'shop/first' ? first : cluster(key as 'shop/orders')),
    });
    await bench.until('False SecretNotOurs');
    expect(bench.told.at(-1)).toContain(
      'Secret "orders-admin" belongs to DatabaseCluster "first", so it is left alone',
    );
    expect(bench.told.at(-1)).not.toMatch(/remove|labels/);
  });

  it('lets another object of the name clone that cluster, as its login works there, too', async () => {
    const bench = await runningBench();
    const kept = bench.secret();
    await replaced(bench, { clusterID: 'orders-2', cloneFrom: { clusterID: 'orders' } });
    await bench.until('True Running');
    expect(bench.secret()).toEqual(kept);
  });

  it('stays if a new process was never shown all clusters', async () => {
    const bench = await runningBench();
    const kept = bench.secret();
    await replaced(bench, { clusterID: 'orders-2', adoptionPolicy: 'IfExists' });
    bench.simulator.deployForeign({ id: 'orders-2', ...LIKE_OURS });
    const makeReadable = makeUnreadable(bench.simulator, 'orders');
    await bench.restart();
    for (let pass = 0; pass < 20; pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(bench.secret()).toEqual(kept);
    makeReadable();
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False SecretNotOurs');
  });

  it('stays also if that other cluster is destroyed with its object', async () => {
    const bench = await runningBench();
    const kept = bench.secret();
    await replaced(bench, { clusterID: 'orders-2', deletionPolicy: 'Delete' });
    await bench.until('False SecretNotOurs');
    bench.kube.remove(DATABASE_CLUSTERS, REF);
    for (let pass = 0; pass < 20 && bench.kube.all(DATABASE_CLUSTERS).length > 0; pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(bench.kube.all(DATABASE_CLUSTERS)).toEqual([]);
    expect(bench.secret()).toEqual(kept);
  });

  it('stays also if the object has taken over another cluster, which is destroyed with it', async () => {
    const bench = await runningBench();
    const kept = bench.secret();
    bench.simulator.deployForeign({ id: 'orders-2', ...LIKE_OURS });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await replaced(bench, { clusterID: 'orders-2', adoptionPolicy: 'IfExists', deletionPolicy: 'Delete' });
    await bench.until('False SecretNotOurs');
    expect(bench.status().createdAt).toBeDefined();
    bench.kube.remove(DATABASE_CLUSTERS, REF);
    for (let pass = 0; pass < 20 && bench.kube.all(DATABASE_CLUSTERS).length > 0; pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(clusterNamed(bench.simulator, 'orders-2')).toBeUndefined();
    expect(bench.secret()).toEqual(kept);
  });

  it('is used again if an object of the name adopts that cluster', async () => {
    const bench = await runningBench();
    const kept = bench.secret();
    await replaced(bench, { adoptionPolicy: 'IfExists' });
    await bench.until('True Running');
    expect(bench.secret()).toEqual(kept);
  });

  it('stays if that cluster is in another place, as this space shows nothing of it', async () => {
    const bench = await runningBench();
    const kept = bench.secret();
    const [createdAt] = (await annotationsOf(bench))['mooring.dev/login-of']?.split(' ') ?? [];
    const loginOf = `${createdAt} https://elsewhere.test team/space`;
    await bench.kube.patch(SECRETS, SECRET, { metadata: { annotations: { 'mooring.dev/login-of': loginOf } } });
    bench.simulator.vanish('orders');
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await replaced(bench, { clusterID: 'orders-2' });
    await bench.until('False SecretNotOurs');
    expect(bench.secret()).toEqual(kept);
  });

  it('is overwritten if that cluster is gone', async () => {
    const bench = await runningBench();
    const kept = bench.secret();
    bench.simulator.vanish('orders');
    await replaced(bench, { clusterID: 'orders-2' });
    await bench.until('True Running');
    expect(bench.secret()?.['password']).not.toBe(kept?.['password']);
    expectOneWorkingLogin(bench, 'orders-2');
  });
});

describe('The Secret with the login of an object', () => {
  const { status } = aCluster().healthy().subject;
  const saying = (createdAt: string) => ({ 'mooring.dev/login-of': `${createdAt} https://cloud.test team/space` });
  const HERE = { baseURL: 'https://cloud.test', teamID: 'team', spaceID: 'space' };
  const secretOf = (name: string, annotations: Readonly<Record<string, string>>) => {
    const known = { name, uid: 'u', resourceVersion: '1', labels: {}, annotations, ownerReferences: [], type: '' };
    return { ...known, data: new Map(), notText: new Set<string>() };
  };

  it.each([
    ['its own', 'orders-admin', saying(CREATED_AT), true],
    ['another one, whatever that says', 'other', saying(CREATED_AT), false],
    ['one that says it is for another cluster', 'orders-admin', saying('2020-01-01T00:00:00.000Z'), false],
    ['one that says nothing', 'orders-admin', {}, false],
  ])('is %s: %s', (_what, name, annotations, isOwn) => {
    expect(holdsOwnLogin({ status }, secretOf(name, annotations))).toBe(isOwn);
  });

  it.each([
    ['has that of its cluster', CREATED_AT, HERE, true],
    ['has that of a cluster created at the same time elsewhere', CREATED_AT, PLACE, false],
    ['may be that of any cluster, as none has a creation time', NO_CREATION_TIME, HERE, false],
  ])('before it was verified, in a Secret without labels that %s', (_what, createdAt, place, isOurs) => {
    const { subject } = aCluster().owned().withStatus({ createdAt, place });
    expect(isOurSecret(subject, secretOf('orders-admin', saying(createdAt)))).toBe(isOurs);
  });

  it('is not ours before it was verified if it says that it is for another cluster here', () => {
    const { subject } = aCluster().owned().withStatus({ place: HERE });
    expect(isOurSecret(subject, secretOf('orders-admin', saying('2020-01-01T00:00:00.000Z')))).toBe(false);
  });

  it.each([
    ['it is for this cluster', aCluster().owned().withStatus({ place: HERE }), {}, false],
    ['it has the label of this object', aCluster(), { 'mooring.dev/cluster': 'orders' }, false],
    ['its login was verified', aCluster().healthy(), {}, true],
  ])('belongs to another object that it names, although %s, unless that was verified', (_, given, labels, isOurs) => {
    const secret = {
      ...secretOf('orders-admin', saying(CREATED_AT)),
      labels: { 'mooring.dev/user': 'app', ...labels },
    };
    expect(isOurSecret(given.subject, secret)).toBe(isOurs);
    expect(isOurSecret(given.subject, { ...secret, labels })).toBe(true);
  });
});
