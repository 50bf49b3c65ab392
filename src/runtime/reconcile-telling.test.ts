import { expect, test } from 'vitest';
import { aToy, TOY_FINALIZER, type ToySubject } from '../../test/support/toy-kind.ts';
import { TransientError } from '../base/errors.ts';
import { ABANDON, PAUSED, RECONCILE_AT } from '../kube/annotations.ts';
import { KubeError } from '../kube/api.ts';
import { isStatusConditionTrue } from '../kube/condition.ts';
import { ready, reconciling } from '../kube/summary.ts';
import { reconcile } from './reconcile.ts';

/* What a pass requests from the API server, and nothing more; what it passes to the kind; to whom it reports Ready. */

const READY = ready('Done', 'All is well');
const extra = { type: 'Synced', status: 'True', reason: 'Same', message: 'Same' } as const;
const stored = [...READY, extra].map((each) => ({ ...each, lastTransitionTime: '2026-01-01T00:00:00Z' }));
const conflict = new KubeError('the object has been modified', { status: 409, reason: 'Conflict' });
const busy = new KubeError('busy', { status: 500 });

/** Lists the requests in words. Writes of status are answered with `error`, if one is given. */
function requestsOf({ api }: ReturnType<typeof aToy>, error?: Error): string[] {
  const requests: string[] = [];
  const { get, patch } = { get: api.get.bind(api), patch: api.patch.bind(api) };
  api.get = (...given) => {
    requests.push('get');
    return get(...given);
  };
  api.patch = (...given) => {
    const of = given[3]?.subresource ?? 'finalizers';
    requests.push(of);
    return error !== undefined && of === 'status' ? Promise.reject(error) : patch(...given);
  };
  return requests;
}

test('reconcile() passes the kind the object, and the signal for looks and acts', async () => {
  const seen: ToySubject[] = [];
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['grow'] }) });
  const { signal } = new AbortController();
  const signals: AbortSignal[] = [];
  const kind: typeof toy.kind = {
    ...toy.kind,
    observe: async (subject, given) => {
      seen.push(subject);
      signals.push(given);
    },
    act: async (_subject, _step, given) => {
      signals.push(given);
      return undefined;
    },
  };
  await toy.create({ spec: { size: 7 }, status: { size: 3 }, finalizers: [TOY_FINALIZER] });
  const context = { ...contextOf(toy), read: () => toy.object() };
  await reconcile(kind, context, 'ns/toy', signal);
  expect(seen).toMatchObject([
    {
      key: 'ns/toy',
      metadata: { name: 'toy' },
      spec: { size: 7 },
      status: { size: 3 },
      deleting: false,
      lookNow: false,
    },
  ]);
  expect(signals).toEqual([signal, signal]);
});

function contextOf({ api, clock }: ReturnType<typeof aToy>) {
  const [failsForMs, ignore] = [() => 0, () => {}];
  const told = { written: ignore, onReady: ignore, onUntold: ignore, onStep: ignore };
  return { api, clock, ...told, failsForMs, conflictsLast: false, tellAlways: false };
}

test('reconcile() passes the kind the object that it abandons, and what is known of it', async () => {
  const abandoned: object[] = [];
  const toy = aToy({
    abandon: async (subject) => {
      abandoned.push(subject);
    },
  });
  await toy.create({ finalizers: [TOY_FINALIZER], annotations: { [ABANDON]: 'true' }, status: { size: 1 } });
  await toy.markDeleted();
  await toy.reconcile();
  expect(abandoned).toMatchObject([{ metadata: { name: 'toy' }, status: { size: 1 } }]);
});

test('reconcile() writes the finalizer once, and not again once the object goes without it', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['grow'] }) });
  await toy.create({ finalizers: ['example.com/other'] });
  const requests = requestsOf(toy);
  await toy.reconcile();
  await toy.reconcile();
  expect(requests).toEqual(['finalizers']);
  await toy.change({ metadata: { finalizers: ['example.com/other'] } });
  await toy.markDeleted();
  requests.length = 0;
  await toy.reconcile();
  expect(requests).toEqual(['status']);
});

test.each([
  ['a conflict', conflict, undefined, ['status']],
  ['a conflict, with the result of an act,', conflict, { size: 9 }, ['status', 'get', 'status']],
  ['another error than a conflict', busy, { size: 9 }, ['status']],
])('reconcile() after %s writes a status once more only if something would be lost', async (...given) => {
  const [, error, facts, expected] = given;
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['grow'] }), act: async () => facts });
  await toy.create({ finalizers: [TOY_FINALIZER] });
  const requests = requestsOf(toy, error);
  const outcome = toy.reconcile(undefined, { tellAlways: true });
  // Other errors are for the queue to count as failures.
  await (error === conflict
    ? expect(outcome).resolves.toEqual({ next: 'conflict' })
    : expect(outcome).rejects.toBe(busy));
  expect([...new Set(requests)]).toEqual([...new Set(expected)]);
  expect(requests.slice(0, expected.length)).toEqual(expected);
});

