import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { errorOf } from '../../test/support/cloud.ts';
import type { ScriptedAnswer } from '../../test/support/http.ts';
import { aServerClient } from '../../test/support/server.ts';
import { CASES, okAnswer, oneShot, PASSWORD, TOKEN } from '../../test/support/server-operations.ts';
import { HttpError, type HttpRequest } from '../base/transport.ts';
import { ApiError } from '../http/api-error.ts';
import type { ServerClient } from './client.ts';

const WITH_A_NAME = CASES.filter(({ path }) => path.includes('orders'));
const WITH_AN_ID = WITH_A_NAME.filter(({ path }) => path.includes('/transactions/'));
const WITH_AN_ANSWER = CASES.filter(({ answer }) => answer !== undefined);

test.each(CASES)('ServerClient.$name() sends what the document says and reads the answer', async (one) => {
  const { client, requests, transport } = aServerClient(() => ({ status: 200, body: one.answer }));
  expect(await one.run(client, 'orders')).toEqual(one.result);
  const [sent] = requests;
  expect(sent).toMatchObject({ method: one.method, url: `https://server.example.com:8443${one.path}` });
  expect(sent?.headers?.['authorization']).toBe(one.token === false ? undefined : `Bearer ${TOKEN}`);
  expect(sent?.body === undefined ? undefined : JSON.parse(sent.body)).toEqual(one.body);
  expect(transport.released()).toBe(1);
});

