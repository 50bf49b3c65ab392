import { describe, expect, test } from 'vitest';
import { aToy, TOY, TOY_FINALIZER, TOYS } from '../../test/support/toy-kind.ts';
import { TransientError } from '../base/errors.ts';
import { ABANDON, PAUSED, RECONCILE_AT } from '../kube/annotations.ts';
import { KubeError } from '../kube/api.ts';
import { ready, reconciling, stalled } from '../kube/summary.ts';

const READY = ready('Done', 'All is well');
const conflict = new KubeError('the object has been modified', { status: 409, reason: 'Conflict' });

test('reconcile() forgets what is gone', async () => {
  const toy = aToy();
  expect(await toy.reconcile('ns/nobody')).toEqual({ next: 'settled', requeueAfterMs: undefined });
  expect(toy.log).toEqual(['forget ns/nobody, deleted']);
});

test('reconcile() reports what was decided, for the generation that it looked at', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, status: { size: 3 }, requeueAfterMs: 5_000 }) });
  await toy.create();
  expect(await toy.reconcile()).toEqual({ next: 'settled', requeueAfterMs: 5_000 });
  expect(toy.status()).toMatchObject({
    observedGeneration: 1,
    size: 3,
    conditions: [{ type: 'Ready', status: 'True', reason: 'Done', observedGeneration: 1 }],
  });
  expect(toy.log).toEqual(['observe', 'Ready Done']);
});

test('reconcile() writes nothing and says nothing when nothing is new', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, status: { size: 3 } }) });
  await toy.create();
  await toy.reconcile();
  const { resourceVersion } = toy.object().metadata;
  toy.log.length = 0;
  await toy.reconcile();
  expect([toy.object().metadata.resourceVersion, toy.log]).toEqual([resourceVersion, ['observe']]);
});

test('reconcile() writes the new generation even if nothing else is new', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY }) });
  await toy.create();
  await toy.reconcile();
  await toy.change({ spec: { size: 2 } });
  await toy.reconcile();
  expect(toy.status()).toMatchObject({ observedGeneration: 2, conditions: [{ observedGeneration: 2 }] });
});

test('reconcile() sets the finalizer before the first step', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow'] }),
    act: async () => {
      toy.log.push(`finalizers ${toy.object().metadata.finalizers?.join()}`);
      return undefined;
    },
  });
  await toy.create();
  expect(await toy.reconcile()).toEqual({ next: 'again' });
  expect(toy.log).toEqual(['observe', 'going to grow', 'finalizers mooring.dev/toy']);
});

test('reconcile() sets the finalizer before any step for an object that will hold something, and keeps those of others', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, hold: true }) });
  await toy.create({ finalizers: ['example.com/other'] });
  await toy.reconcile();
  expect(toy.object().metadata.finalizers).toEqual(['example.com/other', 'mooring.dev/toy']);
  expect(toy.status()).toMatchObject({ conditions: [{ reason: 'Done' }] });
});

