import { describe, expect, it, vi } from 'vitest';
import { type DatabaseBench, databaseBench, readyBench } from '../../../../test/support/database-bench.ts';
import { DIALECTS } from '../../../simulator/dialect.ts';
import { createConfigMaps } from '../../config-maps.ts';

const BASE = 'define attribute name, value string;';
const PERSON = 'define entity person, owns name;';
const REFUSED = 'define entity person, owns nothing;';

const fromMap = { configMapKeyRef: { name: 'orders-schema', key: 'base' } };
/** A ConfigMap that defines what the inline source after it needs. */
const SCHEMA = [fromMap, { inline: PERSON }];

type Status = ReturnType<DatabaseBench['status']>;
const count = (bench: DatabaseBench, call: string) => bench.takeCalls().filter((other) => other === call).length;
const message = (bench: DatabaseBench, type = 'Ready') => bench.condition(type)?.message ?? '';

/** Past the routine check, wherever in the interval it falls. */
async function checkedRoutinely(bench: DatabaseBench): Promise<void> {
  await bench.cluster.clock.advance(700_000);
  await bench.settle();
}

describe.each(DIALECTS)('In dialect %s, schema sources', (dialect) => {
  const applied = async (schema: readonly object[] = SCHEMA): Promise<DatabaseBench> => {
    const bench = await databaseBench({ dialect, database: { schema } });
    await bench.putConfigMap('orders-schema', { base: BASE });
    await bench.until('True DatabaseReady');
    bench.takeCalls();
    return bench;
  };

  it('are run in their order', async () => {
    const bench = await databaseBench({ dialect, database: { schema: [{ inline: PERSON }, fromMap] } });
    await bench.putConfigMap('orders-schema', { base: BASE });
    await bench.until('False SchemaRefused');
    expect(message(bench)).toContain('refused: inline/0: ');
    await bench.edit({ schema: SCHEMA });
    await bench.until('True DatabaseReady');
    expect(bench.schema()).toContain('owns name');
  });

  it('are tried first: open, run, close; then open, run, commit', async () => {
    const bench = await databaseBench({ dialect, database: { schema: SCHEMA } });
    await bench.putConfigMap('orders-schema', { base: BASE });
    await bench.settle();
    const calls = bench.takeCalls();
    const transaction = (end: string) => ['openTransaction', 'query', 'query', end];
    expect(calls.filter((call) => /Transaction|query/.test(call))).toEqual([
      ...transaction('closeTransaction'),
      ...transaction('commitTransaction'),
    ]);
  });

  it('have the result of their dry run shown before anything is committed', async () => {
    const bench = await databaseBench({ dialect, database: { schema: SCHEMA } });
    await bench.putConfigMap('orders-schema', { base: BASE });
    while (bench.status().checkedSchema === undefined) await bench.pass();
    expect(bench.schema()).toBe('');
    expect(bench.status().checkedSchema).toMatchObject({ outcome: 'Succeeded' });
    expect(bench.openTransactions()).toBe(0);
    await bench.settle();
    expect(bench.schema()).toContain('owns name');
  });

  it('are all or nothing: if the second is refused, nothing of the first is kept', async () => {
    const bench = await databaseBench({ dialect, database: { schema: [fromMap, { inline: REFUSED }] } });
    await bench.putConfigMap('orders-schema', { base: BASE });
    await bench.until('False SchemaRefused');
    expect(bench.schema()).toBe('');
    expect(bench.status()).toMatchObject({ name: 'orders', checkedSchema: { outcome: 'Failed' } });
    expect(bench.status().appliedSchema).toBeUndefined();
    expect(message(bench)).toMatch(/^The schema stays as it was, because this was refused: inline\/1: .*nothing/);
    expect(bench.condition('Stalled')).toMatchObject({ status: 'True' });
    expect(bench.condition('Synced')).toMatchObject({ status: 'False', reason: 'SchemaRefused' });
    expect(count(bench, 'commitTransaction')).toBe(0);
  });

  it.each([
    ['write', 'insert $person isa person, has name "Ada";'],
    ['read', 'match $person isa person;'],
  ])(
    'that are %s queries are refused, as a source may be run again: nothing is written, once or twice',
    async (type, inline) => {
      const bench = await databaseBench({ dialect, database: { schema: [...SCHEMA, { inline }] } });
      await bench.putConfigMap('orders-schema', { base: BASE });
      await bench.until('False SchemaRefused');
      expect(message(bench)).toContain(`this was refused: inline/2: This is a ${type} query.`);
      expect([bench.schema(), bench.openTransactions(), count(bench, 'commitTransaction')]).toEqual(['', 0, 0]);
      await bench.edit({ schema: SCHEMA });
      await bench.until('True DatabaseReady');
    },
  );

  it('that are refused leave the schema as it was, and are tried again when they change', async () => {
    const bench = await applied();
    const before = bench.schema();
    await bench.putConfigMap('orders-schema', { base: 'defne attribute' });
    await bench.settle();
    expect(bench.ready()).toBe('False SchemaRefused');
    expect(message(bench)).toContain('configmap/orders-schema/base');
    expect(bench.schema()).toBe(before);
    bench.takeCalls();
    await bench.settle();
    expect(count(bench, 'openTransaction')).toBe(0);
    await bench.putConfigMap('orders-schema', { base: `${BASE} attribute age, value integer;` });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.schema()).toContain('attribute age');
  });

  it('that are refused are tried again slowly, as the cause may go away', async () => {
    const bench = await databaseBench({ dialect, database: { schema: [{ inline: PERSON }] } });
    await bench.until('False SchemaRefused');
    const outcome = await bench.settle();
    expect(outcome).toEqual({ next: 'settled', requeueAfterMs: expect.any(Number) });
    bench.takeCalls();
    await bench.cluster.clock.advance(600_000);
    await bench.settle();
    expect(count(bench, 'openTransaction')).toBe(1);
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    await bench.settle();
    expect(count(bench, 'openTransaction')).toBe(1);
    await (await bench.outsider()).define(BASE);
    await bench.annotate('mooring.dev/reconcile-at', 'again');
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
  });

  it('that are refused are not tried again while the object is paused, and it says so', async () => {
    const bench = await databaseBench({ dialect, database: { schema: [{ inline: PERSON }] } });
    await bench.until('False SchemaRefused');
    await bench.annotate('mooring.dev/paused', 'true');
    await bench.settle();
    expect([bench.ready(), bench.condition('Synced')?.reason]).toEqual(['Unknown Paused', 'SchemaRefused']);
    expect(message(bench)).toMatch(/Mooring changes nothing, and would try/);
    // Also once the time for another try has come, the database and its schema are looked at.
    await checkedRoutinely(bench);
    expect(await bench.settle()).toEqual({ next: 'retry', pace: 'slowly', fails: false });
    expect(bench.ready()).toBe('Unknown Paused');
    await bench.annotate('mooring.dev/paused', 'false');
    await bench.settle();
    expect(bench.ready()).toBe('False SchemaRefused');
  });

  it('that are refused at the commit leave the schema as it was', async () => {
    const bench = await applied();
    bench.cluster.simulator.faults.add({
      match: { operation: 'commitTransaction' },
      effect: 'errorBefore',
      status: 400,
      times: 1,
    });
    await bench.putConfigMap('orders-schema', { base: `${BASE} attribute age, value integer;` });
    await bench.settle();
    expect(bench.ready()).toBe('False SchemaRefused');
    expect(message(bench)).toContain('at the commit');
    expect(bench.schema()).not.toContain('age');
  });

  it('are run when they are changed or new, and no others', async () => {
    const bench = await applied();
    await bench.edit({ schema: [...SCHEMA, { inline: 'define entity company;' }] });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(count(bench, 'query')).toBe(2);
    await bench.putConfigMap('orders-schema', { base: `${BASE} attribute age, value integer;`, other: 'x' });
    await bench.settle();
    expect(bench.schema()).toContain('attribute age');
    expect(count(bench, 'query')).toBe(2);
    expect(bench.status().appliedSchema?.map(({ source }) => source)).toEqual([
      'configmap/orders-schema/base',
      'inline/1',
      'inline/2',
    ]);
  });

  it('are not run because their ConfigMap changed elsewhere', async () => {
    const bench = await applied();
    await bench.putConfigMap('orders-schema', { base: BASE, other: 'text' });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(count(bench, 'openTransaction')).toBe(0);
    await bench.settle();
    expect(bench.takeCalls()).toEqual([]);
  });

  it('are not run because one of them was removed: what it defined stays', async () => {
    const bench = await applied();
    await bench.edit({ schema: [fromMap] });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(count(bench, 'openTransaction')).toBe(0);
    expect(bench.schema()).toContain('entity person');
  });

  it.each([
    ['before the dry run', ({ name }: Status) => name !== undefined],
    ['between the dry run and the commit', ({ checkedSchema }: Status) => checkedSchema !== undefined],
  ])('are tried again if they change %s', async (_when, isNext) => {
    const bench = await databaseBench({ dialect, database: { schema: [fromMap] } });
    await bench.putConfigMap('orders-schema', { base: BASE });
    while (!isNext(bench.status())) await bench.pass();
    bench.takeCalls();
    const { configMaps } = bench.world();
    const read = vi.spyOn(configMaps, 'read');
    const { read: readNow } = createConfigMaps(bench.cluster.kube, { get: () => undefined });
    // The decision read an older version than the step does.
    read.mockImplementationOnce(async (namespace, name, signal) => {
      const before = await readNow(namespace, name, signal);
      await bench.putConfigMap('orders-schema', { base: 'define attribute name, value integer;' });
      return before;
    });
    await bench.pass();
    expect(bench.schema()).toBe('');
    expect([read.mock.calls.length > 1, count(bench, 'openTransaction')]).toEqual([true, 0]);
    await bench.settle();
    expect(bench.schema()).toContain('value integer');
    expect(count(bench, 'openTransaction')).toBe(2);
  });

  it('are not committed if the object was paused, changed or deleted a moment ago', async () => {
    const doings = [
      (bench: DatabaseBench) => bench.annotate('mooring.dev/paused', 'true'),
      (bench: DatabaseBench) => bench.edit({ schema: [] }),
      async (bench: DatabaseBench) => bench.remove(),
    ];
    for (const doing of doings) {
      const bench = await databaseBench({ dialect, database: { schema: [{ inline: BASE }] } });
      while (bench.status().checkedSchema === undefined) await bench.pass();
      bench.showAsNow();
      await doing(bench);
      await bench.pass();
      bench.showAsIs();
      await bench.settle();
      expect(bench.schema()).toBe('');
    }
  });

  it('that are all removed are forgotten, and the schema is no longer checked', async () => {
    const bench = await applied();
    const before = bench.schema();
    await bench.edit({ schema: null });
    await bench.settle();
    expect(bench.condition('Synced')).toMatchObject({ status: 'True', reason: 'SchemaNotManaged' });
    expect(bench.status().appliedSchema).toBeUndefined();
    expect(bench.schema()).toBe(before);
    await (await bench.outsider()).define('undefine owns name from person;');
    bench.takeCalls();
    await checkedRoutinely(bench);
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.takeCalls()).toEqual(['listDatabases']);
  });

  it('may undefine and redefine: each such source is run once', async () => {
    const bench = await applied();
    await bench.edit({ schema: [...SCHEMA, { inline: 'undefine owns name from person;' }] });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.schema()).not.toContain('owns name');
    await checkedRoutinely(bench);
    expect(bench.ready()).toBe('True DatabaseReady');
  });
});

