import { describe, expect, test } from 'vitest';
import { aToy, TOY_FINALIZER, TOYS } from '../../test/support/toy-kind.ts';
import { TerminalError, TransientError } from '../base/errors.ts';
import { ApiError } from '../http/api-error.ts';
import { ABANDON, RECONCILE_AT } from '../kube/annotations.ts';
import { KubeError } from '../kube/api.ts';
import { failureOf } from '../kube/failure.ts';
import { failing, ready } from '../kube/summary.ts';

/* What a pass reports when it cannot look. */

const READY = ready('Done', 'All is well');
const extra = { type: 'Synced', status: 'True', reason: 'Same', message: 'Same' } as const;

test.each([
  { error: new TransientError('Busy', 'Try later'), type: 'Reconciling', ready: 'Unknown' },
  { error: new TerminalError('Forbidden', 'Ask the owner'), type: 'Stalled', ready: 'False' },
  { error: new Error('oops'), type: 'Reconciling', ready: 'Unknown' },
])('reconcile() sums up a failed look with $error.name as $type, and keeps what else was known', async (given) => {
  let fails = false;
  const toy = aToy({
    observe: () => (fails ? Promise.reject(given.error) : Promise.resolve(undefined)),
    decide: () => ({ conditions: [...READY, extra] }),
  });
  await toy.create();
  await toy.reconcile();
  fails = true;
  await toy.change({ spec: { size: 2 } });
  expect(await toy.reconcile()).toMatchObject({ next: 'failed' });
  expect(toy.status()).toMatchObject({
    observedGeneration: 2,
    conditions: [
      { type: 'Ready', status: given.ready },
      { type: given.type, status: 'True' },
      { type: 'Synced', status: 'True' },
    ],
    lastError: { message: given.error.message },
  });
});

test.each([true, false])(
  'reconcile() says of conditions that prevail (%s) only that, and what failed besides',
  async (prevails) => {
    const said = failing('LoginLost', 'A person must hear of this');
    const toy = aToy({
      decide: () => ({ conditions: said, prevails, steps: ['grow'] }),
      act: () => Promise.reject(new TransientError('Busy', 'Try later')),
    });
    await toy.create({ finalizers: [TOY_FINALIZER] });
    await toy.reconcile();
    expect(toy.status().conditions?.[0]?.reason).toBe(prevails ? 'LoginLost' : 'Busy');
    expect(toy.status().lastError).toMatchObject({ message: 'Try later' });
  },
);

