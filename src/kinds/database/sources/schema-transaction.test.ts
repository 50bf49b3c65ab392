import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type DatabaseBench, databaseBench, readyBench } from '../../../../test/support/database-bench.ts';
import { ServerClient } from '../../../database/client.ts';
import { DIALECTS } from '../../../simulator/dialect.ts';

const BASE = 'define attribute name, value string;';
const PERSON = 'define entity person, owns name;';

const message = (bench: DatabaseBench, type = 'Ready') => bench.condition(type)?.message ?? '';

describe.each(DIALECTS)('In dialect %s, the schema transaction', (dialect) => {
  const SOURCES = { schema: [{ inline: BASE }, { inline: PERSON }] };

  it('waits for a lock that another one holds, and goes on when it is free', async () => {
    const bench = await databaseBench({ dialect, database: {} });
    await bench.until('True DatabaseReady');
    const close = await (await bench.outsider()).open('schema');
    await bench.edit(SOURCES);
    const pass = bench.pass();
    await bench.cluster.clock.advance(5_000);
    await close();
    await pass;
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
  });

  it('is tried again, and says so, if the lock is not free in time', async () => {
    const bench = await readyBench({ dialect });
    const close = await (await bench.outsider()).open('schema');
    await bench.edit(SOURCES);
    const pass = bench.pass();
    await bench.cluster.clock.advance(11_000);
    expect(await pass).toMatchObject({ next: 'failed', failure: { lasting: 'transient' } });
    expect(bench.ready()).toBe('Unknown SchemaLocked');
    expect(message(bench)).toContain('held by another transaction');
    expect(message(bench)).toContain('If this persists, end what else changes the schema');
    expect(message(bench)).toContain('A transaction of its own that was cut short ends within 3 minutes');
    await close();
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
  });

  it.each([408, 409, 423])(
    'is tried again, and says so, if the server answers %i while the lock is held',
    async (status) => {
      const bench = await readyBench({ dialect });
      bench.cluster.simulator.faults.add({
        match: { operation: 'openTransaction' },
        effect: 'errorBefore',
        status,
        times: 1,
      });
      await bench.edit(SOURCES);
      expect(await bench.pass()).toMatchObject({ next: 'failed', failure: { lasting: 'transient' } });
      expect(bench.ready()).toBe('Unknown SchemaLocked');
      await bench.settle();
      expect(bench.ready()).toBe('True DatabaseReady');
    },
  );

  it('says nothing of a lock if the server refuses to begin it as the database is gone', async () => {
    const bench = await readyBench({ dialect });
    await bench.edit(SOURCES);
    onTestFinished(() => void vi.restoreAllMocks());
    const { openTransaction } = ServerClient.prototype;
    vi.spyOn(ServerClient.prototype, 'openTransaction').mockImplementationOnce(function (this: ServerClient, ...given) {
      bench.cluster.simulator.dropDatabase('orders', 'orders');
      return openTransaction.apply(this, given);
    });
    expect(await bench.pass()).toMatchObject({ next: 'failed' });
    expect(message(bench)).not.toContain('lock');
  });

  it.each([403, 500])('says nothing of a lock if the server refuses to begin it with %i', async (status) => {
    const bench = await readyBench({ dialect });
    const fault = { match: { operation: 'openTransaction' }, effect: 'errorBefore', status } as const;
    bench.cluster.simulator.faults.add({ ...fault, times: 1 });
    await bench.edit(SOURCES);
    expect(await bench.pass()).toMatchObject({ next: 'failed' });
    expect(message(bench)).toContain(`HTTP ${status}`);
    expect(message(bench)).not.toContain('lock');
    await bench.until('True DatabaseReady');
  });

  it('that is committed without an answer is looked for, and the sources are in the schema only once', async () => {
    for (const restarts of [false, true]) {
      const bench = await readyBench({ dialect });
      bench.cluster.simulator.faults.add({ match: { operation: 'commitTransaction' }, effect: 'lostAnswer', times: 1 });
      await bench.edit(SOURCES);
      await bench.settle();
      expect(bench.ready()).toBe('Unknown ServerUnreachable');
      expect(bench.schema()).toContain('owns name');
      if (restarts) await bench.restart();
      await bench.until('True DatabaseReady');
      expect(bench.condition('Synced')).toMatchObject({ status: 'True' });
    }
  });

  it('that is committed without an answer is not mistaken for the work of others', async () => {
    for (const more of ['define entity company;', 'undefine owns name from person;']) {
      const bench = await readyBench({ dialect, database: SOURCES });
      bench.cluster.simulator.faults.add({ match: { operation: 'commitTransaction' }, effect: 'lostAnswer', times: 1 });
      await bench.edit({ schema: [...SOURCES.schema, { inline: more }] });
      await bench.settle();
      const committed = bench.schema();
      await bench.restart();
      await bench.until('True DatabaseReady');
      expect(bench.condition('Synced')).toMatchObject({ status: 'True', reason: 'SchemaApplied' });
      expect(bench.schema()).toBe(committed);
      expect(bench.told).toEqual([]);
    }
  });

  const operations = ['openTransaction', 'queryTransaction', 'closeTransaction', 'commitTransaction', 'getSchema'];
  const effects = ['reset', 'errorBefore', '429', 'html', 'lostAnswer', 'truncated', 'expiredToken', 'hang'] as const;
  const faults = operations.flatMap((operation) => effects.map((effect) => [operation, effect] as const));

  it.each(faults)('comes to a good end after %s ends with %s', async (operation, effect) => {
    const bench = await readyBench({ dialect });
    bench.cluster.simulator.faults.add({ match: { operation }, effect, times: 1 });
    await bench.edit(SOURCES);
    const done = bench.until('True DatabaseReady');
    await bench.cluster.clock.advance(400_000);
    await done;
    expect(bench.schema()).toContain('owns name');
    expect(bench.condition('Synced')).toMatchObject({ status: 'True', reason: 'SchemaApplied' });
    // A transaction whose number was lost with the answer ends when its own time is over.
    await bench.cluster.clock.advance(200_000);
    await (await bench.outsider()).define('define entity other;');
  });

  it('that ends early, with the server, is made again', async () => {
    const bench = await readyBench({ dialect });
    bench.cluster.simulator.faults.add({
      match: { operation: 'queryTransaction' },
      effect: 'delay',
      delayMs: 1_000,
      times: 1,
    });
    await bench.edit(SOURCES);
    const pass = bench.pass();
    await bench.cluster.clock.advance(500);
    bench.cluster.simulator.restartServers('orders');
    await bench.cluster.clock.advance(1_000);
    await pass;
    expect(bench.ready()).toBe('Unknown TransactionEnded');
    await bench.until('True DatabaseReady');
  });

  it('keeps nothing if a source runs out of time, and is made again', async () => {
    const bench = await readyBench({ dialect });
    bench.cluster.simulator.setKnobs({ queryMs: 200_000 });
    await bench.edit(SOURCES);
    const pass = bench.pass();
    await bench.cluster.clock.advance(250_000);
    await pass;
    expect(bench.ready()).toBe('Unknown SchemaTimedOut');
    expect(message(bench)).toContain('inline/0');
    bench.cluster.simulator.setKnobs({ queryMs: 0 });
    await bench.until('True DatabaseReady');
  });

  it.each([
    ['runs out of time', 'errorBefore', 408, 'SchemaTimedOut'],
    ['finds its transaction ended, as it took effect', 'errorAfter', 404, 'TransactionEnded'],
  ] as const)(
    'may have been kept if its commit %s, which is reported and looked at',
    async (_, effect, status, reason) => {
      const bench = await readyBench({ dialect });
      const match = { operation: 'commitTransaction' } as const;
      bench.cluster.simulator.faults.add({ match, effect, status, times: 1 });
      await bench.edit(SOURCES);
      await bench.until(`Unknown ${reason}`);
      expect(message(bench)).toContain('may or may not have taken effect');
      expect(message(bench)).not.toContain('nothing of it was kept');
      await bench.until('True DatabaseReady');
    },
  );

  it('is given up if each answer comes in time but all of them together do not', async () => {
    const bench = await readyBench({ dialect });
    const slow = {
      match: { operation: 'queryTransaction' },
      effect: 'lateAnswer',
      delayMs: 100_000,
      times: 2,
    } as const;
    bench.cluster.simulator.faults.add(slow);
    await bench.edit({ schema: [...SOURCES.schema, { inline: 'define entity animal;' }] });
    const pass = bench.pass();
    await bench.cluster.clock.advance(250_000);
    await pass;
    expect(bench.ready()).toBe('Unknown SchemaTimedOut');
    expect(message(bench)).toContain('inline/2');
    expect(message(bench)).toContain('The transaction took 180 s');
    await bench.until('True DatabaseReady');
  });

  const moments = ['before', 'after'] as const;
  it.each(moments)('is made again if the process ends %s its outcome is recorded', async (when) => {
    for (const write of [1, 2, 3]) {
      const bench = await readyBench({ dialect });
      await bench.edit(SOURCES);
      for (let writes = 1; writes < write; writes++) {
        bench.cluster.crashAt({ verb: 'patch', plural: 'databases', when: 'after' });
        await expect(bench.settle()).rejects.toThrow('The process ends here');
      }
      bench.cluster.crashAt({ verb: 'patch', plural: 'databases', when });
      await expect(bench.settle()).rejects.toThrow('The process ends here');
      await bench.restart();
      await bench.until('True DatabaseReady');
      expect(bench.schema()).toContain('owns name');
    }
  });
});