describe.each(DIALECTS)('In dialect %s, a ConfigMap', (dialect) => {
  it('that does not exist is waited for, while the database exists already', async () => {
    const bench = await databaseBench({ dialect, database: { schema: SCHEMA } });
    await bench.until('Unknown ConfigMapNotFound');
    expect(message(bench)).toMatch(
      /ConfigMap "orders-schema" in namespace "shop".* create it with a schema query under key "/,
    );
    expect(bench.databases()).toEqual(['orders']);
    expect(bench.schema()).toBe('');
    await bench.putConfigMap('orders-schema', { base: BASE });
    await bench.until('True DatabaseReady');
  });

  it('may have been made from a file of Windows, with a byte order mark, its line ends and comments', async () => {
    // Tools copy such a file into the object, too.
    const schema = [fromMap, { inline: `\ufeff${PERSON}\r\n` }];
    const bench = await databaseBench({ dialect, database: { schema } });
    await bench.putConfigMap('orders-schema', { base: `\ufeff# Names\r\n${BASE}\r\n# The end` });
    await bench.until('True DatabaseReady');
    expect(bench.schema()).toContain('owns name');
  });

  it.each([
    ['has no such key', { other: BASE }, undefined, 'has no text under key "base" (its keys: "other"): add it'],
    ['has nothing under the key', { base: '' }, undefined, 'has empty text under key "base": write'],
    ['has only blank lines there', { base: '\ufeff \r\n' }, undefined, 'has empty text under key "base": write'],
    ['has no text there', {}, { base: '//4=' }, 'has bytes that are not text (UTF-8) under key "base": write'],
  ])('that %s must be fixed by a person, who is told what it contains', async (_what, data, binaryData, told) => {
    const bench = await databaseBench({ dialect, database: { schema: SCHEMA } });
    await bench.putConfigMap('orders-schema', data, { binaryData });
    await bench.until('False ConfigMapKeyMissing');
    expect(bench.condition('Stalled')).toMatchObject({ status: 'True' });
    expect(message(bench)).toContain(told);
    await bench.putConfigMap('orders-schema', { base: BASE }, { binaryData: null });
    await bench.until('True DatabaseReady');
  });

  it('that is deleted later is reported as missing, and what was applied stays', async () => {
    const bench = await databaseBench({ dialect, database: { schema: SCHEMA } });
    await bench.putConfigMap('orders-schema', { base: BASE });
    await bench.until('True DatabaseReady');
    const before = bench.schema();
    bench.removeConfigMap('orders-schema');
    await bench.until('Unknown ConfigMapNotFound');
    expect(message(bench)).toContain('What was applied before stays as it is');
    expect(bench.schema()).toBe(before);
    await bench.putConfigMap('orders-schema', { base: BASE });
    bench.takeCalls();
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(count(bench, 'openTransaction')).toBe(0);
  });
});

