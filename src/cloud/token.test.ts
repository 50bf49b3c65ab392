import { expect, test } from 'vitest';
import { manualClock, noChance } from '../../test/support/clock.ts';
import { type Script, scriptedTransport } from '../../test/support/http.ts';
import { HttpError } from '../base/transport.ts';
import { ApiEndpoint } from '../http/api-endpoint.ts';
import { ApiError, type ApiErrorKind } from '../http/api-error.ts';
import { type CloudCredential, isRefusedExchange, TokenSource } from './token.ts';

const credential: CloudCredential = { level: 'write', clientID: 'client', clientSecret: 'canary-client-secret' };

function aSource(script: Script = (_, count) => ({ status: 200, body: `token-${count}` }), changes = {}) {
  const clock = manualClock();
  const transport = scriptedTransport(script);
  const endpoint = new ApiEndpoint({
    api: 'cloud',
    baseURL: 'https://cloud.example.com',
    transport,
    clock,
    random: noChance,
    rateLimit: { ratePerSecond: 100, burst: 100 },
  });
  const tokens = new TokenSource({ ...credential, ...changes }, clock);
  const source = {
    get: (signal?: AbortSignal) => tokens.get(endpoint, signal),
    drop: (value: string) => tokens.drop(value),
    forgetRefusal: (ageMs?: number) => tokens.forgetRefusal(ageMs),
  };
  return { source, tokens, clock, requests: transport.requests };
}

function aJwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.signature`;
}

test('TokenSource.get() sends the client id and secret as they are', async () => {
  const { source, requests } = aSource();
  expect(await source.get()).toBe('token-0');
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    method: 'POST',
    url: 'https://cloud.example.com/api/v1/auth',
    headers: { authorization: 'Basic client:canary-client-secret' },
  });
  expect(requests[0]?.body).toBeUndefined();
});

test.each([
  ['abc.def', 'abc.def'],
  ['  abc\n', 'abc'],
  ['"abc"', 'abc'],
  ['"abc"\n', 'abc'],
  // As PHP writes a slash.
  ['"ab\\/c=="', 'ab/c=='],
])('TokenSource.get() reads the token from %j', async (body, token) => {
  expect(await aSource(() => ({ status: 200, body })).source.get()).toBe(token);
});

test('TokenSource.get() reads a token that is labelled text/html, as Express labels every string', async () => {
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  expect(await aSource(() => ({ status: 200, body: 'abc.def', headers })).source.get()).toBe('abc.def');
});

test.each([
  '',
  ' ',
  '""',
  '"a',
  '"a"b"',
  '"a\\nb"',
  '{"token":"canary"}',
  '["canary"]',
  '<html>',
  'two words',
  'a\nb',
  'größe',
  'x'.repeat(20_000),
])('TokenSource.get() refuses %j as a token, without showing it', async (body) => {
  const error = aSource(() => ({ status: 200, body })).source.get();
  await expect(error).rejects.toMatchObject({ name: 'ApiError', kind: 'badAnswer', operation: 'authenticate' });
  await expect(error).rejects.not.toThrow('canary');
});

test('TokenSource.get() makes one exchange for everybody who asks at once, and none while it holds a token', async () => {
  const { source, requests } = aSource();
  expect(new Set(await Promise.all(Array.from({ length: 50 }, () => source.get())))).toEqual(new Set(['token-0']));
  await source.get();
  expect(requests).toHaveLength(1);
});

test('TokenSource.drop() forgets the refused token only, so that late refusals cost no exchange', async () => {
  const { source, requests } = aSource();
  await source.get();
  source.drop('token-0');
  expect(await source.get()).toBe('token-1');
  source.drop('token-0');
  expect(await source.get()).toBe('token-1');
  expect(requests).toHaveLength(2);
});

test.each([
  ['a minute before the end of an hour', { lifetimeS: 3600 }, 3_540_000],
  ['a fifth before the end of a short life', { lifetimeS: 100 }, 80_000],
])('TokenSource.get() renews %s', async (_, { lifetimeS }, renewedAtMs) => {
  // The cloud's clock is years ahead of ours: only the lifetime counts.
  const iat = 4_000_000_000;
  const { source, clock, requests } = aSource(() => ({ status: 200, body: aJwt({ iat, exp: iat + lifetimeS }) }));
  await source.get();
  clock.advance(renewedAtMs - 1);
  await source.get();
  expect(requests).toHaveLength(1);
  clock.advance(1);
  await source.get();
  expect(requests).toHaveLength(2);
});

test('TokenSource.get() counts from its own clock if the token does not say when it began', async () => {
  const holder: { nowS: number } = { nowS: 0 };
  const { source, clock, requests } = aSource(() => ({ status: 200, body: aJwt({ exp: holder.nowS + 3600 }) }));
  holder.nowS = clock.now() / 1000;
  await source.get();
  clock.advance(3_540_000);
  await source.get();
  expect(requests).toHaveLength(2);
});

/** A source with a token of an hour that was given at the start; a minute before its end it asks for another. */
async function aSourceAtRenewal(script: Script) {
  const iat = 4_000_000_000;
  const first = aJwt({ iat, exp: iat + 3600 });
  const all = aSource((request, count) => (count === 0 ? { status: 200, body: first } : script(request, count)));
  await all.source.get();
  all.clock.advance(3_540_000);
  return { ...all, first };
}

test.each([
  ['a failure', { status: 503 }],
  ['a limit', { status: 429 }],
  ['nonsense', { status: 200, body: '{}' }],
  ['silence', new HttpError('lost', 'x')],
])(
  'TokenSource.get() goes on with its token when a renewal meets %s, and tries again ten seconds later',
  async (_, answer) => {
    const { source, clock, requests, first } = await aSourceAtRenewal((_request, count) =>
      count === 1 ? answer : { status: 200, body: 'token' },
    );
    expect(await Promise.all([source.get(), source.get()])).toEqual([first, first]);
    clock.advance(9_999);
    expect(await source.get()).toBe(first);
    expect(requests).toHaveLength(2);
    clock.advance(1);
    expect(await source.get()).toBe('token');
  },
);

test('TokenSource.get() fails when a renewal fails and its token was refused meanwhile', async () => {
  const { source, first } = await aSourceAtRenewal(() => ({ status: 503 }));
  expect(await source.get()).toBe(first);
  source.drop(first);
  await expect(source.get()).rejects.toMatchObject({ kind: 'unavailable' });
});

test('TokenSource.get() does not go on with its token when the API token is refused, or its caller gives up', async () => {
  const refused = await aSourceAtRenewal(() => ({ status: 401 }));
  await expect(refused.source.get()).rejects.toMatchObject({ kind: 'unauthorized' });
  const given = await aSourceAtRenewal(() => new Promise(() => {}));
  const controller = new AbortController();
  const leaver = given.source.get(controller.signal);
  controller.abort();
  await expect(leaver).rejects.toMatchObject({ kind: 'aborted' });
});

test.each(['a.b.c', 'a.e30.c', aJwt({ exp: 'soon' }), aJwt({ exp: 1 }), 'opaque', `a.${'%'.repeat(10)}.c`])(
  'TokenSource.get() keeps %s until it is refused',
  async (body) => {
    const { source, clock, requests } = aSource(() => ({ status: 200, body }));
    await source.get();
    clock.advance(365 * 86_400_000);
    await source.get();
    expect(requests).toHaveLength(1);
  },
);

test.each([
  [400, 'unauthorized', 240_000],
  [401, 'unauthorized', 240_000],
  [403, 'forbidden', 240_000],
  [404, 'badAnswer', 500],
  [405, 'badAnswer', 500],
  [500, 'unavailable', 0],
] as const)(
  'TokenSource.get() treats status %d of an exchange as %s and tries again after %d ms',
  async (status, kind, afterMs) => {
    const body = { code: 'X', message: 'bad canary-client-secret' };
    const { source, clock, requests } = aSource((_, count) =>
      count === 0 ? { status, body } : { status: 200, body: 'token' },
    );
    const error = source.get();
    await expect(error).rejects.toMatchObject({ kind, status, operation: 'authenticate' });
    await expect(error).rejects.not.toThrow('canary');
    if (afterMs > 0) {
      clock.advance(afterMs - 1);
      await expect(source.get()).rejects.toMatchObject({ kind, status });
      expect(requests).toHaveLength(1);
      clock.advance(1);
    }
    expect(await source.get()).toBe('token');
  },
);

test('TokenSource.get() tries a credential that worked before a minute after a refusal, then less and less often', async () => {
  const { source, clock, requests } = aSource((_, count) =>
    [1, 2, 3, 4, 6].includes(count) ? { status: 400 } : { status: 200, body: `token-${count}` },
  );
  await source.get();
  source.drop('token-0');
  const triedAfterS: number[] = [];
  for (let second = 0; second <= 660; second += 10) {
    const before = requests.length;
    // However many ask, it is refused once.
    await Promise.allSettled([source.get(), source.get()]);
    if (requests.length > before) triedAfterS.push(second);
    clock.advance(10_000);
  }
  expect(triedAfterS).toEqual([0, 60, 180, 420, 660]);
  source.drop('token-5');
  await expect(source.get()).rejects.toMatchObject({ kind: 'unauthorized' });
  clock.advance(60_000);
  expect(await source.get()).toBe('token-7');
});

test.each([
  [400, 'the client id or the client secret was refused'],
  [401, 'the client id or the client secret was refused'],
  [403, 'the client id or the client secret was refused'],
  [404, 'there is no such API at this address'],
])('TokenSource.get() says after status %d of an exchange that %s', async (status, words) => {
  await expect(aSource(() => ({ status })).source.get()).rejects.toThrow(`${words} (HTTP ${status})`);
});

test('TokenSource.get() tries a refused credential at once when the refusal should be forgotten', async () => {
  const { source } = aSource((_, count) => (count === 0 ? { status: 401 } : { status: 200, body: 'token' }));
  await expect(source.get()).rejects.toMatchObject({ kind: 'unauthorized' });
  source.forgetRefusal();
  expect(await source.get()).toBe('token');
});

test('TokenSource.get() tries a refused credential when the refusal is as old as it should be to be forgotten', async () => {
  const { source, clock } = aSource((_, count) => (count === 0 ? { status: 401 } : { status: 200, body: 'token' }));
  await expect(source.get()).rejects.toMatchObject({ kind: 'unauthorized' });
  source.forgetRefusal(10_000);
  await clock.advance(9_999);
  await expect(source.get()).rejects.toMatchObject({ kind: 'unauthorized' });
  await clock.advance(1);
  expect(await source.get()).toBe('token');
});

test.each([
  ['client id is empty', { clientID: '' }],
  ['client secret is empty', { clientSecret: '' }],
  [
    'client secret holds a line break, a space or another character that cannot be sent, such as the line break that `echo` writes at the end',
    { clientSecret: 'canary\n' },
  ],
  ['client secret holds a line break', { clientSecret: 'canary\r\nx-admin: 1' }],
  ['client id holds', { clientID: 'canary b' }],
  ['client secret holds', { clientSecret: 'canäry' }],
])('TokenSource.get() sends nothing if the %s', async (words, changes) => {
  const { source, requests } = aSource(undefined, changes);
  await expect(source.get()).rejects.toMatchObject({ kind: 'unauthorized', status: undefined });
  await expect(source.get()).rejects.toThrow(words);
  await expect(source.get()).rejects.not.toThrow('canary');
  expect(requests).toHaveLength(0);
});

test('TokenSource.get() ends for the caller who gives up, not for the others', async () => {
  let answer: (() => void) | undefined;
  const { source, requests } = aSource(
    () =>
      new Promise((resolve) => {
        answer = () => resolve({ status: 200, body: 'token' });
      }),
  );
  const controller = new AbortController();
  const leaver = source.get(controller.signal);
  const stayer = source.get();
  controller.abort();
  await expect(leaver).rejects.toMatchObject({
    name: 'ApiError',
    api: 'cloud',
    operation: 'authenticate',
    kind: 'aborted',
  });
  answer?.();
  expect(await stayer).toBe('token');
  expect(requests).toHaveLength(1);
});

test('TokenSource.get() aborts the exchange when all callers have given up', async () => {
  const { source, requests } = aSource(
    (request) =>
      new Promise((resolve) => {
        request.signal?.addEventListener('abort', () => resolve(new HttpError('aborted', 'x')));
      }),
  );
  const controller = new AbortController();
  const leaver = source.get(controller.signal);
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await expect(leaver).rejects.toMatchObject({ kind: 'aborted' });
  expect(requests[0]?.signal?.aborted).toBe(true);
});

test('TokenSource.isOf() compares both parts of its credential', () => {
  const { tokens } = aSource();
  const others = [{}, { level: 'read' as const }, { clientID: 'other' }, { clientSecret: 'other' }];
  expect(others.map((other) => tokens.isOf({ ...credential, ...other }))).toEqual([true, true, false, false]);
});

test('TokenSource.get() names all levels that its credential serves', async () => {
  const { source, tokens, clock } = aSource(() => ({ status: 401 }));
  await expect(source.get()).rejects.toThrow('Cannot exchange the API token of level write: ');
  tokens.serve('read');
  clock.advance(240_000);
  await expect(source.get()).rejects.toThrow('of level write and read: ');
  tokens.serve('admin');
  clock.advance(240_000);
  await expect(source.get()).rejects.toThrow('of level write, read and admin: ');
});

test('TokenSource.wasRefusedAtOnce() counts a refusal as temporary until two minutes after a credential last worked', () => {
  const { tokens, clock } = aSource();
  expect(tokens.wasRefusedAtOnce()).toBe(true);
  clock.advance(60_000);
  expect(tokens.wasRefusedAtOnce()).toBe(true);
  clock.advance(59_999);
  expect(tokens.wasRefusedAtOnce()).toBe(true);
  clock.advance(1);
  expect(tokens.wasRefusedAtOnce()).toBe(false);
  tokens.worked();
  expect(tokens.wasRefusedAtOnce()).toBe(true);
});

test.each([
  [400, true],
  [403, true],
  [404, false],
  [500, false],
])('TokenSource.refusal is set after status %d of an exchange: %s', async (status, isRefusal) => {
  const { source, tokens } = aSource(() => ({ status }));
  expect(tokens.refusal).toBeUndefined();
  const error = await source.get().catch((thrown: unknown) => thrown);
  expect(tokens.refusal).toBe(isRefusal ? error : undefined);
  source.forgetRefusal();
  expect(tokens.refusal).toBeUndefined();
});

test('isRefusedExchange() is true only for exchanges, and for answers that say so', () => {
  const error = (operation: string, kind: ApiErrorKind) =>
    new ApiError({ api: 'cloud', operation, phrase: 'do it', idempotent: true, kind, what: 'It failed' });
  const kinds = ['unauthorized', 'invalid', 'forbidden', 'lost', 'throttled'] as const;
  expect(kinds.map((kind) => isRefusedExchange(error('authenticate', kind)))).toEqual([true, true, true, false, false]);
  expect(isRefusedExchange(error('list', 'forbidden'))).toBe(false);
});

test('TokenSource.get() keeps a token whose claims are not an object, and accepts the longest possible one', async () => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const body of [`a.${part(null)}.c`, 'x'.repeat(16 * 1024)])
    expect(await aSource(() => ({ status: 200, body })).source.get()).toBe(body);
});
