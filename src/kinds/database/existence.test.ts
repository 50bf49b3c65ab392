import { describe, expect, it } from 'vitest';
import { changing, type DatabaseBench, databaseBench, readyBench } from '../../../test/support/database-bench.ts';
import { staysRefused } from '../../../test/support/refused-creation.ts';
import { DIALECTS } from '../../simulator/dialect.ts';
import { DATABASE_FINALIZER, DATABASES } from './resource.ts';

const SCHEMA = { schema: [{ inline: 'define entity person;' }] };
const DEFINED = 'entity person;';

const ADDED_BY_OTHERS = 'define entity theirs;';

/** A database that somebody else made, with a schema of theirs. */
async function withTheirs(bench: DatabaseBench): Promise<DatabaseBench> {
  bench.cluster.simulator.createDatabase('orders', 'orders');
  await (await bench.outsider()).define(ADDED_BY_OTHERS);
  return bench;
}

describe.each(DIALECTS)('In dialect %s, a database that existed before', (dialect) => {
  it('does not become ours: it is left alone, and the object says that it is not its own', async () => {
    const bench = await withTheirs(await databaseBench({ dialect, database: SCHEMA }));
    await bench.until('False DatabaseExists');
    expect(bench.status().name).toBeUndefined();
    expect(bench.schema()).not.toContain(DEFINED);
    expect(changing(bench)).toEqual([]);
    expect(bench.object()?.metadata.finalizers).toBeUndefined();
  });

  it('does not become ours if it appears between the List and the call', async () => {
    const bench = await databaseBench({ dialect, database: SCHEMA });
    // The intention is recorded; then somebody else is faster.
    await bench.pass();
    expect(bench.status().operation).toMatchObject({ type: 'CreateDatabase', target: 'orders' });
    await withTheirs(bench);
    await bench.until('False DatabaseExists');
    expect(bench.status().operation).toBeUndefined();
    expect(changing(bench)).toEqual([]);
  });

  it('becomes the database of one of two objects that were about to create it at the same time', async () => {
    const bench = await databaseBench({ dialect, database: {} });
    const { simulator, kube, clock } = bench.cluster;
    await bench.pass();
    simulator.setKnobs({ latencyMs: [1_000, 1_000] });
    // It decides before it knows of the other one, which is older and began later.
    const first = bench.pass();
    const second = { namespace: 'shop', name: 'second' };
    await bench.create('shop/second', { name: 'orders' });
    const older = { creationTimestamp: '2001-01-01T00:00:00Z', finalizers: [DATABASE_FINALIZER] };
    await kube.patch(DATABASES, second, { metadata: older });
    const { cluster, operation } = bench.status();
    await kube.patch(DATABASES, second, { status: { cluster, operation } }, { subresource: 'status' });
    await Promise.all([first, bench.pass('shop/second'), clock.advance(20_000)]);
    for (const key of ['shop/orders', 'shop/second', 'shop/orders', 'shop/second'])
      await Promise.all([bench.pass(key), clock.advance(20_000)]);
    expect(changing(bench).filter((call) => call === 'createDatabase')).toHaveLength(1);
    expect([bench.status().name, bench.status('shop/second').name]).toEqual(['orders', undefined]);
    expect(bench.ready('shop/second')).toBe('False DatabaseClaimed');
  });

  it.each([400, 403])(
    'does not become ours after our creation was refused with %i, no matter what restarts',
    async (status) => {
      const bench = await databaseBench({ dialect, database: {} });
      const refusal = { match: { operation: 'createDatabase' }, effect: 'errorBefore', status, times: 3 } as const;
      bench.cluster.simulator.faults.add(refusal);
      await bench.pass();
      await bench.pass();
      await staysRefused(bench);
      expect(bench.takeCalls().filter((call) => call === 'createDatabase')).toHaveLength(3);
      await withTheirs(bench);
      await bench.restart();
      await bench.until('False DatabaseExists');
      expect(bench.status().name).toBeUndefined();
      expect(bench.schema()).toContain('entity theirs;');
    },
  );

  it('does not become ours after our creation ended before it was sent, because a new token had to be fetched', async () => {
    const bench = await databaseBench({ dialect, database: { deletionPolicy: 'Delete' } });
    const { faults } = bench.cluster.simulator;
    await bench.pass();
    bench.takeCalls();
    faults.add({ match: { operation: 'createDatabase' }, effect: 'expiredToken', times: 1 });
    faults.add({ match: { operation: 'signIn' }, effect: 'lostAnswer', times: 1 });
    expect(await bench.pass()).toMatchObject({ next: 'failed' });
    expect(bench.takeCalls().slice(-2)).toEqual(['createDatabase', 'signIn']);
    await withTheirs(bench);
    await bench.until('False DatabaseExists');
    bench.remove();
    await bench.until('gone');
    expect(bench.databases()).toEqual(['orders']);
  });

  it('does not become ours through a pass that sees an old version of the object', async () => {
    const bench = await databaseBench({ dialect, database: {} });
    bench.showAsNow();
    await withTheirs(bench);
    for (let pass = 0; pass < 3; pass++) await bench.pass();
    expect(bench.status().name).toBeUndefined();
    bench.showAsIs();
    await bench.until('False DatabaseExists');
  });

  it('is taken over with adoptionPolicy IfExists, and its schema with it', async () => {
    const bench = await withTheirs(
      await databaseBench({ dialect, database: { ...SCHEMA, adoptionPolicy: 'IfExists' } }),
    );
    await bench.until('True DatabaseReady');
    expect(bench.schema()).toContain('entity theirs;');
    expect(bench.schema()).toContain(DEFINED);
    expect(bench.condition('Synced')).toMatchObject({ status: 'True' });
    expect(changing(bench)).not.toContain('createDatabase');
  });

  it('is created as soon as the other one is gone', async () => {
    const bench = await withTheirs(await databaseBench({ dialect, database: {} }));
    await bench.until('False DatabaseExists');
    bench.cluster.simulator.dropDatabase('orders', 'orders');
    await bench.until('True DatabaseReady');
  });
});

