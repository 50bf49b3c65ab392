import { describe, expect, it } from 'vitest';
import { type DatabaseBench, databaseBench, readyBench } from '../../../test/support/database-bench.ts';
import { SECRETS } from '../../kube/api.ts';
import { DIALECTS } from '../../simulator/dialect.ts';
import { DATABASE_CLUSTERS } from '../databasecluster/resource.ts';
import { DATABASES } from './resource.ts';

const ORDERS = { namespace: 'shop', name: 'orders' };

/** The object that is being deleted with deletionPolicy Delete, as far as it still exists. */
const message = (bench: DatabaseBench) => bench.condition('Ready')?.message ?? '';
const deleteCluster = ({ cluster }: DatabaseBench) => cluster.kube.remove(DATABASE_CLUSTERS, ORDERS);

describe.each(DIALECTS)('In dialect %s, deleting a Database', (dialect) => {
  const deletable = { deletionPolicy: 'Delete', schema: [{ inline: 'define entity person;' }] };

  it('keeps the database unless asked to, and makes no call', async () => {
    const bench = await readyBench({ dialect });
    bench.remove();
    await bench.until('gone');
    expect(bench.databases()).toEqual(['orders']);
    expect(bench.takeCalls()).toEqual([]);
    expect(bench.told).toEqual([]);
  });

  it('deletes the database when asked to, with one call, and looks whether it is gone', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    bench.remove();
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
    expect(bench.takeCalls()).toEqual(['deleteDatabase', 'getDatabase']);
  });

  it('goes on if the server says that it is deleted but still shows it', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    const match = { operation: 'deleteDatabase' };
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status: 200, times: 1 });
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    expect(message(bench)).toContain('said that it deleted database "orders", but still shows it');
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('deletes nothing if the sign-in for it took so long that a person may have ordered otherwise', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    const { clock, simulator } = bench.cluster;
    simulator.faults.add({ match: { operation: 'deleteDatabase' }, effect: 'expiredToken', times: 1 });
    simulator.faults.add({ match: { operation: 'signIn' }, effect: 'delay', delayMs: 15_000, times: 1 });
    bench.remove();
    const passing = bench.pass();
    await clock.advance(10_000);
    await bench.edit({ deletionPolicy: 'Retain' });
    await clock.advance(10_000);
    await passing;
    await bench.until('gone');
    expect(bench.databases()).toEqual(['orders']);
    expect(bench.takeCalls()).toEqual(['deleteDatabase', 'signIn']);
  });

  it('goes by what the spec says last', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    bench.showAsNow();
    await bench.edit({ deletionPolicy: 'Retain' });
    bench.remove();
    await bench.pass();
    expect(bench.databases()).toEqual(['orders']);
    bench.showAsIs();
    await bench.until('gone');
    expect(bench.databases()).toEqual(['orders']);
  });

  it.each([
    ['wants it kept', (bench: DatabaseBench) => bench.edit({ deletionPolicy: 'Retain' })],
    ['paused it', (bench: DatabaseBench) => bench.annotate('mooring.dev/paused', 'true')],
  ])('deletes nothing by a cache that does not show yet that a person %s', async (_what, say) => {
    const bench = await readyBench({ dialect, database: deletable });
    bench.remove();
    bench.showAsNow();
    await say(bench);
    await bench.pass();
    expect(bench.databases()).toEqual(['orders']);
    expect(bench.takeCalls()).not.toContain('deleteDatabase');
  });

  it('waits while transactions are open, says so in the words of the server, and goes when they end', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    const close = await (await bench.outsider()).open('write');
    bench.remove();
    expect(await bench.settle()).toMatchObject({ next: 'failed', failure: { lasting: 'transient' } });
    expect(bench.ready()).toBe('Unknown DatabaseInUse');
    expect(message(bench)).toContain('has open transactions');
    expect(message(bench)).toMatch(/If this persists, end what uses it.*mooring\.dev\/abandon=true/);
    expect(bench.databases()).toEqual(['orders']);
    await close();
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('takes 409 for transactions that are open, too', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    const match = { operation: 'deleteDatabase' };
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status: 409, times: 1 });
    bench.remove();
    expect(await bench.settle()).toMatchObject({ next: 'failed', failure: { lasting: 'transient' } });
    expect(bench.ready()).toBe('Unknown DatabaseInUse');
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('does not go because a single look does not find a database that is in use', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    const close = await (await bench.outsider()).open('write');
    const match = { operation: 'getDatabase' };
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status: 404, times: 1 });
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown DatabaseInUse');
    await close();
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('does not take a single 404 as proof that it is gone', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    const match = { operation: 'deleteDatabase' };
    bench.cluster.simulator.faults.add({ match, effect: 'html', status: 404, times: 1 });
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown NotFound');
    expect(message(bench)).toContain('the server shows it');
    expect(bench.databases()).toEqual(['orders']);
    expect(bench.takeCalls()).toEqual(['deleteDatabase', 'getDatabase']);
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('ends if somebody else deletes the database right before', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    await bench.world().servers.hasDatabase(await bench.place(), 'orders', new AbortController().signal);
    bench.cluster.simulator.dropDatabase('orders', 'orders');
    bench.remove();
    await bench.until('gone');
  });

  it('ends if the database is gone already', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    bench.cluster.simulator.dropDatabase('orders', 'orders');
    bench.remove();
    await bench.until('gone');
  });

  it('does not delete a database that it did not create', async () => {
    const bench = await databaseBench({ dialect, database: deletable });
    bench.cluster.simulator.createDatabase('orders', 'orders');
    await bench.until('False DatabaseExists');
    bench.remove();
    expect(bench.ready()).toBe('gone');
    expect(bench.databases()).toEqual(['orders']);
  });

  it('deletes a database whose creation was not answered', async () => {
    const bench = await databaseBench({ dialect, database: deletable });
    bench.cluster.simulator.faults.add({ match: { operation: 'createDatabase' }, effect: 'lostAnswer', times: 1 });
    await bench.settle();
    expect(bench.databases()).toEqual(['orders']);
    bench.remove();
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it.each(['lostAnswer', 'reset', 'errorBefore', '429', 'truncated', 'expiredToken', 'hang'] as const)(
    'ends even if the call ends with %s',
    async (effect) => {
      const bench = await readyBench({ dialect, database: deletable });
      bench.cluster.simulator.faults.add({ match: { operation: 'deleteDatabase' }, effect, times: 1 });
      bench.remove();
      const done = bench.until('gone');
      await bench.cluster.clock.advance(400_000);
      await done;
      expect(bench.databases()).toEqual([]);
    },
  );

  it.each(['before', 'after'] as const)('ends even if the process ends %s its finalizer is removed', async (when) => {
    const bench = await readyBench({ dialect, database: deletable });
    bench.remove();
    bench.cluster.crashAt({ verb: 'patch', plural: 'databases', when });
    await expect(bench.settle()).rejects.toThrow('The process ends here');
    await bench.restart();
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('waits while the cluster is suspended, without a call, and goes on when it runs', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    bench.takeCalls();
    bench.remove();
    expect(await bench.settle()).toEqual({ next: 'settled', requeueAfterMs: undefined });
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
    expect(message(bench)).toContain('annotate mooring.dev/abandon=true');
    expect(bench.takeCalls()).toEqual([]);
    await bench.cluster.edit({ state: 'Running' });
    await bench.cluster.until('True Running');
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('waits while the server cannot be reached, and goes on when it can', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    const outage = bench.cluster.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ServerUnreachable');
    bench.cluster.simulator.faults.remove(outage);
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('waits visibly while the admin login is lost, and goes with the cluster, not silently', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    await bench.restart();
    bench.cluster.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterLoginLost');
    deleteCluster(bench);
    await bench.cluster.pass();
    await bench.until('gone');
    expect(bench.told.at(-1)).toMatch(/^left shop\/orders: Database "orders" was not deleted .* is left where it is/);
    expect(bench.databases()).toEqual(['orders']);
  });

  it('reports what is left if the cluster object is gone first', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    deleteCluster(bench);
    await bench.cluster.pass();
    bench.remove();
    await bench.until('gone');
    expect(bench.told).toEqual([expect.stringContaining('sees no DatabaseCluster "orders" in namespace "shop"')]);
  });

  describe('while its cluster is shown as another one', () => {
    const goingElsewhere = async () => {
      const bench = await readyBench({ dialect, database: deletable });
      const { createdAt } = bench.cluster.status();
      const show = (at: string | undefined) =>
        bench.cluster.kube.patch(DATABASE_CLUSTERS, ORDERS, { status: { createdAt: at } }, { subresource: 'status' });
      await show('2026-11-01T10:00:00.000Z');
      bench.remove();
      await bench.settle();
      expect(bench.ready()).toBe('Unknown WaitingForCluster');
      expect(message(bench)).toContain('annotate mooring.dev/abandon=true');
      return { bench, putRight: () => show(createdAt) };
    };

    it('waits, and deletes the database when that is put right', async () => {
      const { bench, putRight } = await goingElsewhere();
      await bench.cluster.clock.advance(100_000);
      await bench.settle();
      await putRight();
      await bench.until('gone');
      expect([bench.databases(), bench.told]).toEqual([[], []]);
    });

    it('goes after two minutes, and reports what is left', async () => {
      const { bench } = await goingElsewhere();
      await bench.until('gone');
      expect(bench.databases()).toEqual(['orders']);
      expect(bench.told).toEqual([
        expect.stringMatching(
          /^left shop\/orders: Database "orders" .* the database is left where it is, with its data/,
        ),
      ]);
    });
  });

  it('is not held up by a space that went first, nor holds up the cluster', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    bench.removeSpace();
    bench.remove();
    await bench.settle();
    expect(bench.ready()).not.toBe('gone');
    const { kube } = bench.cluster;
    const resourceVersion = kube.all(DATABASE_CLUSTERS)[0]?.metadata.resourceVersion;
    await kube.patch(DATABASE_CLUSTERS, ORDERS, { metadata: { resourceVersion, finalizers: ['test/waits'] } });
    deleteCluster(bench);
    await bench.until('gone');
    expect(bench.told).toEqual([expect.stringContaining('its DatabaseSpace is gone already')]);
  });

  it('is silent if the cluster is destroyed with everything on it', async () => {
    const bench = await readyBench({ dialect, database: deletable, spec: { deletionPolicy: 'Delete' } });
    bench.cluster.simulator.setKnobs({ destroyMs: [60_000, 60_000] });
    deleteCluster(bench);
    await bench.cluster.pass();
    await bench.cluster.world().connections.get('shop/production')?.poller.refresh();
    await bench.cluster.pass();
    bench.remove();
    await bench.until('gone');
    expect(bench.told).toEqual([]);
  });

  it('can be let go by a person at any time', async () => {
    const bench = await readyBench({ dialect, database: deletable });
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    bench.remove();
    await bench.settle();
    await bench.annotate('mooring.dev/abandon', 'true');
    await bench.until('gone');
  });
});

describe('A Database beside its cluster', () => {
  it('is as it should be while the cluster is suspended, without a call, and waits if it is changed', async () => {
    const bench = await readyBench({ database: { schema: [{ inline: 'define entity person;' }] } });
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    bench.takeCalls();
    expect(await bench.settle()).toEqual({ next: 'settled', requeueAfterMs: undefined });
    expect(bench.ready()).toBe('True ClusterSuspended');
    expect(bench.condition('Synced')).toMatchObject({ status: 'True' });
    await bench.edit({ schema: [{ inline: 'define entity animal;' }] });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
    expect(bench.condition('Synced')).toMatchObject({ status: 'Unknown', reason: 'SchemaPending' });
    expect(bench.takeCalls()).toEqual([]);
    await bench.cluster.edit({ state: 'Running' });
    await bench.cluster.until('True Running');
    await bench.until('True DatabaseReady');
    expect(bench.condition('Synced')).toMatchObject({ status: 'True', reason: 'SchemaApplied' });
  });

  it('is Synced again once its sources are again those that were applied, while the cluster is suspended too', async () => {
    const inline = { inline: 'define entity person;' };
    const fromMap = { configMapKeyRef: { name: 'orders-schema', key: 'base' } };
    const bench = await databaseBench({ database: { schema: [fromMap, inline] } });
    await bench.putConfigMap('orders-schema', { base: 'define entity animal;' });
    await bench.until('True DatabaseReady');
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    const synced = async () => {
      await bench.settle();
      return `${bench.condition('Synced')?.status} ${bench.condition('Synced')?.reason}`;
    };
    const words = bench.condition('Synced')?.message;
    expect(await synced()).toBe('True SchemaApplied');
    await bench.putConfigMap('orders-schema', { base: 'define entity plant;' });
    expect(await synced()).toBe('Unknown SchemaPending');
    await bench.putConfigMap('orders-schema', { base: 'define entity animal;' });
    expect([await synced(), bench.ready()]).toEqual(['True SchemaApplied', 'True ClusterSuspended']);
    await bench.edit({ schema: null });
    expect(await synced()).toBe('True SchemaNotManaged');
    await bench.edit({ schema: [fromMap, inline] });
    expect([await synced(), bench.condition('Synced')?.message]).toEqual(['True SchemaApplied', words]);
  });

  it('is as it should be although it waited for the cluster before its spec said that it is suspended', async () => {
    const bench = await readyBench({ database: { schema: [{ inline: 'define entity person;' }] } });
    const patch = (status: object) =>
      bench.cluster.kube.patch(DATABASE_CLUSTERS, ORDERS, { status }, { subresource: 'status' });
    await patch({ conditions: [] });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown WaitingForCluster');
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.settle();
    expect(bench.ready()).toBe('True ClusterSuspended');
    await patch({ createdAt: '2020-01-01T00:00:00.000Z' });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
  });

  it('gets the finalizer back that a replaced object lacks, while the cluster is suspended too', async () => {
    const bench = await readyBench({ database: {} });
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    await bench.settle();
    await bench.cluster.kube.patch(DATABASES, ORDERS, { metadata: { finalizers: null } });
    bench.takeCalls();
    await bench.settle();
    expect(bench.object()?.metadata.finalizers).toEqual(['mooring.dev/database']);
    expect([bench.ready(), bench.takeCalls()]).toEqual(['True ClusterSuspended', []]);
  });

  it('waits for a cluster that does not exist, and is created on it when it does', async () => {
    const bench = await databaseBench();
    await bench.create('shop/stock', { clusterRef: { name: 'stock' } });
    expect(await bench.settle('shop/stock')).toEqual({ next: 'settled', requeueAfterMs: undefined });
    expect(bench.ready('shop/stock')).toBe('Unknown ClusterNotFound');
    expect(bench.takeCalls()).toEqual([]);
  });
});