test('reconcile() writes no status for an act that met a conflict and had no result', async () => {
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow'] }),
    act: () => Promise.reject(conflict),
  });
  await toy.create({ finalizers: [TOY_FINALIZER] });
  const requests = requestsOf(toy);
  expect(await toy.reconcile()).toEqual({ next: 'conflict' });
  expect(requests).toEqual([]);
});

test('reconcile() ends only after it has written what an act brought about before it met a conflict', async () => {
  const answer = Promise.withResolvers<void>();
  const toy = aToy({
    decide: () => ({ conditions: READY, steps: ['grow'] }),
    act: async (_subject, _step, keep) => {
      keep({ size: 9 });
      throw conflict;
    },
  });
  await toy.create({ finalizers: [TOY_FINALIZER] });
  const patch = toy.api.patch.bind(toy.api);
  toy.api.patch = async (...given) => {
    await answer.promise;
    return patch(...given);
  };
  let over = false;
  const outcome = toy.reconcile().finally(() => {
    over = true;
  });
  await toy.clock.settle();
  expect(over).toBe(false);
  answer.resolve();
  expect([await outcome, toy.status().size]).toEqual([{ next: 'conflict' }, 9]);
});

test('reconcile() reports conflicts once they last', async () => {
  const toy = aToy({ observe: () => Promise.reject(conflict) });
  await toy.create();
  expect(await toy.reconcile(undefined, { conflictsLast: true })).toMatchObject({ next: 'failed' });
  expect(toy.status().conditions?.[0]).toMatchObject({ type: 'Ready', status: 'Unknown' });
});

test('reconcile() forgets that a person asked once the annotation is gone', async () => {
  const toy = aToy({ decide: () => ({ conditions: READY }) });
  await toy.create({ annotations: { [RECONCILE_AT]: '1' } });
  await toy.reconcile();
  await toy.change({ metadata: { annotations: { [RECONCILE_AT]: null } } });
  await toy.reconcile();
  expect(toy.status().lastHandledReconcileAt).toBeUndefined();
});

test('reconcile() reports of Ready only what it has written', async () => {
  let decision: { conditions: typeof READY | 'keep'; mayPass?: true } = { conditions: [] };
  let size = 0;
  const toy = aToy({ decide: () => ({ ...decision, status: { size: ++size } }) });
  await toy.create();
  await toy.reconcile();
  expect(toy.log).toEqual(['observe']);
  decision = { conditions: READY };
  await toy.reconcile();
  toy.log.length = 0;
  // A failure that may pass, and a decision that is silent about it: each with a status that also differs otherwise.
  for (decision of [{ conditions: reconciling('Down', 'No'), mayPass: true } as const, { conditions: 'keep' } as const])
    await toy.reconcile(undefined, { failsForMs: () => 0 });
  expect([toy.status().size, toy.log]).toEqual([4, ['observe', 'observe']]);
});

test.each([
  ['must wait longer than five seconds for its retry', READY, 429, 5_000, true],
  ['belongs to an object that was not Ready', reconciling('Waiting', 'For a friend'), 503, 0, true],
  ['is no more than a short pause: then not at once', reconciling('Waiting', 'For a friend'), 429, 4_000, false],
])(
  'reconcile() says at once that it failed, if the failure may pass and %s',
  async (_, conditions, status, retryAfterMs, tells) => {
    let fails = false;
    const toy = aToy({
      observe: () => (fails ? Promise.reject(new KubeError('busy', { status, retryAfterMs })) : Promise.resolve()),
      decide: () => ({ conditions }),
    });
    await toy.create();
    await toy.reconcile();
    fails = true;
    await toy.reconcile(undefined, { failsForMs: () => 0 });
    expect(toy.status().lastError?.message).toEqual(tells ? expect.stringMatching(/busy/) : undefined);
  },
);

test.each([
  ['nothing', [], 'changes nothing. Remove'],
  ['one step', ['grow'], 'changes nothing, and would grow. Remove'],
])('reconcile() says for an object paused before %s what is held back', async (_what, steps, message) => {
  const toy = aToy({ decide: () => ({ conditions: 'keep', hold: true, steps }) });
  await toy.create({ annotations: { [PAUSED]: 'true' }, status: { conditions: stored } });
  await toy.reconcile();
  expect(toy.status().conditions).toMatchObject([
    { reason: 'Paused', message: expect.stringContaining(message) },
    { type: 'Synced', reason: 'Same' },
  ]);
});