describe.each(DIALECTS)('In dialect %s, creating a database', (dialect) => {
  const moments = [
    ['before the finalizer', 1, 'before'],
    ['after the finalizer', 1, 'after'],
    ['before it is recorded', 2, 'before'],
    ['after it was recorded', 2, 'after'],
    ['after the call, before the call is recorded', 3, 'before'],
    ['after the call was recorded', 3, 'after'],
  ] as const;

  it.each(moments)('is ours, and created once, even if the process ends %s', async (_moment, write, when) => {
    const bench = await databaseBench({ dialect, database: SCHEMA });
    for (let writes = 1; writes < write; writes++) {
      // Each write is one at which an earlier process may have ended.
      bench.cluster.crashAt({ verb: 'patch', plural: 'databases', when: 'after' });
      await expect(bench.pass()).rejects.toThrow('The process ends here');
    }
    bench.cluster.crashAt({ verb: 'patch', plural: 'databases', when });
    await expect(bench.settle()).rejects.toThrow('The process ends here');
    await bench.restart();
    await bench.until('True DatabaseReady');
    expect(bench.databases()).toEqual(['orders']);
    expect(bench.schema()).toContain(DEFINED);
  });

  it.each([
    'lostAnswer',
    'truncated',
    'brokenBody',
    'reset',
    'errorBefore',
    '5xx',
    '429',
    'html',
    'expiredToken',
  ] as const)('is ours, and created once, even if the call ends with %s', async (effect) => {
    for (const restarts of [false, true]) {
      const bench = await databaseBench({ dialect, database: SCHEMA });
      bench.cluster.simulator.faults.add({ match: { operation: 'createDatabase' }, effect, times: 1 });
      for (let pass = 0; pass < 3; pass++) {
        await bench.pass();
        // What a 429 taught is forgotten by then: a pass would wait for its turns, and no time passes in it here.
        await bench.cluster.clock.advance(11 * 60_000);
      }
      if (restarts) await bench.restart();
      await bench.until('True DatabaseReady');
      expect(bench.databases()).toEqual(['orders']);
    }
  });

  it.each(['listDatabases', 'getDatabase', 'getSchema', 'signIn'])(
    'goes on after failures of %s',
    async (operation) => {
      const bench = await databaseBench({ dialect, database: SCHEMA });
      bench.cluster.simulator.faults.add({ match: { operation }, effect: 'errorBefore', times: 3 });
      bench.cluster.simulator.restartServers('orders');
      await bench.until('True DatabaseReady');
      expect(bench.databases()).toEqual(['orders']);
    },
  );

  it('does nothing if the object was paused, changed or deleted a moment ago', async () => {
    const bench = await databaseBench({ dialect, database: {} });
    await bench.pass();
    bench.showAsNow();
    await bench.annotate('mooring.dev/paused', 'true');
    await bench.pass();
    expect(bench.databases()).toEqual([]);
    bench.showAsIs();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown Paused');
    expect(bench.condition('Ready')?.message).toContain('would create database "orders"');
    expect(bench.databases()).toEqual([]);
  });

  it('takes the name in the spec, or otherwise that of the object', async () => {
    const bench = await readyBench({ dialect, database: { name: 'Größe-数据' } });
    expect(bench.databases()).toEqual(['Größe-数据']);
    await bench.create('shop/stock');
    await bench.until('True DatabaseReady', 'shop/stock');
    expect(bench.databases()).toEqual(['Größe-数据', 'stock']);
  });

  it('is not treated as gone because looks for it alone do not find it', async () => {
    const bench = await readyBench({ dialect, database: { schema: [{ inline: 'define entity person;' }] } });
    for (const operation of ['getSchema', 'getDatabase'])
      bench.cluster.simulator.faults.add({ match: { operation }, effect: 'html', status: 404, times: 2 });
    for (let look = 0; look < 2; look++) {
      await bench.annotate('mooring.dev/reconcile-at', String(look));
      await bench.settle();
      expect(bench.ready()).toBe('Unknown NotFound');
      expect(bench.status()).toMatchObject({ name: 'orders' });
    }
    await bench.until('True DatabaseReady');
    expect(bench.takeCalls()).not.toContain('createDatabase');
  });

  it('is not asked for with a name that servers may compose', async () => {
    const bench = await databaseBench({ dialect, database: { name: 'Gro\u0308\u00dfe' } });
    bench.takeCalls();
    await bench.settle();
    expect(bench.ready()).toBe('False InvalidDatabaseName');
    expect(bench.takeCalls()).toEqual([]);
  });

  it('is not asked for with a name that no server accepts', async () => {
    const bench = await databaseBench({ dialect });
    await bench.create('shop/orders.eu');
    await bench.settle('shop/orders.eu');
    expect(bench.ready('shop/orders.eu')).toBe('False InvalidDatabaseName');
    expect(bench.takeCalls()).toEqual([]);
  });
});

