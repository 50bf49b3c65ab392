import { afterEach, describe, expect, it, vi } from 'vitest';
import { changing, type DatabaseBench, databaseBench, readyBench } from '../../../test/support/database-bench.ts';
import { hideDatabases } from '../../../test/support/hidden.ts';
import { DIALECTS } from '../../simulator/dialect.ts';

const SCHEMA = { schema: [{ inline: 'define entity person;' }] };

afterEach(() => {
  vi.restoreAllMocks();
});

/** Looks as often as it should, for that long. Returns each Ready in turn. */
async function looks(bench: DatabaseBench, forMs: number): Promise<readonly string[]> {
  const said: string[] = [];
  const { clock } = bench.cluster;
  const untilMs = clock.monotonic() + forMs;
  while (clock.monotonic() < untilMs) {
    const outcome = await bench.settle();
    if (said.at(-1) !== bench.ready()) said.push(bench.ready());
    const againMs = outcome.next === 'settled' ? outcome.requeueAfterMs : undefined;
    await clock.advance(Math.min(againMs ?? 2_000, untilMs - clock.monotonic()));
  }
  return said;
}

/** A Ready object that a person asks to look, with what somebody else added to its database. */
async function askedBench(dialect: (typeof DIALECTS)[number]) {
  const bench = await readyBench({ dialect, database: { ...SCHEMA, deletionPolicy: 'Delete' } });
  await (await bench.outsider()).define('define entity theirs;');
  await bench.annotate('mooring.dev/reconcile-at', 'before');
  await bench.until('True DatabaseReady');
  // The List is no longer new.
  await bench.cluster.clock.advance(3_000);
  await bench.annotate('mooring.dev/reconcile-at', 'now');
  bench.takeCalls();
  return bench;
}

describe.each(DIALECTS)('In dialect %s, a database that the server does not show for a moment', (dialect) => {
  it('stays what it was, and is not reported as deleted', async () => {
    const bench = await askedBench(dialect);
    const { name, cluster, appliedSchema, schemaHash } = bench.status();
    const synced = bench.condition('Synced');
    const show = hideDatabases();
    expect(await bench.settle()).toEqual({ next: 'settled', requeueAfterMs: 1_000 });
    expect(bench.ready()).toBe('False NotFound');
    expect(bench.condition('Ready')?.message).toMatch(/has not been seen .* within 20 seconds, it counts as deleted/);
    expect(bench.condition('Synced')).toEqual(synced);
    show();
    await bench.cluster.clock.advance(1_000);
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
    expect(bench.status()).toMatchObject({ name, cluster, appliedSchema, schemaHash });
    expect(changing(bench)).toEqual([]);
  });

  it.each([21_000, 30_000, 300_000])('goes on after %i ms, also after a restart', async (forMs) => {
    for (const restarts of [false, true]) {
      const bench = await askedBench(dialect);
      const show = hideDatabases();
      const said = await looks(bench, forMs);
      expect(said.slice(0, 2)).toEqual(['False NotFound', expect.stringMatching(/DatabaseVanished|CreatingDatabase/)]);
      if (restarts) await bench.restart();
      show();
      await bench.until('True DatabaseReady');
      expect(bench.status().name).toBe('orders');
      expect(bench.status().operation).toBeUndefined();
      expect(bench.schema()).toContain('entity theirs;');
    }
  });

  it('goes on if it shows again right before it would be created, with all that is known of it', async () => {
    const bench = await askedBench(dialect);
    const { appliedSchema } = bench.status();
    const show = hideDatabases();
    for (let look = 0; look < 30 && bench.status().operation === undefined; look++) {
      await bench.pass();
      await bench.cluster.clock.advance(1_000);
    }
    expect(bench.ready()).toBe('False DatabaseVanished');
    expect(bench.status()).toMatchObject({ name: 'orders', operation: { type: 'CreateDatabase' }, appliedSchema });
    show();
    await bench.until('True DatabaseReady');
    expect(bench.status().appliedSchema).toEqual(appliedSchema);
    expect(changing(bench)).toEqual([]);
  });

  it.each([
    [400, 'Unknown CreatingDatabase'],
    [403, 'False AccessDenied'],
  ])(
    'is recorded as ours also if the server answers %i when it is to be created, which is told once',
    async (status, ready) => {
      const bench = await askedBench(dialect);
      bench.cluster.simulator.dropDatabase('orders', 'orders');
      const fault = { match: { operation: 'createDatabase' }, effect: 'errorBefore', status, times: 1_000 } as const;
      bench.cluster.simulator.faults.add(fault);
      expect(await looks(bench, 60_000)).toEqual(['False NotFound', ready]);
      expect(bench.status()).toMatchObject({ name: 'orders', operation: { type: 'CreateDatabase' } });
      bench.cluster.simulator.faults.clear();
      await bench.until('True DatabaseReady');
      expect(bench.schema()).not.toContain('entity theirs;');
    },
  );

  it('is not left behind when its object is deleted meanwhile', async () => {
    const bench = await askedBench(dialect);
    const show = hideDatabases();
    bench.remove();
    await looks(bench, 10_000);
    expect(bench.ready()).toBe('Unknown NotFound');
    expect(bench.condition('Ready')?.message).toMatch(/counts as deleted, and this object goes/);
    show();
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('is not left behind because it is hidden while it is being deleted', async () => {
    const bench = await askedBench(dialect);
    const match = { operation: 'deleteDatabase' };
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status: 404, times: 1 });
    bench.remove();
    let show = () => {};
    vi.spyOn(bench.world().servers, 'databaseChanged').mockImplementation(() => {});
    const { api } = bench.world();
    const { get } = api;
    // It is asked right before the deletion.
    vi.spyOn(api, 'get').mockImplementationOnce((...asked) => {
      show = hideDatabases();
      return get.apply(api, asked);
    });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown NotFound');
    expect(bench.condition('Ready')?.message).toContain('no longer shows database "orders"');
    show();
    await bench.until('gone');
    expect(bench.databases()).toEqual([]);
  });

  it('is not waited for once the server said that it deleted it', async () => {
    const bench = await askedBench(dialect);
    bench.remove();
    bench.cluster.crashAt({ verb: 'patch', plural: 'databases', when: 'before' });
    await expect(bench.settle()).rejects.toThrow('The process ends here');
    expect(bench.databases()).toEqual([]);
    await bench.settle();
    expect(bench.ready()).toBe('gone');
  });
});

