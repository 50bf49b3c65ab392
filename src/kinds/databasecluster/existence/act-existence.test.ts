import { expect, test } from 'vitest';
import { aCluster } from '../../../../test/support/builders.ts';
import { kindBench } from '../../../../test/support/kind-bench.ts';
import { observeCluster } from '../observe.ts';

test('A process remembers what the cloud created for an object until the status records it', async () => {
  const bench = await kindBench();
  const createdByCall = async () => {
    const { subject } = aCluster().withStatus(bench.status());
    return await observeCluster(bench.world(), subject, new AbortController().signal);
  };
  while (bench.status().operation === undefined) await bench.pass();
  expect(await createdByCall()).toMatchObject({ createdByCall: undefined });

  bench.crashAt({ verb: 'patch', plural: 'databaseclusters', when: 'before' });
  await expect(bench.pass()).rejects.toThrow();
  expect(bench.status().operation).toBeDefined();
  const createdAt = new Date(bench.clock.now()).toISOString();
  expect(await createdByCall()).toMatchObject({ createdByCall: createdAt });

  await bench.pass();
  expect(bench.status()).toMatchObject({ createdAt });
  expect(await createdByCall()).toMatchObject({ createdByCall: undefined });
});