const STATUSES = [
  [400, 'invalid'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [405, 'invalid'],
  [408, 'unavailable'],
  [421, 'unavailable'],
  [429, 'throttled'],
  [500, 'unavailable'],
  [501, 'unavailable'],
  [503, 'unavailable'],
  [302, 'badAnswer'],
] as const;

test.each(CASES.flatMap((one) => STATUSES.map(([status, kind]) => ({ ...one, status, kind }))))(
  'ServerClient.$name() with status $status: $kind',
  async ({ name, run, missing, status, kind }) => {
    const body = { code: 'SOME_CODE', message: `no: ${TOKEN} ${PASSWORD}` };
    const { client } = aServerClient(() => ({ status, body }));
    if (status === 404 && missing !== undefined) {
      expect(await run(client, 'orders')).toBe(missing.value);
      return;
    }
    const error = await errorOf(run(client, 'orders'));
    expect(error).toMatchObject({ api: 'server', operation: name, status, kind, code: 'SOME_CODE' });
    // Requests without a token or a password have nothing to hide.
    if (name === 'signIn') expect(error.message).not.toContain(PASSWORD);
    else if (name !== 'version' && name !== 'health') expect(error.message).not.toContain(TOKEN);
    if (name === 'createUser' || name === 'updateUser') expect(error.message).not.toContain('canary');
  },
);

test.each(['', 'Not Found', '<html>'])('ServerClient accepts the error body %j of a router', async (body) => {
  const { client } = aServerClient(() => ({ status: 405, body }));
  expect(await errorOf(client.listUsers(TOKEN))).toMatchObject({ kind: 'invalid', status: 405, code: undefined });
});

const NONSENSE: readonly (readonly [string, Exclude<ScriptedAnswer, Error>])[] = [
  ['nothing', { status: 200 }],
  ['a web page', { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }],
  ['cut JSON', { status: 200, body: '{"databases":[{"na' }],
  ['a number', { status: 200, body: '1' }],
  ['a list', { status: 200, body: '[]' }],
  ['an empty object', { status: 200, body: '{}' }],
  ['a wrong shape', { status: 200, body: { token: 1, databases: 'x', users: [{ username: 7 }], answerType: 7 } }],
  ['invalid UTF-8', { status: 200, chunks: [Buffer.from([0x22, 0xff, 0x22])] }],
];

test.each(
  WITH_AN_ANSWER.filter(({ name }) => !name.endsWith('Schema')).flatMap((one) =>
    NONSENSE.map(([what, given]) => ({ ...one, what, given })),
  ),
)('ServerClient.$name() reports $what in place of an answer', async ({ name, run, given }) => {
  const error = await errorOf(run(aServerClient(() => given).client, 'orders'));
  expect(error).toMatchObject({ kind: 'badAnswer', status: 200, operation: name });
});

test.each(CASES.filter(({ answer }) => answer === undefined))(
  'ServerClient.$name() accepts any successful answer except a web page',
  async ({ run, result }) => {
    for (const answer of [{ status: 204 }, { status: 200, body: 'OK' }, { status: 201, body: '{"any":1}' }]) {
      expect(await run(aServerClient(() => answer).client, 'orders')).toBe(result);
    }
    const { client } = aServerClient(() => ({ status: 200, body: '<html>login' }));
    expect((await errorOf(run(client, 'orders'))).kind).toBe('badAnswer');
  },
);

test.each(CASES)('ServerClient.$name() is sent once when its answer is lost, unless it is a GET', async (one) => {
  const { client, requests } = aServerClient(() => new HttpError('lost', 'reset'));
  expect((await errorOf(one.run(client, 'orders'))).kind).toBe('lost');
  expect(requests).toHaveLength(one.method === 'GET' ? 2 : 1);
});

test.each(CASES)('ServerClient.$name() gives up if its caller does', async (one) => {
  const { client, requests } = aServerClient(() => ({ status: 200, body: one.answer }));
  expect((await errorOf(one.run(client, 'orders', AbortSignal.abort()))).kind).toBe('aborted');
  expect(requests).toHaveLength(0);
});

const NEVER_SENT = ['', '.', '..', '\ud800'];
const HOSTILE = ['../users', 'a/b', 'a%2Fb', '%2e%2e', 'a\\b', 'a\nb', 'a\u0000'];
const WITH_HOSTILE = WITH_A_NAME.flatMap((one) => {
  const names = WITH_AN_ID.includes(one) ? NEVER_SENT : [...NEVER_SENT, ...HOSTILE];
  return names.map((hostile) => ({ ...one, hostile }));
});

test.each(WITH_HOSTILE)('ServerClient.$name() sends nothing for the name $hostile', async ({ run, hostile }) => {
  const { client, requests } = aServerClient(() => ({ status: 200 }));
  expect(await errorOf(run(client, hostile))).toMatchObject({ kind: 'invalid', status: undefined });
  expect(requests).toHaveLength(0);
});

const IDS = ['q83v/EiRm+8=', 'a%2Fb', 'a/../b', '%2e%2e', 'a?b#c'];

test.each(WITH_AN_ID.flatMap((one) => IDS.map((id) => ({ ...one, id }))))(
  'ServerClient.$name() sends the id $id, which the server gave, as one segment',
  async ({ run, id, path, answer }) => {
    const { client, requests } = aServerClient(() => ({ status: 200, body: answer }));
    await run(client, id);
    const expected = path.split('/').map((part) => (part === 'orders' ? id : part));
    expect(requests.map(({ url }) => new URL(url).pathname.split('/').map(decodeURIComponent))).toEqual([expected]);
  },
);

test.each(NEVER_SENT)(
  'ServerClient.openTransaction() does not accept %j as an id, as it could not be sent',
  async (transactionId) => {
    const { client } = aServerClient(() => ({ status: 200, body: { transactionId } }));
    const error = await errorOf(client.openTransaction(TOKEN, { databaseName: 'a', transactionType: 'schema' }));
    expect(error).toMatchObject({ kind: 'badAnswer', status: 200 });
  },
);

test('ServerClient gives names in lists as Unicode composes them, however the server spells them', async () => {
  const { client } = aServerClient((request) =>
    request.url.endsWith('/v1/users')
      ? { status: 200, body: { users: [{ username: 'Jose\u0301' }] } }
      : { status: 200, body: { databases: [{ name: 'cafe\u0301' }] } },
  );
  expect([await client.listUsers(TOKEN), await client.listDatabases(TOKEN)]).toEqual([['Jos\u00e9'], ['caf\u00e9']]);
});

test('ServerClient takes null for an empty list', async () => {
  const { client } = aServerClient(() => ({ status: 200, body: { users: null, databases: null } }));
  expect([await client.listUsers(TOKEN), await client.listDatabases(TOKEN)]).toEqual([[], []]);
});

test('ServerClient lets Unicode names pass', async () => {
  const { client, requests } = aServerClient(() => ({ status: 200, body: { name: 'größe-数据' } }));
  // A server may answer in composed letters if decomposed ones were sent.
  expect(await client.getDatabase(TOKEN, 'gro\u0308ße-数据'.normalize('NFD'))).toEqual({ name: 'größe-数据' });
  expect(requests[0]?.url).toContain('/v1/databases/gro%CC%88%C3%9Fe-');
});

test.each([
  ['getDatabase', { name: 'other' }],
  ['getUser', { username: 'other' }],
] as const)('ServerClient.%s() refuses an answer about something else', async (name, body) => {
  const { client } = aServerClient(() => ({ status: 200, body }));
  expect((await errorOf(client[name](TOKEN, 'orders'))).message).toContain('about something else');
});

test.each([
  [(client: ServerClient) => client.signIn({ username: '', password: 'x' }), 'username'],
  [(client: ServerClient) => client.signIn({ username: 'x', password: '' }), 'password'],
  [(client: ServerClient) => client.createUser(TOKEN, 'x', ''), 'password'],
  [
    (client: ServerClient) => client.openTransaction(TOKEN, { databaseName: '', transactionType: 'read' }),
    'databaseName',
  ],
  [
    (client: ServerClient) =>
      client.openTransaction(TOKEN, {
        databaseName: 'a',
        transactionType: 'read',
        transactionOptions: { transactionTimeoutMillis: -1 },
      }),
    'transactionOptions.transactionTimeoutMillis',
  ],
  [
    (client: ServerClient) => client.query(TOKEN, 't', { query: 'x', queryOptions: { answerCountLimit: 0.5 } }),
    'queryOptions.answerCountLimit',
  ],
  [(client: ServerClient) => client.query(TOKEN, 't', { query: '' }), 'query'],
  [
    (client: ServerClient) => client.query(TOKEN, 't', { query: 'x', given: [{ v: { kind: 'entity', iid: 'zz' } }] }),
    'given.0.v.iid',
  ],
  [
    (client: ServerClient) =>
      client.query(TOKEN, 't', {
        query: 'x',
        given: [{ v: { kind: 'value', valueType: 'double', value: Number.NaN } }],
      }),
    'given.0.v',
  ],
])('ServerClient sends no request that breaks a rule of the document: %#', async (run, field) => {
  const { client, requests } = aServerClient(() => ({ status: 200 }));
  const error = await errorOf(run(client));
  expect(error).toMatchObject({ kind: 'invalid', status: undefined });
  expect(error.message).toContain(`not sent, because ${field} is invalid`);
  expect(requests).toHaveLength(0);
});

test('ServerClient.query() sends given rows under the name that the caller chooses, integers exact', async () => {
  const { client, requests } = aServerClient(() => ({ status: 200, body: okAnswer }));
  const given = [
    { n: { kind: 'value', valueType: 'integer', value: 9007199254740993n }, t: '2026-01-01T00:00 Europe/Berlin' },
  ] as const;
  await client.query(TOKEN, 't', { query: 'x', given, rowsField: 'givenRows' });
  expect(requests[0]?.body).toContain(
    '"givenRows":[{"n":{"kind":"value","valueType":"integer","value":9007199254740993}',
  );
  expect(requests[0]?.body).not.toContain('"given":');
});

test('ServerClient.oneShotQuery() that keeps changes is not retried by itself when its answer is lost', async () => {
  const { client } = aServerClient(() => new HttpError('lost', 'reset'));
  const request = { databaseName: 'a', transactionType: 'write', query: 'x' } as const;
  expect((await errorOf(client.oneShotQuery(TOKEN, { ...request, commit: true }))).retryable).toBe(false);
  expect((await errorOf(client.oneShotQuery(TOKEN, { ...request, commit: false }))).retryable).toBe(true);
});

test('ServerClient.signIn() says which login was refused, without the password in any form', async () => {
  const forms = [
    PASSWORD,
    JSON.stringify(PASSWORD),
    encodeURIComponent(PASSWORD),
    Buffer.from(PASSWORD).toString('base64'),
  ];
  for (const message of forms) {
    const { client } = aServerClient(() => ({ status: 401, body: { code: 'X', message } }));
    const error = await errorOf(client.signIn({ username: 'app', password: PASSWORD }));
    expect(error.message).toMatch(/^Cannot sign in as "app": the username or the password was refused \(HTTP 401, X: /);
    expect(error.message).not.toContain(message.slice(2, -2));
  }
});

/** A server that answers sign-ins only when told to, and says which are running. */
function aSlowServer() {
  const underWay: { readonly login: unknown; readonly end: (answer: ScriptedAnswer) => void }[] = [];
  const clock = manualClock();
  const script = ({ body = '' }: HttpRequest) =>
    new Promise<ScriptedAnswer>((resolve) => {
      underWay.push({ login: Object.values(JSON.parse(body)).join(':'), end: resolve });
    });
  const { client } = aServerClient(script, { clock });
  const signIn = (username: string, password: string, signal?: AbortSignal) =>
    client.signIn({ username, password }, signal).catch((error: unknown) => error);
  const settled = async () => {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    return underWay.map(({ login }) => login);
  };
  const end = (answer: ScriptedAnswer = { status: 200, body: { token: TOKEN } }) => underWay.shift()?.end(answer);
  return { clock, signIn, settled, end };
}

test('ServerClient.signIn() has one password of a user checked at a time, and those of other users meanwhile', async () => {
  const { signIn, settled, end } = aSlowServer();
  const all = Promise.all([signIn('a', '1'), signIn('a', '2'), signIn('b', '3'), signIn('a', '4')]);
  expect(await settled()).toEqual(['a:1', 'b:3']);
  end({ status: 401 });
  expect(await settled()).toEqual(['b:3', 'a:2']);
  end();
  expect(await settled()).toEqual(['a:2']);
  end(new HttpError('lost', 'gone'));
  expect(await settled()).toEqual(['a:4']);
  end();
  expect(await all).toMatchObject([{ kind: 'unauthorized' }, { kind: 'lost' }, { token: TOKEN }, { token: TOKEN }]);
});

test('ServerClient.signIn() that is aborted while it waits is not sent, and lets no other go ahead', async () => {
  const { signIn, settled, end } = aSlowServer();
  const leaving = new AbortController();
  const first = signIn('a', '1');
  const left = signIn('a', '2', leaving.signal);
  const all = Promise.all([first, left, signIn('a', '3')]);
  await settled();
  leaving.abort();
  // At once: it does not wait for the one before it.
  expect(await left).toMatchObject({ kind: 'aborted' });
  expect(await settled()).toEqual(['a:1']);
  end();
  expect(await settled()).toEqual(['a:3']);
  end();
  expect(await all).toMatchObject([{ token: TOKEN }, { kind: 'aborted' }, { token: TOKEN }]);
});

test('ServerClient.signIn() does not wait longer than its own limit for one that hangs', async () => {
  const { clock, signIn, settled, end } = aSlowServer();
  const all = Promise.all([signIn('a', '1'), signIn('a', '2')]);
  clock.advance(4_999);
  expect(await settled()).toEqual(['a:1']);
  clock.advance(1);
  expect(await settled()).toEqual(['a:1', 'a:2']);
  end();
  end();
  expect(await all).toMatchObject([{ token: TOKEN }, { token: TOKEN }]);
});

test.each(['', 'two words', 'a\r\nb', 'größe'])('ServerClient.signIn() refuses %j as a token', async (token) => {
  const { client } = aServerClient(() => ({ status: 200, body: { token } }));
  expect((await errorOf(client.signIn({ username: 'a', password: 'b' }))).kind).toBe('badAnswer');
});

test('ServerClient waits for the answer as long as the server may work on it', async () => {
  const body = { ...okAnswer, transactionId: 't' };
  const { client, requests } = aServerClient(() => ({ status: 200, body }));
  await client.createDatabase(TOKEN, 'a');
  // Which password works is not known until then.
  await client.updateUser(TOKEN, 'app', PASSWORD);
  await client.openTransaction(TOKEN, { databaseName: 'a', transactionType: 'read' });
  await client.openTransaction(TOKEN, {
    databaseName: 'a',
    transactionType: 'schema',
    transactionOptions: { schemaLockAcquireTimeoutMillis: 60_000 },
  });
  await client.query(TOKEN, 't', { query: 'x' });
  await client.commitTransaction(TOKEN, 't');
  await client.oneShotQuery(TOKEN, oneShot);
  await client.oneShotQuery(TOKEN, { ...oneShot, transactionOptions: { transactionTimeoutMillis: 3_600_000 } });
  expect(requests.map((request) => request.timeouts?.headersMs)).toEqual([
    undefined,
    5_000,
    30_000,
    80_000,
    320_000,
    320_000,
    330_000,
    3_630_000,
  ]);
  const { bodyMs, totalMs } = requests.at(-1)?.timeouts ?? {};
  expect([bodyMs, totalMs]).toEqual([60_000, 3_910_000]);
});

test.each([
  [421, { primaryAddress: 'b.example:8000' }, ['b.example:8000']],
  [421, {}, [undefined]],
  [503, { primaryAddress: 'b.example:8000' }, []],
])('ServerClient reports where the primary is: %i %j', async (status, body, told) => {
  const named: (string | undefined)[] = [];
  const onNotPrimary = (primary: string | undefined) => {
    named.push(primary);
    return primary && 'which is said';
  };
  const { client } = aServerClient(() => ({ status, body }), { onNotPrimary });
  const { message } = await errorOf(client.createUser(TOKEN, 'app', PASSWORD));
  expect(named).toEqual(told);
  expect(message.endsWith('; primary: b.example:8000, which is said)')).toBe(told[0] !== undefined);
});

test('ServerClient reports each exchange by operation and outcome', async () => {
  const { client, records } = aServerClient(() => ({ status: 404 }));
  await client.getUser(TOKEN, 'app');
  expect(records).toMatchObject([{ operation: 'getUser', code: '404' }]);
});

test('ServerClient throws nothing but ApiErrors, whatever bytes come with whatever status', async () => {
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
    fc.jsonValue().map((answers) => Buffer.from(JSON.stringify({ answerType: 'conceptRows', answers }))),
  );
  const status = fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 999 }));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...CASES),
      status,
      fc.array(bytes),
      fc.boolean(),
      async (one, code, chunks, breaks) => {
        const error = breaks ? { breaks: new HttpError('lost', 'reset') } : {};
        const { client } = aServerClient(() => ({ status: code, chunks, ...error }));
        const thrown = await one.run(client, 'orders').then(
          () => undefined,
          (caught: unknown) => caught,
        );
        if (thrown !== undefined) expect(thrown).toBeInstanceOf(ApiError);
      },
    ),
    { numRuns: 1000 },
  );
});

test('ServerClient throws nothing but ApiErrors, and reaches nothing else, whatever the name', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...WITH_A_NAME), fc.string({ unit: 'binary' }), async (one, name) => {
      const { client, requests } = aServerClient(() => ({ status: 200 }));
      await one.run(client, name).catch((error: unknown) => expect(error).toBeInstanceOf(ApiError));
      const parts = one.path.split('/').map((part) => (part === 'orders' ? name : part));
      for (const sent of requests) {
        expect(new URL(sent.url).pathname.split('/').map(decodeURIComponent)).toEqual(parts);
      }
    }),
  );
});