describe.each(DIALECTS)('In dialect %s, a database that the server shows late', (dialect) => {
  it('is created once, and Ready when it shows', async () => {
    const bench = await databaseBench({ dialect, database: SCHEMA });
    bench.takeCalls();
    const show = hideDatabases();
    expect(await looks(bench, 15_000)).toEqual(['Unknown CreatingDatabase']);
    expect(bench.condition('Ready')?.message).toContain('said that it created database "orders"');
    expect(changing(bench)).toEqual(['createDatabase']);
    show();
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
  });

  it('is asked for again after a while, and whatever the server then says is not a refusal', async () => {
    const bench = await databaseBench({ dialect, database: SCHEMA });
    bench.takeCalls();
    const show = hideDatabases();
    expect(await looks(bench, 60_000)).toEqual(['Unknown CreatingDatabase']);
    expect(changing(bench).length).toBeGreaterThan(1);
    show();
    await bench.settle();
    expect(bench.ready()).toBe('True DatabaseReady');
  });
});

it.each([400, 409])(
  'A database whose creation was not answered, and is then refused with %i, may be there: that counts as a refusal only later',
  async (status) => {
    const bench = await databaseBench({ dialect: 'document', database: SCHEMA });
    const show = hideDatabases();
    const match = { operation: 'createDatabase' };
    bench.cluster.simulator.faults.add({ match, effect: 'lostAnswer', times: 1 });
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status });
    const said = await looks(bench, 15_000);
    expect(said.at(-1)).toBe('Unknown CreatingDatabase');
    expect(bench.condition('Ready')?.message).toContain('refuses to create it, perhaps because it is there');
    expect(await looks(bench, 30_000)).toContain('False RefusedByServer');
    show();
    await bench.until('True DatabaseReady');
  },
);
