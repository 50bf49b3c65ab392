import { expect, it } from 'vitest';
import { databaseBench } from '../../../test/support/database-bench.ts';
import { parseSpec, parseStatus } from '../../kube/definition.ts';
import { observeDatabase } from './observe.ts';
import { databaseDefinition } from './schema.ts';

it('observeDatabase() looks, and has refused sources tried again, if the wall clock was set back', async () => {
  const bench = await databaseBench({ database: { schema: [{ inline: 'define nonsense' }] } });
  await bench.until('False SchemaRefused');
  const object = bench.object();
  const parsed = parseSpec(databaseDefinition, object?.spec);
  if (object === undefined || !parsed.ok) throw new Error('There is no such object');
  const { metadata } = object;
  const status = parseStatus(databaseDefinition, object.status);
  const subject = { key: 'shop/orders', metadata, spec: parsed.spec, status, deleting: false, lookNow: false };
  const world = bench.world();
  const observedAt = (ms: number) => {
    const clock = { ...world.clock, now: () => world.clock.now() + ms };
    return observeDatabase({ ...world, clock }, subject, new AbortController().signal);
  };
  expect(await observedAt(0)).toMatchObject({ schema: { tryAgainInMs: 600_000 } });
  expect(await observedAt(-3_600_000)).toMatchObject({ schema: { tryAgainInMs: 0 } });
});