test('reconcile() reports a standing refusal the same way each time, and does not count it as a failure', async () => {
  const stands = failureOf(new TerminalError('Refused', 'The server says no'));
  let refuses = true;
  const toy = aToy({
    decide: () => (refuses ? { conditions: [...READY, extra], stands, requeueAfterMs: 42_000 } : { conditions: READY }),
  });
  await toy.create();
  for (let pass = 0; pass < 2; pass++)
    expect(await toy.reconcile()).toEqual({ next: 'settled', requeueAfterMs: 42_000 });
  const told = toy.status();
  expect(told).toMatchObject({
    conditions: [
      { type: 'Ready', status: 'False', reason: 'Refused' },
      { type: 'Stalled', status: 'True' },
      { type: 'Synced', status: 'True' },
    ],
    lastError: { message: 'The server says no' },
  });
  toy.clock.advance(1_000);
  await toy.reconcile();
  expect(toy.status()).toEqual(told);
  refuses = false;
  await toy.reconcile();
  expect(toy.status().conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True' });
  expect(toy.status().lastError).toBeUndefined();
});

test.each([
  ['is put back', { owns: () => true }, { status: { size: 1 } }],
  ['comes before the first step', { decide: () => ({ conditions: READY, steps: ['grow'] }) }, {}],
])('reconcile() does nothing if its finalizer does not stay, and says so, when it %s', async (_when, kind, start) => {
  const toy = aToy(kind);
  await toy.create(start);
  const patch = toy.api.patch.bind(toy.api);
  toy.api.patch = (resource, ref, body, options) =>
    patch(resource, ref, options?.subresource === 'status' ? body : { metadata: { finalizers: null } }, options);
  expect(await toy.reconcile()).toMatchObject({ next: 'failed', failure: { reason: 'FinalizerRefused' } });
  expect(toy.status().conditions?.[0]).toMatchObject({ status: 'Unknown', reason: 'FinalizerRefused' });
  expect(toy.log.filter((line) => line.startsWith('going'))).toEqual([]);
});

test('reconcile() reports that preparing to abandon an object has failed', async () => {
  const forbidden = new KubeError('Cannot patch secrets: forbidden', { status: 403, reason: 'Forbidden' });
  const toy = aToy({ abandon: () => Promise.reject(forbidden) });
  await toy.create({ finalizers: [TOY_FINALIZER], annotations: { [ABANDON]: 'true' }, status: { size: 1 } });
  await toy.markDeleted();
  expect(await toy.reconcile()).toMatchObject({ next: 'failed', failure: { reason: 'KubernetesForbidden' } });
  expect(toy.status().conditions?.[0]).toMatchObject({ reason: 'KubernetesForbidden' });
  expect(toy.object().metadata.finalizers).toEqual([TOY_FINALIZER]);
});

test('reconcile() says that it has abandoned an object, but not before it has', async () => {
  const toy = aToy({});
  await toy.create({ finalizers: [TOY_FINALIZER, 'a/b'], annotations: { [ABANDON]: 'true' }, status: { size: 1 } });
  await toy.markDeleted();
  const patch = toy.api.patch.bind(toy.api);
  toy.api.patch = () => Promise.reject(new KubeError('Cannot patch toys: forbidden', { status: 403 }));
  await expect(toy.reconcile()).rejects.toThrow('forbidden');
  const told = () => toy.log.filter((line) => line === 'untold Abandoned').length;
  expect(told()).toBe(0);
  toy.api.patch = patch;
  for (let pass = 0; pass < 2; pass++) await toy.reconcile();
  expect([told(), toy.object().metadata.finalizers]).toEqual([1, ['a/b']]);
});

test.each(['hold', 'own', 'release'] as const)(
  'reconcile() reports that it may not change the finalizers, to %s',
  async (what) => {
    const toy = aToy({ decide: () => ({ conditions: READY, [what]: true }), owns: () => what === 'own' });
    await toy.create({ status: { size: 1 }, ...(what === 'release' ? { finalizers: [TOY_FINALIZER] } : {}) });
    if (what === 'release') await toy.markDeleted();
    const patch = toy.api.patch.bind(toy.api);
    toy.api.patch = (resource, ref, body, options) =>
      options?.subresource === 'status'
        ? patch(resource, ref, body, options)
        : Promise.reject(new KubeError('Cannot patch toys: forbidden', { status: 403, reason: 'Forbidden' }));
    expect(await toy.reconcile()).toMatchObject({ next: 'failed', failure: { reason: 'KubernetesForbidden' } });
    expect(toy.status().conditions?.[0]).toMatchObject({
      type: 'Ready',
      status: 'Unknown',
      reason: 'KubernetesForbidden',
      message: 'Cannot patch toys: forbidden. If a right is missing, the chart and deploy/ of this version grant it',
    });
  },
);

test('reconcile() keeps the time of a lasting failure, and removes the error after it', async () => {
  let fails = true;
  const toy = aToy({
    observe: () => (fails ? Promise.reject(new TransientError('Busy', 'Try later')) : Promise.resolve(undefined)),
    decide: () => ({ conditions: READY }),
  });
  await toy.create();
  await toy.reconcile();
  const first = toy.object();
  await toy.clock.advance(60_000);
  await toy.reconcile();
  expect(toy.object()).toBe(first);
  fails = false;
  await toy.reconcile();
  expect(toy.status().lastError).toBeUndefined();
});

test('reconcile() keeps reporting the last failure that was really tried while calls are held back', async () => {
  const about = { api: 'cloud', operation: 'get', phrase: 'get it', idempotent: true } as const;
  let error = new ApiError({ ...about, kind: 'unreachable', what: 'refused' });
  const toy = aToy({ observe: () => Promise.reject(error), decide: () => ({ conditions: READY }) });
  await toy.create();
  await toy.reconcile();
  const tried = toy.object();
  error = new ApiError({ ...about, kind: 'unavailable', what: 'not tried, because others failed' });
  expect(await toy.reconcile()).toMatchObject({ next: 'failed', failure: { details: { message: error.message } } });
  expect(toy.object()).toBe(tried);
  error = new ApiError({ ...about, kind: 'throttled', what: 'held back, because others were refused' });
  await toy.reconcile();
  expect(toy.status().lastError?.message).toBe(error.message);
});

test.each(['another spec', 'another outage'])('reconcile() reports why it is held back after %s', async (after) => {
  const about = { api: 'cloud', operation: 'get', phrase: 'get it', idempotent: true } as const;
  let error = new ApiError({ ...about, kind: 'unreachable', what: 'refused' });
  const toy = aToy({ observe: () => Promise.reject(error), decide: () => ({ conditions: READY }) });
  await toy.create();
  await toy.reconcile();
  await toy.clock.advance(120_000);
  if (after === 'another spec') await toy.change({ spec: { size: 2 } });
  const heldSinceMs = toy.clock.now() - (after === 'another outage' ? 30_000 : 120_000);
  error = new ApiError({ ...about, kind: 'unavailable', what: 'not tried', heldSinceMs });
  await toy.reconcile();
  expect(toy.status()).toMatchObject({
    conditions: [{ message: expect.stringContaining(error.message) }, {}],
    lastError: { message: error.message },
  });
});

const CALL = { api: 'server', operation: 'signIn', phrase: 'sign in', idempotent: true, what: 'it failed' } as const;
const FIRST_SECONDS = { failsForMs: () => 4_999 };

test.each<[string, object, Error | 'decided']>([
  ['fails', FIRST_SECONDS, new ApiError({ ...CALL, kind: 'unavailable', status: 503 })],
  ['to the Kubernetes API fails', FIRST_SECONDS, new KubeError('busy', { status: 429 })],
  ['has failed according to the decision', FIRST_SECONDS, 'decided'],
])('reconcile() does not report for five seconds that a call %s', async (_, context, error) => {
  let fails = false;
  const toy = aToy({
    observe: () => (fails && error !== 'decided' ? Promise.reject(error) : Promise.resolve(undefined)),
    decide: () => (fails ? { conditions: failing('Down', 'No'), mayPass: true, retry: 'soon' } : { conditions: READY }),
  });
  await toy.create();
  await toy.reconcile();
  const before = toy.object();
  fails = true;
  expect(await toy.reconcile(undefined, context)).toMatchObject({
    next: error === 'decided' ? 'retry' : 'failed',
  });
  expect(toy.object()).toBe(before);
  await toy.reconcile(undefined, { failsForMs: () => 5_000 });
  expect(toy.status().conditions?.[0]?.status).not.toBe('True');
});

test.each<[string, object, Error]>([
  ['a person must mend', {}, new ApiError({ ...CALL, kind: 'unauthorized', status: 401 })],
  ['an object waits', {}, new TransientError('Missing', 'There is no Secret')],
  ['the spec has changed', { spec: { size: 2 } }, new ApiError({ ...CALL, kind: 'lost' })],
  ['a person asked', { metadata: { annotations: { [RECONCILE_AT]: 'x' } } }, new ApiError({ ...CALL, kind: 'lost' })],
])('reconcile() reports a failed look at once if %s', async (_, change, error) => {
  let fails = false;
  const toy = aToy({
    observe: () => (fails ? Promise.reject(error) : Promise.resolve(undefined)),
    decide: () => ({ conditions: READY }),
  });
  await toy.create();
  await toy.reconcile();
  fails = true;
  await toy.change(change);
  await toy.reconcile(undefined, FIRST_SECONDS);
  expect(toy.status().conditions?.[0]?.status).not.toBe('True');
});

test.each([
  [4, 'red'],
  [5, undefined],
])('reconcile() keeps results of steps even if somebody is faster %i more times', async (times, color) => {
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['paint'] }), act: async () => ({ color: 'red' }) });
  await toy.create({ finalizers: ['mooring.dev/toy'] });
  const patch = toy.api.patch.bind(toy.api);
  let writes = 0;
  toy.api.patch = async (resource, ref, body, options) => {
    if (options?.subresource === 'status' && writes++ <= times)
      await toy.changeUnseen({ metadata: { labels: { n: `${writes}` } } });
    return patch(resource, ref, body, options);
  };
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  expect(toy.status().color).toBe(color);
});