describe.each(DIALECTS)('In dialect %s, a schema that was changed elsewhere', (dialect) => {
  it('is noticed at the routine check, reported, set right, and counted', async () => {
    const bench = await readyBench({ dialect, database: { schema: [{ inline: BASE }, { inline: PERSON }] } });
    const before = bench.schema();
    await (await bench.outsider()).define('undefine owns name from person;');
    await bench.settle();
    expect(bench.takeCalls()).toEqual([]);
    await bench.cluster.clock.advance(700_000);
    await bench.pass();
    expect(bench.ready()).toBe('Unknown SchemaDrifted');
    expect(bench.condition('Synced')).toMatchObject({ status: 'False', reason: 'SchemaDrifted' });
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.schema()).toBe(before);
    expect(bench.condition('Synced')).toMatchObject({ status: 'True', reason: 'SchemaApplied' });
    expect(bench.told).toEqual(['corrected shop/orders']);
  });

  it('so that it holds more is reported, and not fought over', async () => {
    const bench = await readyBench({ dialect, database: { schema: [{ inline: BASE }] } });
    await (await bench.outsider()).define('define entity theirs;');
    await checkedRoutinely(bench);
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.condition('Synced')).toMatchObject({ status: 'False', reason: 'SchemaDiffers' });
    expect(bench.schema()).toContain('entity theirs');
    expect(bench.told).toEqual([]);
    bench.takeCalls();
    await bench.restart();
    await checkedRoutinely(bench);
    expect(count(bench, 'openTransaction')).toBe(0);
    expect(bench.condition('Synced')).toMatchObject({ status: 'False', reason: 'SchemaDiffers' });

    await (await bench.outsider()).define('undefine theirs;');
    await checkedRoutinely(bench);
    expect(bench.condition('Synced')).toMatchObject({ status: 'True', reason: 'SchemaApplied' });
  });

  it('so that the sources can no longer be run is reported, and left alone', async () => {
    const bench = await readyBench({ dialect, database: { schema: [{ inline: BASE }] } });
    const outsider = await bench.outsider();
    await outsider.define('undefine name;');
    await outsider.define('define attribute name, value integer;');
    await checkedRoutinely(bench);
    expect(bench.ready()).toBe('False SchemaRefused');
    expect(bench.schema()).toContain('value integer');
  });
});