describe('an object that is being deleted and was let go', () => {
  const released = { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Released' }] };

  test('says so, once, if others keep it', async () => {
    const toy = aToy({ decide: () => ({ conditions: READY, release: true }) });
    const conditions = [{ ...READY[0], lastTransitionTime: '2026-11-20T10:00:00Z' }];
    await toy.create({ finalizers: [TOY_FINALIZER, 'example.com/other'], status: { size: 1, conditions } });
    await toy.markDeleted();
    await toy.reconcile();
    expect(await toy.reconcile()).toMatchObject({ next: 'settled' });
    expect(toy.object().metadata.finalizers).toEqual(['example.com/other']);
    expect(toy.status()).toMatchObject(released);
    const { resourceVersion } = toy.object().metadata;
    await toy.reconcile();
    expect(toy.object().metadata.resourceVersion).toBe(resourceVersion);
  });

  test('says so, too, if it was never held', async () => {
    const toy = aToy();
    await toy.create({ finalizers: ['example.com/other'] });
    await toy.markDeleted();
    await toy.reconcile();
    expect(toy.status()).toMatchObject(released);
    expect(toy.log).toEqual(['Ready Released']);
  });
});

describe('the removed finalizer of an object that owns something', () => {
  const owner = () =>
    aToy({
      owns: ({ status }) => status.size === 1,
      observe: () => Promise.reject(new TransientError('Down', 'It is down')),
    });

  test('is put back before anything is looked at', async () => {
    const toy = owner();
    await toy.create({ status: { size: 1 }, finalizers: ['example.com/other'] });
    expect(await toy.reconcile()).toEqual({ next: 'again' });
    expect(toy.object().metadata.finalizers).toEqual(['example.com/other', 'mooring.dev/toy']);
    expect(toy.log).toEqual([]);
    await toy.reconcile();
    expect(toy.log[0]).toBe('observe');
  });

  test.each([
    ['while it is paused', { status: { size: 1 }, annotations: { [PAUSED]: 'true' } }],
    ['if it no longer owns anything', { status: { size: 2 } }],
  ])('stays away %s', async (_when, start) => {
    const toy = owner();
    await toy.create(start);
    await toy.reconcile();
    expect(toy.object().metadata.finalizers).toBeUndefined();
  });
});

test('reconcile() does nothing outside when the finalizer cannot be set', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['grow'] }) });
  await toy.create();
  await toy.changeUnseen({ metadata: { labels: { other: 'writer' } } });
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  expect(toy.log).toEqual(['observe']);
});

test('reconcile() says what is wrong with a spec that it cannot read, and waits', async () => {
  const toy = aToy();
  await toy.create({ spec: { size: 'big' } });
  expect(await toy.reconcile()).toEqual({ next: 'settled', requeueAfterMs: undefined });
  expect(toy.status()).toMatchObject({
    observedGeneration: 1,
    conditions: [
      { type: 'Ready', status: 'False', reason: 'InvalidSpec', message: expect.stringContaining('spec.size') },
      { type: 'Stalled', status: 'True' },
    ],
  });
  expect(toy.log).toEqual(['Ready InvalidSpec']);
});

test('reconcile() says how an object can be deleted whose spec it cannot read', async () => {
  const toy = aToy();
  await toy.create({ spec: { size: 'big' }, finalizers: ['mooring.dev/toy'], status: { size: 1 } });
  await toy.markDeleted();
  await toy.reconcile();
  const message = expect.stringMatching(/spec\.size.* annotate .*\/abandon=true$/);
  expect(toy.status()).toMatchObject({ conditions: [{ reason: 'InvalidSpec', message }, {}] });
});

test('reconcile() recovers from a spec that it could not read', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY }) });
  await toy.create({ spec: { size: 'big' } });
  await toy.reconcile();
  await toy.change({ spec: { size: 1 } });
  await toy.reconcile();
  expect(toy.status().conditions?.map(({ type, status }) => [type, status])).toEqual([['Ready', 'True']]);
});

test('reconcile() releases a deleted object at once if nothing was ever made', async () => {
  const toy = aToy();
  await toy.create({ finalizers: ['mooring.dev/toy'] });
  await toy.markDeleted();
  await toy.reconcile();
  expect([toy.exists(), toy.log]).toEqual([false, []]);
});

test('reconcile() releases an abandoned object without looking outside', async () => {
  const toy = aToy();
  await toy.create({ finalizers: ['mooring.dev/toy'], annotations: { [ABANDON]: 'true' }, status: { size: 1 } });
  await toy.markDeleted();
  await toy.reconcile();
  expect([toy.exists(), toy.log]).toEqual([false, ['untold Abandoned']]);
});

test.each(['false', '', 'True'])(
  'reconcile() does not abandon an object that is annotated abandon="%s"',
  async (abandon) => {
    const toy = aToy({ decide: () => ({ conditions: READY }) });
    await toy.create({ finalizers: ['mooring.dev/toy'], annotations: { [ABANDON]: abandon }, status: { size: 1 } });
    await toy.markDeleted();
    await toy.reconcile();
    expect(toy.exists()).toBe(true);
  },
);

