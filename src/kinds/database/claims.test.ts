import { describe, expect, it } from 'vitest';
import { changing, databaseBench, readyBench } from '../../../test/support/database-bench.ts';
import { DATABASES } from './resource.ts';

const STATUS = { subresource: 'status' } as const;

describe('Two objects for one database', () => {
  it('are one too many: the older has it, the other says so, and takes over when the older goes', async () => {
    const bench = await readyBench();
    await bench.cluster.clock.advance(10_000);
    await bench.create('shop/twin', { name: 'orders', adoptionPolicy: 'IfExists', deletionPolicy: 'Delete' });
    await bench.until('False DatabaseClaimed', 'shop/twin');
    expect(bench.condition('Ready', 'shop/twin')?.message).toContain('belongs to Database "shop/orders"');
    expect(bench.takeCalls()).toEqual([]);

    bench.remove('shop/twin');
    expect(bench.object('shop/twin')).toBeUndefined();
    expect(bench.databases()).toEqual(['orders']);

    await bench.create('shop/twin', { name: 'orders', adoptionPolicy: 'IfExists' });
    bench.remove();
    await bench.until('gone');
    await bench.until('True DatabaseReady', 'shop/twin');
    expect(changing(bench)).toEqual([]);
  });

  it('take it over at the same moment: the younger lets go, and takes over when the older goes', async () => {
    const bench = await databaseBench({ database: { adoptionPolicy: 'IfExists' } });
    const { simulator, kube, clock } = bench.cluster;
    simulator.createDatabase('orders', 'orders');
    await clock.advance(10_000);
    await bench.create('shop/twin', { name: 'orders', adoptionPolicy: 'IfExists' });
    await bench.until('True DatabaseReady');
    const { name, cluster } = bench.status();
    await kube.patch(DATABASES, { namespace: 'shop', name: 'twin' }, { status: { name, cluster } }, STATUS);
    await bench.until('False DatabaseClaimed', 'shop/twin');
    expect([bench.status().name, bench.status('shop/twin').name]).toEqual(['orders', undefined]);
    await bench.until('True DatabaseReady');
    bench.remove();
    await bench.until('gone');
    await bench.until('True DatabaseReady', 'shop/twin');
    expect(changing(bench)).toEqual([]);
  });

  it('are handled in the wrong order: the older has it all the same', async () => {
    const bench = await databaseBench({ database: {} });
    await bench.cluster.clock.advance(10_000);
    await bench.create('shop/twin', { name: 'orders' });
    await bench.until('False DatabaseClaimed', 'shop/twin');
    await bench.until('True DatabaseReady');
  });
});

describe('A namespace that the cluster does not admit', () => {
  const tenant = {
    clusterRef: { name: 'orders', namespace: 'shop' },
    adoptionPolicy: 'IfExists',
    deletionPolicy: 'Delete',
  };

  it('gets nothing: no database, no name, and no call is made for it', async () => {
    const bench = await databaseBench({ labels: { tenant: {} } });
    await bench.create('tenant/orders', { ...tenant, name: 'orders' });
    await bench.cluster.clock.advance(10_000);
    await bench.create('shop/orders');
    // The tenant's object is older, and is handled only afterwards.
    await bench.until('True DatabaseReady');
    bench.takeCalls();
    await bench.until('False ClusterNotAllowed', 'tenant/orders');
    await bench.until('True DatabaseReady');
    bench.remove('tenant/orders');
    expect(bench.object('tenant/orders')).toBeUndefined();
    expect(bench.takeCalls()).toEqual([]);
    expect(bench.databases()).toEqual(['orders']);
  });

  it('gets a database as soon as the cluster admits it, and keeps out of the others', async () => {
    const bench = await databaseBench({
      spec: { allowedNamespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } } },
      labels: { tenant: { team: 'a' }, other: { team: 'b' } },
    });
    await bench.create('tenant/theirs', { ...tenant, name: 'theirs' });
    await bench.until('True DatabaseReady', 'tenant/theirs');
    await bench.create('other/theirs', { ...tenant, name: 'theirs' });
    await bench.until('False ClusterNotAllowed', 'other/theirs');
    expect(bench.databases()).toEqual(['theirs']);
  });
});
