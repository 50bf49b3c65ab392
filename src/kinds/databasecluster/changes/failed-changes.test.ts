import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { TerminalError } from '../../../base/errors.ts';
import { ApiError } from '../../../http/api-error.ts';
import { KubeError } from '../../../kube/api.ts';
import { FailedChanges } from './failed-changes.ts';

const KEY = 'shop/orders';

/** How often the cloud is asked for the change when it fails each time. */
async function asked(changes: FailedChanges, by: object, nowMs: number): Promise<number> {
  let calls = 0;
  const call = () => {
    calls++;
    return Promise.reject(new Error('no'));
  };
  await expect(changes.ask({ key: KEY, what: 'more storage', by }, true, () => nowMs, call)).rejects.toThrow('no');
  return calls;
}

test('FailedChanges asks again after a pause, or as somebody else', async () => {
  const changes = new FailedChanges();
  const [one, other] = [{}, {}];
  expect([await asked(changes, one, 0), await asked(changes, one, 999), await asked(changes, one, 1_000)]).toEqual([
    1, 0, 1,
  ]);
  expect([await asked(changes, other, 1_000), await asked(changes, other, 1_001)]).toEqual([1, 0]);
});

test('FailedChanges asks again at once if the failure says nothing about the change, or once it went well in between', async () => {
  const changes = new FailedChanges();
  const one = {};
  const ask = (call: () => Promise<unknown>) =>
    changes.ask({ key: KEY, what: 'more storage', by: one }, true, () => 0, call).catch(() => 'failed');
  const conflict = new KubeError('It has changed', { status: 409, reason: 'Conflict' });
  const about = { api: 'cloud', operation: 'update', phrase: 'update', kind: 'unavailable', idempotent: true } as const;
  const heldBack = new ApiError({ ...about, what: 'not tried' });
  for (const error of [conflict, heldBack]) expect(await ask(() => Promise.reject(error))).toBe('failed');
  expect(await asked(changes, one, 0)).toBe(1);
  expect(await asked(changes, one, 0)).toBe(0);
  await changes.ask(
    { key: KEY, what: 'more storage', by: one },
    false,
    () => 0,
    () => Promise.resolve(),
  );
  expect(await asked(changes, one, 0)).toBe(1);
});

test.each([
  ['passes by itself', new Error('no'), 1_000, 300_000],
  ['needs a person', new TerminalError('RefusedByCloud', 'no'), 60_000, 1_800_000],
])(
  'FailedChanges asks again less and less often, down to a longest pause, if the failure %s',
  async (_, error, first, last) => {
    const changes = new FailedChanges();
    let [calls, nowMs] = [0, 0];
    const callsAt = async (ms: number) => {
      const before = calls;
      const call = () => {
        calls++;
        return Promise.reject(error);
      };
      const asking = changes.ask({ key: KEY, what: 'more storage', by: changes }, true, () => ms, call);
      await expect(asking).rejects.toBe(error);
      return calls - before;
    };
    for (let times = 0; times < 12; times++) {
      const pauseMs = Math.min(first * 2 ** times, last);
      expect([await callsAt(nowMs), await callsAt(nowMs + pauseMs - 1)]).toEqual([1, 0]);
      nowMs += pauseMs;
    }
  },
);

test('FailedChanges does not keep a client that nobody else uses', async () => {
  setFlagsFromString('--expose-gc');
  const changes = new FailedChanges();
  const client = await (async () => {
    const by = {};
    await asked(changes, by, 0);
    return new WeakRef(by);
  })();
  // A WeakRef that was dereferenced is kept until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  runInNewContext('gc')();
  expect(client.deref()).toBeUndefined();
  expect(await asked(changes, {}, 1)).toBe(1);
});