test('reconcile() ignores the annotation on an object that is not being deleted', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, hold: true }) });
  await toy.create({ annotations: { [ABANDON]: 'true' } });
  await toy.reconcile();
  expect(toy.object().metadata.finalizers).toEqual(['mooring.dev/toy']);
});

test('reconcile() removes its finalizer after the last step, and keeps those of others', async () => {
  const toy = aToy({ decide: ({ deleting }) => ({ conditions: READY, steps: ['remove'], release: deleting }) });
  await toy.create({ finalizers: ['mooring.dev/toy', 'example.com/other'], status: { size: 1 } });
  await toy.markDeleted();
  expect(await toy.reconcile()).toEqual({ next: 'settled', requeueAfterMs: undefined });
  expect(toy.object().metadata.finalizers).toEqual(['example.com/other']);
  expect(toy.log).toEqual(['observe', 'going to remove']);
});

test('reconcile() keeps its finalizer if the step before failed', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['remove'], release: true }),
    act: () => Promise.reject(new TransientError('Busy', 'Cannot remove it now')),
  });
  await toy.create({ finalizers: ['mooring.dev/toy'], status: { size: 1 } });
  await toy.markDeleted();
  expect(await toy.reconcile()).toMatchObject({ next: 'failed' });
  expect(toy.object().metadata.finalizers).toEqual(['mooring.dev/toy']);
});

test('reconcile() adds no finalizer to an object that is being deleted', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, hold: true, steps: ['grow'] }) });
  await toy.create({ finalizers: ['mooring.dev/toy'], status: { size: 1 } });
  await toy.markDeleted();
  await toy.reconcile();
  expect(toy.object().metadata.finalizers).toEqual(['mooring.dev/toy']);
});

test('reconcile() is silent after a pass that acted and learned nothing: the next pass reports', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['grow'] }) });
  await toy.create();
  expect(await toy.reconcile()).toEqual({ next: 'again' });
  expect(toy.status().conditions).toBeUndefined();
});

test('reconcile() reports after a pass that acted, if asked to', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['grow'] }) });
  await toy.create();
  expect(await toy.reconcile(undefined, { tellAlways: true })).toEqual({ next: 'again' });
  expect(toy.status()).toMatchObject({ conditions: [{ reason: 'Done' }] });
});

test('reconcile() keeps what a failing step reports', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow'] }),
    act: async (_subject, _step, keep) => {
      keep({ size: 9 });
      throw new TransientError('NoFood', 'Cannot grow it');
    },
  });
  await toy.create();
  expect(await toy.reconcile()).toMatchObject({ next: 'failed', failure: { reason: 'NoFood' } });
  expect(toy.status()).toMatchObject({ size: 9, lastError: { message: 'Cannot grow it' } });
});

test('reconcile() keeps results of steps, including those before one that failed', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow', 'paint', 'sell'] }),
    act: async (_subject, step) => {
      if (step === 'paint') throw new TransientError('NoPaint', 'Cannot paint it');
      return { size: 9 };
    },
  });
  await toy.create();
  expect(await toy.reconcile()).toMatchObject({ next: 'failed', failure: { reason: 'NoPaint' } });
  expect(toy.status()).toMatchObject({ size: 9, lastError: { operation: 'Reconcile', message: 'Cannot paint it' } });
  expect(toy.log).toEqual(['observe', 'going to grow', 'going to paint', 'Ready NoPaint']);
});

test('reconcile() keeps results of steps even if the object changed meanwhile', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow'], status: { color: 'red' } }),
    act: async () => {
      await toy.changeUnseen({ metadata: { labels: { other: 'writer' } } });
      return { size: 9 };
    },
  });
  await toy.create({ finalizers: ['mooring.dev/toy'] });
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  const { size, color, conditions } = toy.status();
  expect({ size, color, conditions }).toEqual({ size: 9, color: undefined, conditions: undefined });
});

