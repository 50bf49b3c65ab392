import { describe, expect, it } from 'vitest';
import { type DatabaseBench, readyBench } from '../../../test/support/database-bench.ts';
import { parseSpec, parseStatus } from '../../kube/definition.ts';
import { DIALECTS } from '../../simulator/dialect.ts';
import { actOnDatabase } from './act.ts';
import type { DatabaseStep, DatabaseSubject } from './observation.ts';
import { databaseDefinition } from './schema.ts';
import { runInTransaction } from './sources/transaction.ts';

const { signal } = new AbortController();

function subjectOf(bench: DatabaseBench, deleting: boolean): DatabaseSubject {
  const { metadata, spec, status } = bench.object() ?? expect.unreachable();
  const parsed = parseSpec(databaseDefinition, spec);
  if (!parsed.ok) return expect.unreachable();
  const read = parseStatus(databaseDefinition, status);
  return { key: 'shop/orders', metadata, spec: parsed.spec, status: read, deleting, lookNow: false };
}

describe('A step that comes late', () => {
  const plan = { because: 'new', sources: [], run: [], digest: '' } as const;

  it.each([
    [{ do: 'CreateDatabase', name: 'orders' }, false],
    [{ do: 'DeleteDatabase', name: 'orders' }, true],
    [{ do: 'TrySchema', name: 'orders', plan }, false],
    [{ do: 'ApplySchema', name: 'orders', plan }, false],
  ] as const)(
    'does nothing to a cluster other than the one that the decision was about: %o',
    async (what, deleting) => {
      const bench = await readyBench();
      bench.takeCalls();
      const step: DatabaseStep = { ...what, identity: 'another' };
      const acting = actOnDatabase(bench.world(), subjectOf(bench, deleting), step, signal, () => {});
      await expect(acting).rejects.toMatchObject({ reason: 'WaitingForCluster' });
      expect([bench.takeCalls(), bench.databases()]).toEqual([[], ['orders']]);
    },
  );
});

describe.each(DIALECTS)('In dialect %s, sources that should stay', (dialect) => {
  it('all stay or none does: after a refused source no other is run, and nothing is committed', async () => {
    const bench = await readyBench({ dialect });
    const before = bench.schema();
    bench.takeCalls();
    const texts = ['define entity person;', 'define entity company sub nothing;', 'define entity city;'].map(
      (text, index) => ({ source: `inline/${index}`, hash: '', text }),
    );
    const work = {
      world: bench.world(),
      subject: subjectOf(bench, false),
      access: await bench.place(),
      name: 'orders',
      signal,
    };
    const refusal = await runInTransaction(work, texts, 'commit');
    expect(refusal).toMatchObject({ source: 'inline/1' });
    expect(bench.schema()).toBe(before);
    expect(bench.takeCalls().filter((call) => call === 'query')).toHaveLength(2);
  });
});
