import { expect, test } from 'vitest';
import { anEndpoint, errorOf, read, write } from '../../test/support/endpoint.ts';
import type { ScriptedAnswer } from '../../test/support/http.ts';
import type { Operation } from './api-call.ts';
import type { ApiError } from './api-error.ts';

/* Whose turn it is, and what is held back. */

test('ApiEndpoint.call() stops waiting for its turn when its signal aborts', async () => {
  const { call, requests } = anEndpoint(() => ({ status: 200 }));
  for (let count = 0; count < 100; count++) await call();
  const controller = new AbortController();
  const waiting = errorOf(call(read, { signal: controller.signal }));
  controller.abort();
  expect((await waiting).kind).toBe('aborted');
  expect(requests).toHaveLength(100);
});

test('ApiEndpoint.call() holds all calls back after a 429 for the requested time', async () => {
  const { call, clock, requests } = anEndpoint((_, count) =>
    count === 0 ? { status: 429, headers: { 'retry-after': '30' } } : { status: 200 },
  );
  expect(await errorOf(call())).toMatchObject({ kind: 'throttled', status: 429, retryAfterMs: 30_000 });
  clock.advance(10_000);
  expect(await errorOf(call(write))).toMatchObject({ kind: 'throttled', status: undefined, retryAfterMs: 20_000 });
  expect(requests).toHaveLength(1);
  clock.advance(21_000);
  await call(write);
  expect(requests).toHaveLength(2);
});

test.each([429, 503])(
  'ApiEndpoint.call() holds back the operation for the whole time that a %d requests, and others for a minute of it',
  async (status) => {
    const { call, clock, requests } = anEndpoint(({ method }) =>
      method === 'POST' ? { status, headers: { 'retry-after': '86400' } } : { status: 200 },
    );
    const until = ' until 2023-11-14T22:24:00Z';
    const first = await errorOf(call(write));
    expect(first.retryAfterMs).toBe(600_000);
    expect(first.message).toContain(`, and it asks for a pause${until} (HTTP ${status}`);
    clock.advance(30_000);
    expect((await errorOf(call())).retryAfterMs).toBe(30_000);
    clock.advance(31_000);
    await call();
    clock.advance(500_000);
    const held = await errorOf(call(write));
    expect(held).toMatchObject({ kind: first.kind, status: undefined, retryAfterMs: 39_000 });
    expect(held.message).toMatch(new RegExp(`asked for a pause${until}$`));
    expect(requests).toHaveLength(2);
    clock.advance(39_000);
    expect((await errorOf(call(write))).status).toBe(status);
    expect(requests).toHaveLength(3);
  },
);

test.each([429, 503])(
  'ApiEndpoint.call() goes on with all others if one operation is always answered %d',
  async (status) => {
    const { call, clock, requests } = anEndpoint(({ method }) =>
      method === 'POST' ? { status, headers: { 'retry-after': '30' } } : { status: 200 },
    );
    await errorOf(call(write));
    clock.advance(31_000);
    for (let count = 0; count < 5; count++) {
      await call();
      clock.advance(1_000);
      expect((await errorOf(call({ ...write, follows: true }))).status).toBe(status);
      clock.advance(1_000);
      await call();
      expect((await errorOf(call(write))).status).toBeUndefined();
      clock.advance(31_000);
    }
    expect(requests).toHaveLength(16);
  },
);

test('ApiEndpoint.call() learns nothing about an operation from 503s to calls sent before the first one arrived', async () => {
  let answer: (() => void) | undefined;
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { call, clock } = anEndpoint(async ({ method }, count) => {
    if (count === 1) await late;
    return method === 'POST' ? { status: 503, headers: { 'retry-after': '30' } } : { status: 200 };
  });
  const first = errorOf(call(write));
  const second = errorOf(call(write));
  await first;
  clock.advance(31_000);
  await call();
  answer?.();
  await second;
  expect((await errorOf(call())).message).toContain('asked for a pause');
});

