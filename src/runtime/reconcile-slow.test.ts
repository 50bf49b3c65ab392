import { expect, test } from 'vitest';
import { aToy, TOY_FINALIZER } from '../../test/support/toy-kind.ts';
import { RECONCILE_AT } from '../kube/annotations.ts';
import { KubeError } from '../kube/api.ts';
import { ready } from '../kube/summary.ts';

/* A pass that takes long tells so meanwhile. What it finds later must not suffer from that. */

const stored = ready('Done', 'All is well').map((each) => ({ ...each, lastTransitionTime: '2026-01-01T00:00:00Z' }));
const conflict = new KubeError('the object has been modified', { status: 409, reason: 'Conflict' });

/** A toy that was ready and is being deleted; each look at it ends when the test says so. */
async function aSlowToy({ annotations = {}, status = {} }: { annotations?: Record<string, string>; status?: object }) {
  const looks: boolean[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const toy = aToy({
    observe: ({ lookNow }) => {
      looks.push(lookNow);
      return promise;
    },
    decide: () => ({
      conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Deleting', message: 'Waiting for its server' }],
    }),
  });
  await toy.create({ finalizers: [TOY_FINALIZER], annotations, status: { size: 1, conditions: stored, ...status } });
  await toy.markDeleted();
  return { ...toy, looks, resolve, reject };
}

test('a look that a person asked for is still due after a slow pass that came to nothing', async () => {
  const { reconcile, clock, reject, looks } = await aSlowToy({ annotations: { [RECONCILE_AT]: 'now' } });
  const pass = reconcile();
  await clock.advance(6_000);
  reject(conflict);
  expect(await pass).toEqual({ next: 'conflict' });
  await reconcile();
  expect(looks).toEqual([true, true]);
});

test('status.lastError still shows the failure that a slow pass meets again', async () => {
  const lastError = { operation: 'Reconcile', message: 'boom', time: '2026-01-01T00:00:00Z' };
  const { reconcile, clock, reject, status } = await aSlowToy({ status: { lastError } });
  const pass = reconcile();
  await clock.advance(6_000);
  reject(new Error('boom'));
  expect(await pass).toMatchObject({ next: 'failed' });
  expect(status()).toMatchObject({ lastError: { message: 'boom' } });
});

test('what a slow pass tells is compared with what it told meanwhile', async () => {
  const { reconcile, clock, resolve } = await aSlowToy({});
  const told: string[] = [];
  const pass = reconcile(undefined, {
    onReady: (_object, before, after) => told.push(`${before?.reason}: ${before?.message}, then ${after.message}`),
  });
  await clock.advance(6_000);
  resolve();
  await pass;
  const waiting = 'This object is being deleted: waiting for an answer from the cloud or a server';
  expect(told).toEqual([`Done: All is well, then ${waiting}`, `Deleting: ${waiting}, then Waiting for its server`]);
});
