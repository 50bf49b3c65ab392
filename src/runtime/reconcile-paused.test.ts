import { expect, test } from 'vitest';
import { aToy } from '../../test/support/toy-kind.ts';
import { PAUSED } from '../kube/annotations.ts';
import { ready } from '../kube/summary.ts';

const READY = ready('Done', 'All is well');
const extra = { type: 'Synced', status: 'True', reason: 'Same', message: 'Same' } as const;

test('reconcile() changes nothing while paused, and says what it would do', async () => {
  const toy = aToy({
    decide: () => ({ conditions: [...READY, extra], steps: ['grow', 'paint'], requeueAfterMs: 7 }),
  });
  await toy.create({ annotations: { [PAUSED]: 'true' } });
  expect(await toy.reconcile()).toEqual({ next: 'settled', requeueAfterMs: 7 });
  expect(toy.object().metadata.finalizers).toBeUndefined();
  expect(toy.status().conditions).toMatchObject([
    { type: 'Ready', status: 'Unknown', reason: 'Paused', message: expect.stringContaining('grow, then paint') },
    { type: 'Synced' },
  ]);
});

test('reconcile() says while paused what would follow once the status is written, and does not write it', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, hold: true, status: { size: 3 }, announces: ['grow'], requeueAfterMs: 0 }),
  });
  await toy.create({ annotations: { [PAUSED]: 'true' } });
  await toy.reconcile();
  expect(toy.status()).toMatchObject({
    conditions: [{ message: expect.stringContaining('nothing, and would grow. ') }],
  });
  expect(toy.status()).not.toHaveProperty('size');
});

test('reconcile() says while paused what would follow later, if only that waits for its time', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, announces: ['grow'], requeueAfterMs: 7 }) });
  await toy.create({ annotations: { [PAUSED]: 'true' } });
  expect(await toy.reconcile()).toEqual({ next: 'settled', requeueAfterMs: 7 });
  expect(toy.status()).toMatchObject({
    conditions: [{ reason: 'Paused', message: expect.stringContaining('nothing, and would grow. ') }],
  });
});

test('reconcile() shows what it sees of a paused object, and looks again, but not at once', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow'], status: { size: 3 }, requeueAfterMs: 0 }),
  });
  await toy.create({ annotations: { [PAUSED]: 'true' } });
  expect(await toy.reconcile()).toEqual({ next: 'retry', pace: 'slowly', fails: false });
  expect(toy.status()).toMatchObject({ size: 3 });
});

test.each([
  ['a step comes next', { steps: ['grow'] }],
  ['it waits', { requeueAfterMs: 7 }],
])('reconcile() shows what it sees of a paused object that would get the finalizer first, if %s', async (_, next) => {
  const toy = aToy({ decide: () => ({ conditions: READY, hold: true, status: { size: 3 }, ...next }) });
  await toy.create({ annotations: { [PAUSED]: 'true' } });
  await toy.reconcile();
  expect(toy.object().metadata.finalizers).toBeUndefined();
  expect(toy.status()).toMatchObject({ size: 3, conditions: [{ reason: 'Paused' }] });
});

test('reconcile() retries a failed look at a paused object as at any other', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['grow'], retry: 'soon' }) });
  await toy.create({ annotations: { [PAUSED]: 'true' } });
  expect(await toy.reconcile()).toEqual({ next: 'retry', pace: 'soon', fails: false });
});

test('reconcile() does not announce what it may not begin while paused', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, hold: true, status: { size: 3 }, requeueAfterMs: 0 }) });
  await toy.create({ annotations: { [PAUSED]: 'true' } });
  expect(await toy.reconcile()).toEqual({ next: 'retry', pace: 'slowly', fails: false });
  expect(toy.status()).not.toMatchObject({ size: 3 });
});

test('reconcile() reports the state of a paused object with nothing to do', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY }) });
  await toy.create({ annotations: { [PAUSED]: 'true' } });
  await toy.reconcile();
  expect(toy.status()).toMatchObject({ conditions: [{ reason: 'Done' }] });
});

test('reconcile() does not remove the finalizer of a paused object', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, release: true }) });
  await toy.create({ finalizers: ['mooring.dev/toy'], annotations: { [PAUSED]: 'true' }, status: { size: 1 } });
  await toy.markDeleted();
  await toy.reconcile();
  expect(toy.status()).toMatchObject({ conditions: [{ reason: 'Paused' }] });
});
