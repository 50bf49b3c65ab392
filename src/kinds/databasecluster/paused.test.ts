import { expect, it } from 'vitest';
import { kindBench } from '../../../test/support/kind-bench.ts';

it('A DatabaseCluster that is paused while its cluster comes up shows that it runs, and sets no password', async () => {
  const bench = await kindBench();
  while (!bench.calls.includes('deploy')) await bench.pass();
  expect(bench.status().state).toBe('starting');
  await bench.annotate('mooring.dev/paused', 'true');
  bench.forgetCalls();
  await bench.until('Unknown Paused');
  expect(bench.status()).toMatchObject({ state: 'running', servers: [{ status: 'running' }] });
  expect(bench.status().endpoint).toBeDefined();
  expect(bench.calls).not.toContain('server updateUser');
});