describe('reconcile() of an object that is being deleted', () => {
  const deletion = async (status: 'True' | 'False', phase: 'observe' | 'act') => {
    const wait = Promise.withResolvers<void>();
    const toy = aToy({
      observe: () => (phase === 'observe' ? wait.promise : Promise.resolve()),
      decide: () => ({ conditions: 'keep', steps: ['let go'], release: true }),
      act: async () => (phase === 'act' ? wait.promise.then(() => undefined) : undefined),
    });
    const conditions = READY.map((condition) => ({ ...condition, status, lastTransitionTime: '2026-01-01T00:00:00Z' }));
    await toy.create({ finalizers: [TOY_FINALIZER], status: { size: 1, conditions } });
    await toy.markDeleted();
    const outcome = toy.reconcile();
    const reason = () => toy.status().conditions?.[0]?.reason;
    return { ...toy, outcome, reason, end: wait };
  };

  test.each(['observe', 'act'] as const)('says so once its first pass has waited for 5 s to %s', async (phase) => {
    const { clock, reason, end, outcome, exists, status, log } = await deletion('True', phase);
    await clock.advance(4_900);
    expect(reason()).toBe('Done');
    await clock.advance(200);
    expect(status().conditions).toMatchObject([
      { type: 'Ready', status: 'Unknown', reason: 'Deleting', message: expect.stringContaining('is being deleted') },
      { type: 'Reconciling', status: 'True', reason: 'Deleting' },
    ]);
    expect(log).toContain('Ready Deleting');
    end.resolve();
    expect(await outcome).toMatchObject({ next: 'settled' });
    expect(exists()).toBe(false);
  });

  test('writes nothing more if it is quick', async () => {
    const { clock, end, outcome, exists, api, log } = await deletion('True', 'act');
    await clock.advance(4_900);
    end.resolve();
    await outcome;
    expect(clock.timers()).toBe(0);
    await clock.advance(10_000);
    expect([exists(), clock.timers(), log.includes('Ready Deleting'), api.all(TOYS)]).toEqual([false, 0, false, []]);
  });

  test('reports in the end why it failed, and leaves that standing', async () => {
    const first = await deletion('True', 'act');
    await first.clock.advance(6_000);
    first.end.reject(new TransientError('Busy', 'Try later'));
    expect(await first.outcome).toMatchObject({ next: 'failed' });
    expect(first.reason()).toBe('Busy');
    const later = await deletion('False', 'act');
    await later.clock.advance(6_000);
    expect(later.reason()).toBe('Done');
    later.end.resolve();
    await later.outcome;
  });
});

test('reconcile() reports a step that failed for good, and comes back soon if that was decided', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow'], retry: 'soon' }),
    act: () => Promise.reject(new TerminalError('NoPaint', 'Buy some')),
  });
  await toy.create();
  expect(await toy.reconcile()).toMatchObject({ next: 'failed', soon: true });
  expect(toy.status()).toMatchObject({ conditions: [{ reason: 'NoPaint' }, { type: 'Stalled' }] });
});
