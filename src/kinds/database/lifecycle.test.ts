import { describe, expect, it } from 'vitest';
import { databaseBench, readyBench } from '../../../test/support/database-bench.ts';
import { DIALECTS } from '../../simulator/dialect.ts';

describe.each(DIALECTS)('in dialect %s', (dialect) => {
  it('a Database without a schema is created and Ready, with one List, one call that creates it and a look whether it is there', async () => {
    const bench = await databaseBench({ dialect, database: {} });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.databases()).toEqual(['orders']);
    expect(bench.status()).toMatchObject({ name: 'orders', cluster: expect.any(String) });
    expect(bench.status().operation).toBeUndefined();
    expect(bench.condition('Synced')).toMatchObject({ status: 'True', reason: 'SchemaNotManaged' });
    expect(bench.takeCalls()).toEqual(['listDatabases', 'getDatabase', 'createDatabase', 'getDatabase']);
    expect(bench.object()?.metadata.finalizers).toEqual(['mooring.dev/database']);
  });

  it('a Database is not Ready if the server says that it was created but does not show it', async () => {
    const bench = await databaseBench({ dialect, database: {} });
    const match = { operation: 'createDatabase' };
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status: 200, times: 2 });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown CreatingDatabase');
    expect(bench.condition('Ready')?.message).toContain('said that it created database "orders", but does not show it');
    await bench.until('True DatabaseReady');
    expect(bench.databases()).toEqual(['orders']);
    expect(bench.takeCalls().filter((call) => call === 'createDatabase')).toHaveLength(3);
  });

  it('a Database with a schema is created, its schema tried, then applied, then it is Ready', async () => {
    const schema = [
      { configMapKeyRef: { name: 'orders-schema', key: 'base' } },
      { inline: 'define entity person, owns name;' },
    ];
    const bench = await databaseBench({ dialect, database: { schema } });
    await bench.putConfigMap('orders-schema', { base: 'define attribute name, value string;' });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.schema()).toContain('entity person,\n  owns name;');
    expect(bench.status().checkedSchema).toMatchObject({ outcome: 'Succeeded' });
    expect(bench.status().appliedSchema).toMatchObject([
      { source: 'configmap/orders-schema/base', resourceVersion: expect.any(String) },
      { source: 'inline/1' },
    ]);
    expect(bench.condition('Synced')).toMatchObject({ status: 'True', reason: 'SchemaApplied' });
  });

  it('a verification that is held back, because the server asked for a pause, changes nothing about a Database that is Ready', async () => {
    const bench = await databaseBench({ database: {} });
    await bench.until('True DatabaseReady');
    const before = bench.status().conditions;
    const fault = bench.cluster.simulator.faults.add({
      match: { operation: 'listDatabases' },
      effect: '429',
      retryAfterSeconds: 120,
    });
    await bench.cluster.clock.advance(11 * 60_000);
    expect(await bench.pass()).toEqual({ next: 'settled', requeueAfterMs: 120_000 });
    expect(bench.status().conditions).toEqual(before);
    bench.cluster.simulator.faults.remove(fault);
    await bench.cluster.clock.advance(3 * 60_000);
    bench.takeCalls();
    await bench.settle();
    expect(bench.takeCalls()).toContain('listDatabases');
    expect(bench.status().conditions).toEqual(before);
  });

  it('nothing is called or written while nothing changes, not even by a new process', async () => {
    const bench = await readyBench({ dialect, database: { schema: [{ inline: 'define entity person;' }] } });
    const version = bench.object()?.metadata.resourceVersion;
    await bench.pass();
    await bench.restart();
    await bench.settle();
    expect(bench.takeCalls()).toEqual([]);
    expect(bench.object()?.metadata.resourceVersion).toBe(version);
  });
});