test('reconcile() keeps results of steps even if a later step finds that something changed meanwhile', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow', 'paint'] }),
    act: async (_subject, step) => {
      if (step === 'paint') throw conflict;
      return { size: 9 };
    },
  });
  await toy.create();
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  const { size, conditions, lastError } = toy.status();
  expect({ size, conditions, lastError }).toEqual({ size: 9, conditions: undefined, lastError: undefined });
});

test('reconcile() does not repeat what it did and wrote without an answer, although the watch is late', async () => {
  const grown: string[] = [];
  const toy = aToy({
    decide: ({ status }) => ({ conditions: READY, steps: status.size === 9 ? [] : ['grow'] }),
    act: async (_subject, step) => {
      grown.push(step);
      // Written by an earlier pass that never got an answer.
      if (grown.length === 1) await toy.api.patch(TOYS, TOY, { status: { size: 9 } }, { subresource: 'status' });
      return { size: 9 };
    },
  });
  await toy.create({ finalizers: ['mooring.dev/toy'] });
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  expect(await toy.reconcile()).toEqual({ next: 'settled', requeueAfterMs: undefined });
  expect(grown).toEqual(['grow']);
});

test('reconcile() does not write results of steps onto another object of the same name', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow'] }),
    act: async () => {
      await toy.replaceUnseen();
      return { size: 9 };
    },
  });
  await toy.create();
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  expect(toy.status().size).toBeUndefined();
});

test('reconcile() leaves a status that changed meanwhile as it is', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY }) });
  await toy.create();
  await toy.changeUnseen({ spec: { size: 2 } });
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  expect(toy.status().conditions).toBeUndefined();
});

test('reconcile() treats an object that vanished during the pass as a change like any other', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY }) });
  await toy.create();
  toy.removeUnseen();
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
});

test('reconcile() treats a conflict during a look only as a reason to look again', async () => {
  const toy = aToy({ observe: () => Promise.reject(conflict) });
  await toy.create();
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  expect(toy.status().conditions).toBeUndefined();
});

test('reconcile() changes nothing if the decision is to keep everything', async () => {
  let keep = false;
  const toy = aToy({ decide: () => (keep ? { conditions: 'keep', requeueAfterMs: 3 } : { conditions: READY }) });
  await toy.create();
  await toy.reconcile();
  keep = true;
  await toy.change({ spec: { size: 2 } });
  toy.log.length = 0;
  expect(await toy.reconcile()).toEqual({ next: 'settled', requeueAfterMs: 3 });
  expect(toy.status().observedGeneration).toBe(1);
  expect(toy.log).toEqual(['observe']);
});

test.each(['soon', 'later', 'slowly'] as const)(
  'reconcile() passes on that the kind wants to look again %s',
  async (retry) => {
    const toy = aToy({ decide: () => ({ conditions: reconciling('Waiting', 'For a friend'), retry }) });
    await toy.create();
    expect(await toy.reconcile()).toEqual({ next: 'retry', pace: retry, fails: false });
  },
);

test('reconcile() tells the kind once that a person wants a look now', async () => {
  const looks: boolean[] = [];
  const toy = aToy({
    decide: ({ lookNow }) => {
      looks.push(lookNow);
      return { conditions: READY };
    },
  });
  await toy.create();
  await toy.reconcile();
  await toy.change({ metadata: { annotations: { [RECONCILE_AT]: '1' } } });
  await toy.reconcile();
  expect(toy.status().lastHandledReconcileAt).toBe('1');
  await toy.reconcile();
  expect(looks).toEqual([false, true, false]);
});

test('reconcile() keeps the transition time of a condition whose status stays', async () => {
  let message = 'one';
  const toy = aToy({ decide: () => ({ conditions: stalled('Bad', message) }) });
  await toy.create();
  await toy.reconcile();
  const before = toy.status().conditions;
  await toy.clock.advance(60_000);
  message = 'two';
  await toy.reconcile();
  const after = toy.status().conditions;
  expect(after?.map((each) => each.lastTransitionTime)).toEqual(before?.map((each) => each.lastTransitionTime));
  expect(after?.[0]?.message).toBe('two');
});