test('ApiEndpoint.turn() is not given to a call that must wait longer', async () => {
  const { endpoint, call, clock } = anEndpoint(() => ({ status: 429, headers: { 'retry-after': '300' } }));
  await errorOf(call(following));
  clock.advance(61_000);
  expect(await errorOf(endpoint.turn(following))).toMatchObject({ kind: 'throttled', retryAfterMs: 239_000 });
});

test('ApiEndpoint.call() says why a call is held back, always in the same words', async () => {
  const after = (status: number) => anEndpoint(() => ({ status, headers: { 'retry-after': '30' } }));
  const throttled = after(429);
  await errorOf(throttled.call());
  const first = (await errorOf(throttled.call())).message;
  expect(first).toBe(
    'Cannot get x: held back, because the other side answered 429 (too many requests) and asked for a pause',
  );
  throttled.clock.advance(5_432);
  expect((await errorOf(throttled.call())).message).toBe(first);
  const unavailable = after(503);
  await errorOf(unavailable.call());
  expect(await errorOf(unavailable.call())).toMatchObject({ kind: 'unavailable', status: undefined });
});

test('ApiEndpoint.call() waits out a short pause, in which nothing is sent', async () => {
  const { call, patiently, clock, requests } = anEndpoint((_, count) =>
    count === 0 ? { status: 429, headers: { 'retry-after': '5' } } : { status: 200 },
  );
  await errorOf(call());
  const waiting = call(write);
  clock.advance(4_999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(requests).toHaveLength(1);
  await patiently(waiting);
  expect(requests).toHaveLength(2);
});

test.each([
  [503, '60', { kind: 'unavailable', status: undefined, retryAfterMs: 60_000 }],
  [429, '60', { kind: 'throttled', status: undefined, retryAfterMs: 60_000 }],
  [503, '4', 'waits'],
] as const)(
  'ApiEndpoint.call() does not leave calls that wait for the rate waiting for a long pause: %d with Retry-After: %s',
  async (status, retryAfter, expected) => {
    const first = Promise.withResolvers<ScriptedAnswer>();
    const { call, requests } = anEndpoint((_, count) => (count === 0 ? first.promise : { status: 200 }));
    const told = errorOf(call());
    // The burst.
    for (let count = 1; count < 100; count++) await call();
    let ended: unknown = 'waits';
    void errorOf(call(write)).then((error) => {
      ended = error;
    });
    first.resolve({ status, headers: { 'retry-after': retryAfter } });
    await told;
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual(expected === 'waits' ? expected : expect.objectContaining(expected));
    expect(requests).toHaveLength(100);
  },
);

/** An endpoint whose other side always answers writes with 429, but accepts all other calls: only that operation is limited. */
async function ownlyPaused(retryAfter: string) {
  const setting = { refuses: true };
  const bench = anEndpoint(({ method }) =>
    method === 'POST' && setting.refuses ? { status: 429, headers: { 'retry-after': retryAfter } } : { status: 200 },
  );
  const { call, patiently, clock } = bench;
  await errorOf(call(write));
  for (let turn = 0; turn < 3; turn++) {
    clock.advance(60_000);
    await patiently(call());
    clock.advance(60_000);
    expect((await errorOf(patiently(call(write)))).status).toBe(429);
  }
  setting.refuses = false;
  return { ...bench, askedAt: clock.monotonic(), sent: bench.requests.length };
}

test('ApiEndpoint.call() waits out a short pause of one operation, while others go on', async () => {
  const { call, patiently, clock, requests, askedAt, sent } = await ownlyPaused('2');
  const later = call(write);
  await call();
  expect([requests.length - sent, clock.monotonic()]).toEqual([1, askedAt]);
  await patiently(later);
  expect(clock.monotonic() - askedAt).toBeGreaterThanOrEqual(2_000);
  expect(clock.monotonic() - askedAt).toBeLessThanOrEqual(2_200);
  expect(requests.length - sent).toBe(2);
});

test('ApiEndpoint.turn() waits out a short pause of one operation', async () => {
  const { endpoint, call, patiently, clock, requests, askedAt, sent } = await ownlyPaused('2');
  const turn = await patiently(endpoint.turn(following));
  expect(clock.monotonic() - askedAt).toBeGreaterThanOrEqual(2_000);
  await call(following, { turn });
  expect(requests.length - sent).toBe(1);
});

test.each([
  ['a longer one', '6', write],
  ['one longer than a second, for a call that follows a look', '2', { ...write, follows: true }],
] as const)(
  'ApiEndpoint.call() does not wait out a pause of one operation that is %s',
  async (_, retryAfter, operation) => {
    const { call, requests, sent } = await ownlyPaused(retryAfter);
    expect(await errorOf(call(operation))).toMatchObject({
      kind: 'throttled',
      retryAfterMs: Number(retryAfter) * 1_000,
    });
    expect(requests).toHaveLength(sent);
  },
);

test('ApiEndpoint.call() stops waiting for a pause of one operation when its signal aborts', async () => {
  const { call, requests, sent } = await ownlyPaused('2');
  const leave = new AbortController();
  const waiting = errorOf(call(write, { signal: leave.signal }));
  leave.abort();
  expect(await waiting).toMatchObject({ kind: 'aborted' });
  expect(requests).toHaveLength(sent);
});

test('ApiEndpoint.call() stops waiting for its turn behind others, after a 429, when its signal aborts', async () => {
  const { call, patiently, clock, requests } = anEndpoint((_, count) => ({ status: count === 0 ? 429 : 200 }));
  await errorOf(call());
  clock.advance(1_000);
  const crowd = Array.from({ length: 20 }, () => call(write));
  const leave = new AbortController();
  const waiting = errorOf(call({ ...write, path: ['v1', 'left'] }, { signal: leave.signal }));
  await new Promise((resolve) => setImmediate(resolve));
  leave.abort();
  expect(await waiting).toMatchObject({ kind: 'aborted' });
  await patiently(Promise.all(crowd));
  expect(requests.map(({ url }) => String(url))).not.toContain('https://host/base/v1/left');
});

test('ApiEndpoint.call() fails calls that wait for some seconds, except routine ones', async () => {
  const { call, patiently, clock, requests } = anEndpoint((_, count) => ({
    status: count === 0 || count === 2 ? 429 : 200,
  }));
  await errorOf(call());
  await patiently(call({ ...read, routine: true }));
  clock.advance(1_000);
  await errorOf(call());
  const askedAt = clock.monotonic();
  const { signal } = new AbortController();
  const crowd = Array.from({ length: 90 }, (_, index) =>
    call(write, index % 2 === 0 ? {} : { signal }).then(
      () => undefined,
      (error: ApiError) => error,
    ),
  );
  const routine = call({ ...read, routine: true }, { signal });
  const errors = (await patiently(Promise.all(crowd))).filter((error) => error !== undefined);
  expect(clock.monotonic() - askedAt).toBeLessThanOrEqual(5_100);
  expect(errors.length).toBeGreaterThan(20);
  for (const error of errors) {
    expect(error).toMatchObject({ kind: 'throttled', status: undefined, effectUnknown: false });
    expect(error.message).toContain('there are more requests than the other side allows');
    expect(error.message).toMatch(/429 \(too many requests\) since 2023-11-14T22:13:20Z$/);
  }
  await patiently(routine);
  expect(requests.length).toBeLessThan(70);
});

test('ApiEndpoint.call() lets a routine call wait for others only once such a call has succeeded', async () => {
  const { call, patiently, requests } = anEndpoint((_, count) => ({ status: count === 1 ? 429 : 200 }));
  const known: Operation = { ...read, routine: true };
  const unknown: Operation = { ...known, name: 'list', path: ['v1', 'unknown'] };
  await call(known);
  await errorOf(call());
  const order = async () => {
    const before = requests.length;
    const crowd = [...Array.from({ length: 9 }, () => call(known)), call(unknown)];
    await new Promise((resolve) => setImmediate(resolve));
    await patiently(Promise.all(crowd));
    return requests.slice(before).findIndex(({ url }) => String(url).endsWith('/unknown'));
  };
  // The first turn after a 429 is for a routine call.
  expect(await order()).toBe(1);
  expect(await order()).toBe(9);
});

const following: Operation = { ...write, follows: true };

test('ApiEndpoint.call() sends a call that follows a look at once, and counts it', async () => {
  const { call, patiently, clock, requests } = anEndpoint((_, count) => ({ status: count === 0 ? 429 : 200 }));
  await errorOf(call());
  const askedAt = clock.monotonic();
  for (let count = 0; count < 5; count++) await call(following);
  expect([requests.length, clock.monotonic()]).toEqual([6, askedAt]);
  // The first limit is 25 a second, and five were already sent.
  await patiently(call());
  expect(clock.monotonic() - askedAt).toBeGreaterThanOrEqual(200);
});

test('ApiEndpoint.call() does not send a call that follows a look from more than a second ago', async () => {
  const { call, requests } = anEndpoint((_, count) =>
    count === 0 ? { status: 429, headers: { 'retry-after': '2' } } : { status: 200 },
  );
  await errorOf(call());
  expect(await errorOf(call(following))).toMatchObject({ kind: 'throttled', effectUnknown: false });
  expect(requests).toHaveLength(1);
});

test('ApiEndpoint.call() does not send a call that follows a look if its turn comes too late', async () => {
  const { call, patiently, requests } = anEndpoint(() => ({ status: 200 }));
  for (let count = 0; count < 100; count++) await call();
  const before = [call(), call()];
  const late = errorOf(call(following));
  expect(await patiently(late)).toMatchObject({ kind: 'throttled', status: undefined, effectUnknown: false });
  await patiently(Promise.all(before));
  expect(requests).toHaveLength(102);
});

test('ApiEndpoint.call() reports that the other side is back, even if its first answer is a refusal', async () => {
  let told = 0;
  const { call, clock } = anEndpoint(
    (_, count) => ({ status: count < 5 ? 500 : 404 }),
    undefined,
    () => {
      told++;
    },
  );
  for (let count = 0; count < 5; count++) await errorOf(call(write));
  clock.advance(60_000);
  expect([(await errorOf(call(write))).status, told]).toEqual([404, 1]);
});

test('ApiEndpoint.turn() waits for the turn of a following call, and counts it once', async () => {
  const { endpoint, call, patiently, clock, requests } = anEndpoint((_, count) => ({
    status: count === 0 ? 429 : 200,
  }));
  await errorOf(call());
  const askedAt = clock.monotonic();
  const turn = await patiently(endpoint.turn(following));
  const turnAt = clock.monotonic();
  expect(turnAt - askedAt).toBeGreaterThanOrEqual(40);
  await call(following, { turn });
  expect([requests.length, clock.monotonic()]).toEqual([2, turnAt]);
  await patiently(call());
  expect(clock.monotonic() - turnAt).toBeLessThanOrEqual(100);
});

test('ApiEndpoint.turn() gives a turn for one call: unused turns count, and so do further calls with the same turn', async () => {
  const { endpoint, call, patiently, clock } = anEndpoint((_, count) => ({ status: count === 0 ? 429 : 200 }));
  await errorOf(call());
  for (let count = 0; count < 5; count++) await patiently(endpoint.turn(following));
  const turn = await patiently(endpoint.turn(following));
  const turnAt = clock.monotonic();
  for (let count = 0; count < 6; count++) await call(following, { turn });
  await patiently(call());
  expect(clock.monotonic() - turnAt).toBeGreaterThanOrEqual(200);
});

test('ApiEndpoint.call() reads Retry-After only from a 503, not from other failures', async () => {
  const headers = { 'retry-after': '7' };
  expect((await errorOf(anEndpoint(() => ({ status: 503, headers })).call())).retryAfterMs).toBe(7_000);
  expect((await errorOf(anEndpoint(() => ({ status: 500, headers })).call())).retryAfterMs).toBeUndefined();
});