describe.each(DIALECTS)('In dialect %s, a database that somebody deleted', (dialect) => {
  it('is missed at the routine check, reported as vanished, and created again with its schema', async () => {
    const bench = await readyBench({ dialect, database: SCHEMA });
    bench.cluster.simulator.dropDatabase('orders', 'orders');
    await bench.pass();
    expect(bench.ready()).toBe('True DatabaseReady');
    await bench.cluster.clock.advance(700_000);
    const { clock } = bench.cluster;
    for (const beganMs = clock.monotonic(); bench.ready() !== 'False DatabaseVanished'; ) {
      expect(clock.monotonic() - beganMs).toBeLessThanOrEqual(20_000);
      await bench.pass();
      expect(changing(bench)).toEqual([]);
      await clock.advance(1_000);
    }
    expect(bench.status().operation).toMatchObject({ type: 'CreateDatabase' });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.schema()).toContain(DEFINED);
  });

  it('is missed also if the shared List is from just before', async () => {
    const bench = await readyBench({ dialect, database: SCHEMA });
    await bench.cluster.clock.advance(700_000);
    await bench.world().servers.hasDatabase(await bench.place(), 'orders', new AbortController().signal);
    bench.cluster.simulator.dropDatabase('orders', 'orders');
    expect(await bench.pass()).not.toMatchObject({ next: 'failed' });
    expect(bench.ready()).toBe('False NotFound');
  });

  it('is looked for once more before it is reported', async () => {
    const bench = await readyBench({ dialect, database: SCHEMA });
    await bench.cluster.clock.advance(700_000);
    // As a List that was requested before it was created.
    bench.world().servers.databaseChanged(await bench.place(), 'orders', false);
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(changing(bench)).toEqual([]);
  });

  it('belongs to another cluster if the cluster was replaced', async () => {
    const bench = await readyBench({ dialect, database: SCHEMA });
    const before = bench.status().cluster;
    bench.cluster.simulator.replaceCluster('orders');
    await bench.cluster.until('False IdentityChanged');
    await bench.until('Unknown WaitingForCluster');
    const createdAt = /accept-identity=(\S+)/.exec(
      bench.cluster.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    )?.[1];
    await bench.cluster.annotate('mooring.dev/accept-identity', createdAt ?? '');
    await bench.cluster.until('True Running');
    await bench.until('True DatabaseReady');
    expect(bench.status().cluster).toBe(createdAt);
    expect(bench.status().cluster).not.toBe(before);
    expect(bench.schema()).toContain(DEFINED);
  });

  it('is left alone on a cluster that was restored with it, until IfExists takes it over', async () => {
    const bench = await readyBench({ dialect, database: SCHEMA });
    const { password = '' } = bench.cluster.secret() ?? {};
    bench.cluster.simulator.replaceCluster('orders');
    bench.cluster.simulator.setPassword('orders', 'admin', password);
    bench.cluster.simulator.createDatabase('orders', 'orders');
    await bench.cluster.until('False IdentityChanged');
    const { message = '' } = bench.cluster.status().conditions?.find(({ type }) => type === 'Ready') ?? {};
    await bench.cluster.annotate('mooring.dev/accept-identity', /accept-identity=(\S+)/.exec(message)?.[1] ?? '');
    await bench.cluster.until('True Running');
    await bench.until('False DatabaseExists');
    bench.takeCalls();
    await bench.edit({ adoptionPolicy: 'IfExists' });
    await bench.until('True DatabaseReady');
    expect(bench.takeCalls()).not.toContain('createDatabase');
  });
});
