import { expect, it } from 'vitest';
import { expectOneWorkingLogin, runningBench } from '../../../../test/support/kind-bench.ts';
import { KubeError } from '../../../kube/api.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

it('A password is replaced once when that is asked for, though the status cannot say so until later', async () => {
  const bench = await runningBench();
  const { kube } = bench;
  const patch = kube.patch.bind(kube);
  await bench.annotate('mooring.dev/rotate-at', '1');
  kube.patch = (resource, ref, body, options) =>
    resource === DATABASE_CLUSTERS && options?.subresource === 'status'
      ? Promise.reject(new KubeError('No', { status: 403, reason: 'Forbidden' }))
      : patch(resource, ref, body, options);
  bench.forgetCalls();
  for (let pass = 0; pass < 60; pass++) {
    // Another process begins.
    if (pass === 30) await bench.restart();
    await bench.pass().catch(() => {});
    await bench.clock.advance(10_000);
  }
  expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(1);
  expect(bench.status().lastHandledRotateAt).toBeUndefined();
  kube.patch = patch;
  for (let pass = 0; pass < 5; pass++) await bench.pass();
  expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(1);
  expect(bench.status().lastHandledRotateAt).toBe('1');
  expectOneWorkingLogin(bench);
});