test('reconcile() does not treat an object that waits for long as one that is being deleted', async () => {
  const wait = Promise.withResolvers<void>();
  const toy = aToy({ observe: () => wait.promise, decide: () => ({ conditions: READY }) });
  await toy.create({ status: { conditions: stored } });
  const outcome = toy.reconcile();
  await toy.clock.advance(10_000);
  expect(toy.status().conditions?.[0]?.reason).toBe('Done');
  wait.resolve();
  await outcome;
});

test('reconcile() reports that it waits if nothing is said of an object for five seconds', async () => {
  const wait = Promise.withResolvers<void>();
  const toy = aToy({ observe: () => wait.promise, decide: () => ({ conditions: READY }) });
  await toy.create();
  const outcome = toy.reconcile();
  await toy.clock.advance(4_900);
  expect(toy.status().conditions).toBeUndefined();
  await toy.clock.advance(200);
  expect(toy.status()).toMatchObject({
    observedGeneration: 1,
    conditions: [
      { type: 'Ready', status: 'Unknown', reason: 'Observing' },
      { type: 'Reconciling', status: 'True' },
    ],
  });
  wait.resolve();
  await outcome;
  expect(toy.status().conditions).toMatchObject(READY);
});

test.each([
  ['is written', undefined, 'Deleting'],
  ['cannot be written', busy, 'Done'],
])('reconcile() ends only after its report of a lasting deletion %s', async (_how, error, reason) => {
  const [wait, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const toy = aToy({ observe: () => wait.promise, decide: () => ({ conditions: 'keep' }) });
  await toy.create({ finalizers: [TOY_FINALIZER], status: { size: 1, conditions: stored } });
  await toy.markDeleted();
  const patch = toy.api.patch.bind(toy.api);
  toy.api.patch = async (...given) => {
    await answer.promise;
    if (error !== undefined) throw error;
    return patch(...given);
  };
  let over = false;
  const outcome = toy.reconcile().finally(() => {
    over = true;
  });
  await toy.clock.advance(5_000);
  wait.resolve();
  await toy.clock.advance(1_000);
  expect(over).toBe(false);
  answer.resolve();
  expect(await outcome).toEqual({ next: 'settled', requeueAfterMs: undefined });
  // Everything else is still known.
  expect(toy.status().conditions).toMatchObject([{ reason }, ...(error ? [] : [{ type: 'Reconciling' }]), extra]);
});

test('reconcile() counts a failure to report as a failure of the pass', async () => {
  const toy = aToy({ observe: () => Promise.reject(new TransientError('Down', 'It is down')) });
  await toy.create();
  requestsOf(toy, busy);
  await expect(toy.reconcile()).rejects.toBe(busy);
});

test.each([
  ['an object that is gone', new KubeError('there is none', { status: 404 }), { next: 'conflict' }],
  ['a mistake in the program', new TypeError('oops'), new TypeError('oops')],
])('reconcile() writes no status if the finalizer cannot be written because of %s', async (_why, error, expected) => {
  const toy = aToy({ decide: () => ({ conditions: READY, steps: ['grow'] }) });
  await toy.create();
  const requests: unknown[] = [];
  toy.api.patch = (...given) => {
    requests.push(given[2]);
    return Promise.reject(error);
  };
  expect(await toy.reconcile().catch((thrown: unknown) => thrown)).toEqual(expected);
  expect(requests).toMatchObject([{ metadata: { finalizers: [TOY_FINALIZER] } }]);
});

test('reconcile() does not keep saying Ready of what it found not to be, however short the pause that a step must make', async () => {
  const [before, now] = [
    { conditions: READY },
    { conditions: reconciling('Waiting', 'For a friend'), steps: ['grow'] },
  ];
  let decision: Partial<typeof now> & typeof before = before;
  const toy = aToy({
    decide: () => decision,
    act: () => Promise.reject(new KubeError('busy', { status: 429, retryAfterMs: 1_000 })),
  });
  await toy.create({ finalizers: [TOY_FINALIZER] });
  for (decision of [before, now]) await toy.reconcile(undefined, { failsForMs: () => 0 });
  expect(isStatusConditionTrue(toy.status().conditions, 'Ready')).toBe(false);
});

test('reconcile() goes on saying Ready if a step must make a short pause and nothing else is wrong', async () => {
  let steps: readonly string[] = [];
  const toy = aToy({
    decide: () => ({ conditions: READY, steps }),
    act: () => Promise.reject(new KubeError('busy', { status: 429, retryAfterMs: 1_000 })),
  });
  await toy.create({ finalizers: [TOY_FINALIZER] });
  await toy.reconcile();
  steps = ['grow'];
  await toy.reconcile(undefined, { failsForMs: () => 0 });
  expect(isStatusConditionTrue(toy.status().conditions, 'Ready')).toBe(true);
  await toy.reconcile(undefined, { failsForMs: () => 5_000 });
  expect(isStatusConditionTrue(toy.status().conditions, 'Ready')).toBe(false);
});
