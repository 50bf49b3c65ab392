import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { anEndpoint, errorOf, read, write } from '../../test/support/endpoint.ts';
import { HttpError, withheld } from '../base/transport.ts';
import { readTextAnswer } from './answer.ts';

test.each([
  [400, 'invalid'],
  [401, 'unauthorized'],
  [402, 'invalid'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [405, 'invalid'],
  [408, 'unavailable'],
  [409, 'conflict'],
  [418, 'invalid'],
  [421, 'unavailable'],
  [422, 'invalid'],
  [429, 'throttled'],
  [500, 'unavailable'],
  [501, 'unavailable'],
  [503, 'unavailable'],
  [599, 'unavailable'],
  [301, 'badAnswer'],
  [307, 'badAnswer'],
  [304, 'badAnswer'],
  [600, 'badAnswer'],
  [199, 'badAnswer'],
] as const)('ApiEndpoint.call() treats status %d as %s', async (status, kind) => {
  const { call, transport } = anEndpoint(() => ({ status, body: { code: 'C', message: 'm' } }));
  const error = await errorOf(call());
  expect(error).toMatchObject({ kind, status, code: 'C', serverMessage: 'm', operation: 'get', api: 'cloud' });
  expect(transport.released()).toBe(1);
});

test.each([200, 201, 204, 206, 299])('ApiEndpoint.call() treats status %d as success', async (status) => {
  const { call, transport } = anEndpoint(() => ({ status }));
  await call();
  expect(transport.released()).toBe(1);
});

test('ApiEndpoint.call() lets an operation give a status another meaning, with its own message', async () => {
  const { call } = anEndpoint(() => ({ status: 400 }));
  const error = await errorOf(
    call({ ...read, kinds: { 400: 'unauthorized' }, words: { unauthorized: 'wrong login' } }),
  );
  expect(error.message).toBe('Cannot get x: wrong login (HTTP 400)');
});

test.each([
  [true, / \(self-signed certificate; if it should be trusted, its CA belongs in caBundle of the DatabaseSpace\)$/],
  [false, / \(self-signed certificate\)$/],
])('ApiEndpoint.call() says what to do if a certificate is not trusted: %s', async (isUntrusted, words) => {
  const { call } = anEndpoint(() => new HttpError('unreachable', 'self-signed certificate', { isUntrusted }));
  expect((await errorOf(call())).message).toMatch(words);
});

test('ApiEndpoint.call() does not say of a look that it may have taken effect', async () => {
  const { call } = anEndpoint(() => new HttpError('lost', 'reset'));
  expect((await errorOf(call(read))).message).toMatch(/^Cannot get x: no complete answer came \(reset\)$/);
});

test('ApiEndpoint.call() sends its request only to its own host', async () => {
  const { call, requests } = anEndpoint(() => ({ status: 200 }));
  await call(write, { headers: { authorization: 'Bearer t' }, body: '{"a":1}', timeouts: { totalMs: 5 } });
  expect(requests).toEqual([
    {
      method: 'POST',
      url: 'https://host/base/v1/x',
      headers: {
        accept: 'application/json, text/plain',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        authorization: 'Bearer t',
      },
      body: '{"a":1}',
      timeouts: { totalMs: 5 },
    },
  ]);
});

test('ApiEndpoint.call() reports redirects instead of following them', async () => {
  const { call, requests } = anEndpoint(() => ({ status: 302, headers: { location: 'https://evil/' } }));
  expect((await errorOf(call())).message).toContain('redirect');
  expect(requests).toHaveLength(1);
});

test.each([
  ['https://other:8443/login?secret=canary', ' (HTTP 301, to https://other:8443)'],
  ['https://me:canary@other/', ' (HTTP 301, to https://other)'],
  // The way out of it is the address, not the path.
  ['/v2/x', ' (HTTP 301)'],
  ['https://host/base', ' (HTTP 301)'],
  ['http://', ' (HTTP 301)'],
  ['mailto:canary', ' (HTTP 301)'],
  [undefined, ' (HTTP 301)'],
])('ApiEndpoint.call() says to which other origin the address redirects: %j', async (location, where) => {
  const { call } = anEndpoint(() => ({ status: 301, headers: location === undefined ? {} : { location } }));
  const { message } = await errorOf(call());
  expect(message).toBe(`Cannot get x: the address redirects, which is not followed${where}`);
});

test.each(['..', '', 'a/b', '%2e%2e'])('ApiEndpoint.call() does not send a path with %j', async (name) => {
  const { call, requests } = anEndpoint(() => ({ status: 200 }));
  const error = await errorOf(call({ ...read, path: ['v1', name] }));
  expect(error).toMatchObject({ kind: 'invalid', status: undefined });
  expect(requests).toHaveLength(0);
});

test('ApiEndpoint.call() does not send to an invalid address', async () => {
  const { call, requests } = anEndpoint(() => ({ status: 200 }), 'host');
  expect((await errorOf(call())).message).toBe('Cannot get x: not sent, because the base URL is not a URL');
  expect(requests).toHaveLength(0);
});

test('ApiEndpoint.call() does not send headers that would be split, and does not show them', async () => {
  const { call, requests } = anEndpoint(() => ({ status: 200 }));
  const error = await errorOf(call(read, { headers: { authorization: 'Bearer canary\r\nx: y' } }));
  expect(error.kind).toBe('invalid');
  expect(error.message).not.toContain('canary');
  expect(requests).toHaveLength(0);
});

test.each([
  ['unreachable', 'unreachable'],
  ['lost', 'lost'],
  ['aborted', 'aborted'],
  ['tooLarge', 'badAnswer'],
] as const)('ApiEndpoint.call() passes %s of the transport on as %s', async (thrown, kind) => {
  const { call, records } = anEndpoint(() => new HttpError(thrown, 'connect ECONNREFUSED'));
  const error = await errorOf(call(write));
  expect(error).toMatchObject({ kind, status: undefined, serverMessage: undefined });
  expect(error.message).toContain('ECONNREFUSED');
  expect(records).toMatchObject([{ operation: 'put', code: thrown }]);
});

test('ApiEndpoint.call() treats anything else that the transport throws as a lost call', async () => {
  const { call } = anEndpoint(() => new TypeError('odd'));
  expect(await errorOf(call(write))).toMatchObject({ kind: 'lost' });
});

test('ApiEndpoint.call() distinguishes a body that breaks off from one that makes no sense', async () => {
  const { call } = anEndpoint(() => ({ status: 200, body: '{"a', breaks: new HttpError('lost', 'reset') }));
  expect(await errorOf(call(write))).toMatchObject({ kind: 'lost', status: 200, effectUnknown: true });
  const other = anEndpoint(() => ({ status: 200, chunks: [Buffer.from([0xff])] }));
  expect(await errorOf(other.call(write, {}, readTextAnswer))).toMatchObject({ kind: 'badAnswer', status: 200 });
});

test('ApiEndpoint.call() keeps the status of a failure whose body breaks off', async () => {
  const { call } = anEndpoint(() => ({ status: 500, body: '{"a', breaks: new HttpError('lost', 'reset') }));
  expect(await errorOf(call())).toMatchObject({ kind: 'unavailable', status: 500 });
});

test('ApiEndpoint.call() repeats a GET once if its connection broke at once', async () => {
  const { call, requests, records } = anEndpoint((_, count) =>
    count === 0 ? new HttpError('lost', 'reset') : { status: 200 },
  );
  await call();
  expect(requests).toHaveLength(2);
  expect(records.map((record) => record.code)).toEqual(['lost', '200']);
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('ApiEndpoint.call() never repeats a %s', async (method) => {
  const { call, requests } = anEndpoint(() => new HttpError('lost', 'reset'));
  await errorOf(call({ ...read, method }));
  expect(requests).toHaveLength(1);
});

test('ApiEndpoint.call() does not repeat a GET that ran out of time, broke twice, or never left', async () => {
  const slow = anEndpoint(() => {
    slow.clock.advance(20_000);
    return new HttpError('lost', 'timeout');
  });
  await errorOf(slow.call());
  expect(slow.requests).toHaveLength(1);
  const twice = anEndpoint(() => new HttpError('lost', 'reset'));
  await errorOf(twice.call());
  expect(twice.requests).toHaveLength(2);
  const unreachable = anEndpoint(() => new HttpError('unreachable', 'refused'));
  await errorOf(unreachable.call());
  expect(unreachable.requests).toHaveLength(1);
});

test('ApiEndpoint.call() does not repeat a GET whose answer had begun', async () => {
  const { call, requests } = anEndpoint(() => ({ status: 200, breaks: new HttpError('lost', 'reset') }));
  await errorOf(call());
  expect(requests).toHaveLength(1);
});

test('ApiEndpoint.call() does nothing if its signal has already aborted', async () => {
  const { call, requests } = anEndpoint(() => ({ status: 200 }));
  expect(await errorOf(call(read, { signal: AbortSignal.abort() }))).toMatchObject({ kind: 'aborted' });
  expect(requests).toHaveLength(0);
});

test('ApiEndpoint.call() repeats one of several GETs whose connections broke together, and all if that one is answered', async () => {
  const down = anEndpoint(() => new HttpError('lost', 'reset'));
  await Promise.all(Array.from({ length: 8 }, () => errorOf(down.call())));
  expect(down.requests).toHaveLength(9);
  const stale = anEndpoint((_, count) => (count < 8 ? new HttpError('lost', 'reset') : { status: 200 }));
  await Promise.all(Array.from({ length: 8 }, () => stale.call()));
  expect(stale.requests).toHaveLength(16);
});

test('ApiEndpoint.call() fails at once while the other side is down, and says since when and why', async () => {
  const { call, clock, requests } = anEndpoint(() => ({ status: 500 }));
  for (let count = 0; count < 5; count++) await errorOf(call(write));
  clock.advance(12_000);
  const error = await errorOf(call(write));
  expect(error.message).toBe(
    'Cannot put x: not tried, because calls have failed since 2023-11-14T22:13:20.000Z; the last: HTTP 500',
  );
  expect(error).toMatchObject({ kind: 'unavailable', status: undefined, retryAfterMs: 18_000, effectUnknown: false });
  expect(requests).toHaveLength(5);
});

test('ApiEndpoint.call() does not hold the other side for down because of calls that were not sent', async () => {
  let mayAct = false;
  const { call } = anEndpoint(() => (mayAct ? { status: 200 } : withheld('another process may lead by now')));
  for (let count = 0; count < 9; count++) expect((await errorOf(call(write))).isWithheld).toBe(true);
  mayAct = true;
  await call(write);
});

test('ApiEndpoint.call() goes on with operations that the other side does not fail at', async () => {
  const { call, requests } = anEndpoint(({ method }) => ({ status: method === 'GET' ? 200 : 500 }));
  for (let count = 0; count < 5; count++) await errorOf(call(write));
  await call();
  await call();
  expect((await errorOf(call(write))).message).toContain('not tried');
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'POST', 'POST', 'GET', 'GET']);
});

test("ApiEndpoint.call() does not say that a call may have taken effect because another caller's was lost", async () => {
  const { call } = anEndpoint(() => new HttpError('lost', 'reset'));
  for (let count = 0; count < 5; count++)
    expect((await errorOf(call(write))).message).toContain('no complete answer came, it may have taken effect');
  expect((await errorOf(call(write))).message).toMatch(/; the last: no complete answer came \(.*reset\)$/);
});

test('ApiEndpoint.call() does not reveal the failed requests of others', async () => {
  const { call } = anEndpoint(() => new HttpError('unreachable', 'Connection refused'));
  for (let count = 0; count < 5; count++) await errorOf(call({ ...read, phrase: 'get secret-project' }));
  expect((await errorOf(call())).message).toMatch(/^Cannot get x: not tried, .*; the last: .*Connection refused/);
  expect((await errorOf(call())).message).not.toContain('secret-project');
});

test('ApiEndpoint.call() probes once in 30 s, even for a GET with one request, and goes on at its rate after a success', async () => {
  let up = false;
  const { call, clock, requests } = anEndpoint(() => (up ? { status: 200 } : new HttpError('lost', 'reset')));
  for (let count = 0; count < 5; count++) await errorOf(call(write));
  clock.advance(30_000);
  await Promise.all([errorOf(call()), errorOf(call()), errorOf(call())]);
  expect(requests).toHaveLength(6);
  up = true;
  clock.advance(35_000);
  await call();
  const next = call();
  await new Promise((resolve) => setImmediate(resolve));
  expect(requests).toHaveLength(7);
  clock.advance(1_000);
  await next;
  expect(requests).toHaveLength(8);
});

test.each([
  ['a 4xx', 20, () => ({ status: 400 })],
  ['a 429', 20, () => ({ status: 429 })],
  ['an abort', 20, () => new HttpError('aborted', 'x')],
  ['an answer that makes no sense', 20, () => ({ status: 302 })],
  ['a 5xx', 5, () => ({ status: 503 })],
  ['a refused connection', 5, () => new HttpError('unreachable', 'x')],
] as const)('ApiEndpoint.call() that ends in %s 20 times is sent %d times', async (_, sent, answer) => {
  const { call, patiently, requests } = anEndpoint(answer);
  for (let count = 0; count < 20; count++) await errorOf(patiently(call(write)));
  expect(requests).toHaveLength(sent);
});

test('ApiEndpoint.call() does not treat slow operations that time out as an outage', async () => {
  const { call, requests } = anEndpoint(() => new HttpError('lost', 'timeout'));
  for (let count = 0; count < 20; count++) await errorOf(call({ ...write, slow: true }));
  expect(requests).toHaveLength(20);
});

test('ApiEndpoint.call() shows none of the secrets of its request, whatever the server echoes', async () => {
  const secrets = ['canary-secret-1', 'canary-secret-2'];
  const { call } = anEndpoint(() => ({ status: 500, body: { code: secrets[0], message: `got ${secrets[1]}` } }));
  const error = await errorOf(call(read, { secrets }));
  expect(JSON.stringify({ ...error, message: error.message })).not.toContain('canary');
});

test('ApiEndpoint.call() says where the primary of several machines is', async () => {
  const { call } = anEndpoint(() => ({ status: 421, body: { message: 'not here', primaryAddress: 'b.example:8000' } }));
  expect((await errorOf(call())).message).toContain('not here; primary: b.example:8000');
});

test('ApiEndpoint.call() asks for uncompressed answers, and says what is wrong with one that is compressed', async () => {
  const headers = { 'content-encoding': 'GZIP' };
  const packed = gzipSync('{"code":"A","message":"no"}');
  for (const status of [200, 400]) {
    const { call, requests } = anEndpoint(() => ({ status, headers, chunks: [packed] }));
    const error = await errorOf(call(read, {}, readTextAnswer));
    expect(error.message).toContain('the answer is gzip-encoded, though identity was asked for');
    expect(error.message).not.toMatch(/UTF-8|\ufffd/);
    expect(error.kind).toBe(status === 200 ? 'badAnswer' : 'invalid');
    expect(requests[0]?.headers?.['accept-encoding']).toBe('identity');
  }
  const odd = anEndpoint(() => ({ status: 200, headers: { 'content-encoding': 'x\u0007y' }, chunks: [packed] }));
  expect((await errorOf(odd.call(read, {}, readTextAnswer))).message).toContain('the answer is encoded, though');
  // What is readable is read, and an answer that should be empty is not missed.
  const plain = anEndpoint(() => ({ status: 200, headers, body: 'x' }));
  expect(await plain.call(read, {}, readTextAnswer)).toBe('x');
  await anEndpoint(() => ({ status: 200, headers, chunks: [packed] })).call();
});

test('ApiEndpoint.call() shows nothing of what was sent with other requests', async () => {
  let body: unknown = {};
  const { call } = anEndpoint(() => ({ status: 500, body }));
  await errorOf(call(write, { secrets: ['canary-of-another'] }));
  body = { code: 'canary-of-another', message: 'lately: canary-of-another and canary-of-this' };
  const error = await errorOf(call(read, { secrets: ['canary-of-this'] }));
  expect(error.message).toBe(
    'Cannot get x: the other side failed (HTTP 500, [redacted]: lately: [redacted] and [redacted])',
  );
});

test('ApiEndpoint.call() does not reveal by its redaction whether a guess at a secret is right', async () => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl';
  // As servers do for a query that they cannot parse.
  const { call } = anEndpoint(({ body = '' }) => ({
    status: 400,
    body: { code: 'SYNTAX', message: `near ${JSON.parse(body).query}` },
  }));
  const told = async (guess: string) => {
    const body = JSON.stringify({ query: guess });
    const headers = { authorization: `Bearer ${token}` };
    return (await errorOf(call(write, { headers, body, secrets: [token] }))).serverMessage;
  };
  const known = token.slice(0, 30);
  for (const guess of [`${known}${token[30]}`, `${known}#`]) expect(await told(guess)).toBe(`near ${guess}`);
});

test('ApiEndpoint.call() redacts a secret of the body, and one that the other side knows more of', async () => {
  const [token, password] = ['eyJhbGciOiJIUzI1NiJ9.c2lnbmF0dXJl', 'a-pass"word-of-theirs'];
  const message = `refused: ${token} with ${password}`;
  const { call } = anEndpoint(() => ({ status: 400, body: { message } }));
  const body = JSON.stringify({ password, query: token.slice(0, 12) });
  const error = await errorOf(call(write, { body, secrets: [token, password] }));
  expect(error.serverMessage).toBe('refused: eyJhb[redacted] with [redacted]');
});
