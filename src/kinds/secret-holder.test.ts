import { describe, expect, it } from 'vitest';
import { expectOneWorkingLogin, runningBench } from '../../test/support/kind-bench.ts';
import { readyUserBench, userBench } from '../../test/support/user-bench.ts';
import { otherHolder } from './secret-holder.ts';

const CLUSTER = 'mooring.dev/cluster';
const USER = 'mooring.dev/user';
const MANAGED = { 'app.kubernetes.io/managed-by': 'mooring' };
const REMOVING = /remove it|labels/;

describe('whose a Secret is', () => {
  const owner = (kind: string, name: string, apiVersion = 'mooring.dev/v1alpha1') => ({
    ...{ apiVersion, kind, name },
    uid: 'u',
  });
  const user = { kind: 'DatabaseUser', name: 'app' };
  it.each([
    ['one that says nothing', {}, undefined],
    ['one with its own label', { labels: { [USER]: 'app' } }, undefined],
    ["one with another's label", { labels: { [USER]: 'web' } }, { kind: 'DatabaseUser', name: 'web' }],
    [
      "one with the other kind's label beside its own",
      { labels: { [USER]: 'app', [CLUSTER]: 'app' } },
      { kind: 'DatabaseCluster', name: 'app' },
    ],
    [
      'one that is restored, whose owner had another uid',
      { ownerReferences: [owner('DatabaseUser', 'app')] },
      undefined,
    ],
    [
      "one with its own label and another's owner reference",
      { labels: { [USER]: 'app' }, ownerReferences: [owner('DatabaseUser', 'web')] },
      { kind: 'DatabaseUser', name: 'web' },
    ],
    ['one with an owner of another group', { ownerReferences: [owner('Deployment', 'web', 'apps/v1')] }, undefined],
    [
      'one with the login of a cluster',
      { labels: { [USER]: 'app' }, annotations: { 'mooring.dev/login-of': '2026 https://c' } },
      { kind: 'DatabaseCluster', name: undefined },
    ],
  ])('%s', (_what, secret, holder) => {
    expect(otherHolder(user, { labels: {}, annotations: {}, ownerReferences: [], ...secret })).toEqual(holder);
  });
});

describe("a cluster's admin Secret", () => {
  it("is no user's, whatever labels people give it, and stays the cluster's", async () => {
    const bench = await userBench({ user: { connectionSecret: { name: 'orders-admin' } } });
    const before = bench.secret('orders-admin');
    await bench.settle();
    expect(bench.condition()).toMatchObject({ status: 'False', reason: 'SecretNotOurs' });
    expect(bench.condition()?.message).toContain('belongs to DatabaseCluster "orders"');
    expect(bench.condition()?.message).toContain('connectionSecret.name');
    expect(bench.condition()?.message).not.toMatch(REMOVING);

    await bench.editSecret('orders-admin', { metadata: { labels: { [USER]: 'app' } } });
    await bench.settle();
    expect(bench.ready()).toBe('False SecretNotOurs');
    // Even if what says that it is a cluster's is taken away, except for one thing.
    await bench.editSecret('orders-admin', { metadata: { labels: { [CLUSTER]: null } } });
    await bench.settle();
    expect(bench.ready()).toBe('False SecretNotOurs');
    expect(bench.secret('orders-admin')).toEqual(before);
    // Nor if somebody makes the user its owner, which says more than a label.
    const ownerReferences = [
      { apiVersion: 'mooring.dev/v1alpha1', kind: 'DatabaseUser', name: 'app', uid: bench.object()?.metadata.uid },
    ];
    await bench.editSecret('orders-admin', { metadata: { ownerReferences } });
    await bench.settle();
    expect(bench.ready()).toBe('False SecretNotOurs');
    expect(bench.secret('orders-admin')).toEqual(before);
    expect(bench.users()).not.toContain('app');
    await bench.cluster.pass();
    expect(bench.cluster.ready()).toBe('True Running');

    bench.remove();
    await bench.until('gone');
    expect(bench.secret('orders-admin')).toEqual(before);
  });

  it("is no other cluster's, and the one that has it is not told otherwise", async () => {
    const bench = await runningBench();
    const before = bench.secret();
    await bench.putSecret('orders-admin', before ?? {}, { ...MANAGED, [CLUSTER]: 'web' });
    await bench.pass();
    // Its annotations went with that: nothing says any more that the login is this cluster's.
    expect(bench.ready()).toBe('False SecretNotOurs');
    expect(bench.told.at(-1)).toContain('belongs to DatabaseCluster "web"');
    expect(bench.told.at(-1)).not.toMatch(REMOVING);
  });

  it('is kept by the cluster whose login is in it, whatever its labels, and gets its label back', async () => {
    const bench = await userBench();
    await bench.editSecret('orders-admin', { metadata: { labels: { [CLUSTER]: 'web' } } });
    for (let pass = 0; pass < 3; pass++) await bench.cluster.pass();
    expect(bench.cluster.ready()).toBe('True Running');
    await bench.cluster.annotate('mooring.dev/rotate-at', '1');
    for (let pass = 0; pass < 5; pass++) await bench.cluster.pass();
    expect(bench.cluster.ready()).toBe('True Running');
    expect(bench.secretObject('orders-admin')?.metadata.labels).toEqual({ ...MANAGED, [CLUSTER]: 'orders' });
    expectOneWorkingLogin(bench.cluster);
  });
});

describe("a user's connection Secret", () => {
  it("is no cluster's, whatever labels people give it, and stays the user's", async () => {
    const bench = await readyUserBench();
    const before = bench.secret();
    const admin = bench.secret('orders-admin');
    await bench.cluster.edit({ adminCredentials: { secretName: 'app-connection' } });
    for (const labels of [{}, { [CLUSTER]: 'orders' }]) {
      await bench.editSecret('app-connection', { metadata: { labels } });
      await bench.cluster.until('False SecretNotOurs');
      expect(bench.cluster.told.at(-1)).toContain('belongs to DatabaseUser "app"');
      expect(bench.cluster.told.at(-1)).toContain('adminCredentials.secretName');
      expect(bench.cluster.told.at(-1)).not.toMatch(REMOVING);
    }
    expect([bench.secret(), bench.secret('orders-admin')]).toEqual([before, admin]);
    await bench.cluster.edit({ adminCredentials: { secretName: 'orders-admin' } });
    await bench.cluster.until('True Running');
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.secret()).toEqual(before);
  });

  it("is no other user's, even if it is labelled so, and its label comes back", async () => {
    const bench = await readyUserBench();
    const before = bench.secretObject();
    await bench.create('shop/web', { connectionSecret: { name: 'app-connection' } });
    await bench.settle('shop/web');
    expect(bench.condition('shop/web')?.message).toContain('belongs to DatabaseUser "app"');
    expect(bench.condition('shop/web')?.message).not.toMatch(REMOVING);
    await bench.editSecret('app-connection', { metadata: { labels: { [USER]: 'web' } } });
    await bench.settle('shop/web');
    expect(bench.ready('shop/web')).toBe('False SecretNotOurs');
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.secretObject()?.metadata.labels).toEqual(before?.metadata.labels);
    expect(bench.users()).not.toContain('web');
  });
});
