import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock, noChance } from '../../test/support/clock.ts';
import { aClient, errorOf, request } from '../../test/support/cloud.ts';
import { type ScriptedAnswer, scriptedTransport } from '../../test/support/http.ts';
import { countedTurns } from '../../test/support/turns.ts';
import { HttpError } from '../base/transport.ts';
import { ApiError } from '../http/api-error.ts';
import { Memo } from '../http/memo.ts';
import { CloudClient } from './client.ts';
import type { Cluster } from './schema.ts';
import type { AccessLevel } from './token.ts';

const SPACE = '/api/v1/team/acme/spaces/production/clusters';
const running = { id: 'orders', status: 'running', createdAt: 1 };

interface Case {
  readonly name: string;
  readonly run: (client: CloudClient, id?: string, signal?: AbortSignal) => Promise<unknown>;
  readonly sent: {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    readonly level: AccessLevel;
  };
  readonly answer: unknown;
  readonly result: unknown;
}

const CASES: readonly Case[] = [
  {
    name: 'deploy',
    run: (client, id = 'orders', signal) => client.deploy({ ...request, id }, signal),
    sent: { method: 'POST', path: `${SPACE}/deploy`, body: request, level: 'write' },
    answer: { ...running, status: 'starting' },
    result: { id: 'orders', status: 'starting' },
  },
  {
    name: 'get',
    run: (client, id = 'orders', signal) => client.get(id, signal),
    sent: { method: 'GET', path: `${SPACE}/orders`, level: 'read' },
    answer: running,
    result: { id: 'orders', createdAt: 1 },
  },
  {
    name: 'list',
    run: (client, _id, signal) => client.list(signal),
    sent: { method: 'GET', path: SPACE, level: 'read' },
    answer: [running, { ...running, id: 'b' }],
    result: [{ id: 'orders' }, { id: 'b' }],
  },
  {
    name: 'update',
    run: (client, id = 'orders', signal) => client.update(id, { storageSizeGB: 200 }, signal),
    sent: { method: 'PATCH', path: `${SPACE}/orders`, body: { storageSizeGB: 200 }, level: 'write' },
    answer: running,
    result: { id: 'orders' },
  },
  {
    name: 'suspend',
    run: (client, id = 'orders', signal) => client.suspend(id, signal),
    sent: { method: 'POST', path: `${SPACE}/orders/suspend`, level: 'write' },
    answer: { ...running, status: 'suspending' },
    result: { status: 'suspending' },
  },
  {
    name: 'resume',
    run: (client, id = 'orders', signal) => client.resume(id, signal),
    sent: { method: 'POST', path: `${SPACE}/orders/resume`, level: 'write' },
    answer: { ...running, status: 'resuming' },
    result: { status: 'resuming' },
  },
  {
    name: 'clone',
    run: (client, id = 'orders', signal) => client.clone(id, 'copy', signal),
    sent: { method: 'POST', path: `${SPACE}/orders/clone`, body: { id: 'copy' }, level: 'write' },
    answer: { id: 'copy', status: 'starting' },
    result: { id: 'copy' },
  },
  {
    name: 'destroy',
    run: (client, id = 'orders', signal) => client.destroy(id, signal),
    sent: { method: 'DELETE', path: `${SPACE}/orders`, level: 'admin' },
    answer: { ...running, status: 'destroying' },
    result: { status: 'destroying' },
  },
  {
    name: 'versions',
    run: (client, _id, signal) => client.versions(signal),
    sent: { method: 'GET', path: '/api/v1/cluster-versions', level: 'read' },
    answer: { availableVersions: ['3.5.0'] },
    result: ['3.5.0'],
  },
];
const ON_A_CLUSTER = CASES.filter(({ name }) => name !== 'list' && name !== 'versions');

test.each(CASES)('CloudClient.$name() sends what the document says and reads the answer', async (one) => {
  const { client, calls, transport } = aClient(() => ({ status: 200, body: one.answer }));
  expect(await one.run(client)).toMatchObject(one.result ?? {});
  const [sent] = calls();
  expect(sent).toMatchObject({ method: one.sent.method, url: `https://cloud.example.com${one.sent.path}` });
  expect(sent?.headers).toMatchObject({ authorization: `Bearer ${one.sent.level}-token` });
  expect(sent?.body === undefined ? undefined : JSON.parse(sent.body)).toEqual(one.sent.body);
  expect(transport.released()).toBe(2);
});

test.each(CASES)('CloudClient.$name() gives up if its caller does', async (one) => {
  const { client, calls } = aClient(() => ({ status: 200, body: one.answer }));
  expect((await errorOf(one.run(client, undefined, AbortSignal.abort()))).kind).toBe('aborted');
  expect(calls()).toEqual([]);
});

const STATUSES = [
  [400, 'invalid'],
  [401, 'unavailable'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [409, 'conflict'],
  [418, 'invalid'],
  [429, 'throttled'],
  [500, 'unavailable'],
  [503, 'unavailable'],
  [302, 'badAnswer'],
] as const;

test.each(CASES.flatMap((one) => STATUSES.map(([status, kind]) => ({ ...one, status, kind }))))(
  'CloudClient.$name() with status $status: $kind',
  async ({ name, run, sent, status, kind }) => {
    const body = { code: 'SOME_CODE', message: 'no: canary-write-secret write-token-echo' };
    const { client } = aClient(() => ({ status, body }));
    if (status === 404 && (name === 'get' || name === 'destroy')) {
      expect(await run(client)).toBeUndefined();
      return;
    }
    const error = await errorOf(run(client));
    expect(error).toMatchObject({ api: 'cloud', operation: name, status, kind, code: 'SOME_CODE' });
    expect(error.message).toMatch(/^Cannot .* \(HTTP \d+, SOME_CODE: no: /);
    // Whoever must give the space another token is told which.
    if (status === 403) expect(error.message).toContain(`this takes level ${sent.level} (HTTP`);
    expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain('canary');
  },
);

const NONSENSE: readonly (readonly [string, Exclude<ScriptedAnswer, Error>])[] = [
  ['nothing', { status: 200 }],
  ['a web page', { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }],
  ['a web page that does not say so', { status: 200, body: '<html>' }],
  ['cut JSON', { status: 200, body: '{"id":"ord' }],
  ['null', { status: 200, body: 'null' }],
  ['a number', { status: 200, body: '1' }],
  ['a wrong shape', { status: 200, body: { id: 7, availableVersions: 'x' } }],
  ['another cluster', { status: 200, body: { id: 'other', status: 'running' } }],
  ['invalid UTF-8', { status: 200, chunks: [Buffer.from([0x22, 0xff, 0x22])] }],
];

test.each(
  CASES.flatMap((one) => NONSENSE.map(([what, answer]) => ({ ...one, what, given: answer }))).filter(
    ({ name, what }) => name !== 'list' || what !== 'null',
  ),
)('CloudClient.$name() reports $what in place of an answer', async ({ name, run, given }) => {
  const error = await errorOf(run(aClient(() => given).client));
  expect(error).toMatchObject({ kind: 'badAnswer', status: 200, operation: name, effectUnknown: true });
});

test('CloudClient.list() reads null, as some servers write a List without clusters', async () => {
  const { client } = aClient(() => ({ status: 200, body: 'null' }));
  expect(await client.list()).toEqual([]);
});

test('CloudClient.list() refuses a List of millions of clusters, even if it is otherwise not large', async () => {
  const { client } = aClient(() => ({ status: 200, body: `[${'{"id":"a"},'.repeat(100_000)}{"id":"a"}]` }));
  const error = await errorOf(client.list());
  expect(error.message).toBe(
    'Cannot list the clusters of space "production": the answer has more than 100000 elements (HTTP 200)',
  );
});

test.each(CASES)('CloudClient.$name() is sent once when its answer is lost, unless it is a GET', async (one) => {
  const { client, calls } = aClient(() => new HttpError('lost', 'reset'));
  const looks = one.sent.method === 'GET';
  const { kind, message } = await errorOf(one.run(client));
  expect(kind).toBe('lost');
  expect(message).toContain(
    looks ? 'no complete answer came (' : 'no complete answer came, it may have taken effect (',
  );
  expect(calls()).toHaveLength(looks ? 2 : 1);
});

const HOSTILE = ['', '.', '..', '../other', 'a/b', 'a%2Fb', '%2e%2e', 'a\\b', 'a\nb', 'a\u0000', '\ud800'];

test.each(ON_A_CLUSTER.flatMap((one) => HOSTILE.map((id) => ({ ...one, id }))))(
  'CloudClient.$name() sends nothing for the id $id',
  async ({ run, id }) => {
    const { client, calls } = aClient(() => ({ status: 200, body: running }));
    expect(await errorOf(run(client, id))).toMatchObject({ kind: 'invalid', status: undefined, effectUnknown: false });
    expect(calls()).toHaveLength(0);
  },
);

test('CloudClient sends nothing for a hostile team or space', async () => {
  for (const [teamID, spaceID] of [
    ['..', 's'],
    ['t', '../../x'],
    ['', 's'],
  ] as const) {
    const transport = scriptedTransport(() => ({ status: 200, body: 'token' }));
    const client = new CloudClient({
      baseURL: 'https://cloud.example.com',
      teamID,
      spaceID,
      credentials: [{ level: 'read', clientID: 'a', clientSecret: 'b' }],
      transport,
      clock: manualClock(),
      random: noChance,
    });
    expect((await errorOf(client.list())).kind).toBe('invalid');
    expect(transport.requests.filter((sent) => sent.method === 'GET')).toHaveLength(0);
  }
});

test('CloudClient.deploy() and others name the field that breaks a rule, and send nothing', async () => {
  const { client, transport } = aClient(() => ({ status: 200, body: running }));
  expect((await errorOf(client.deploy({ ...request, storageSizeGB: 9 }))).message).toMatch(
    /^Cannot deploy cluster "orders": not sent, because storageSizeGB is invalid \(/,
  );
  expect((await errorOf(client.update('orders', {}))).message).toContain('at least one field must be set');
  expect((await errorOf(client.clone('orders', 'Copy'))).message).toContain('id is invalid');
  expect(transport.requests).toHaveLength(0);
});

test('CloudClient.deploy() says that an id is in use', async () => {
  const { client } = aClient(() => ({ status: 409, body: { code: 'ID_IN_USE', message: 'in use' } }));
  expect((await errorOf(client.deploy(request))).message).toBe(
    'Cannot deploy cluster "orders": the id is already in use (HTTP 409, ID_IN_USE: in use)',
  );
});

test('CloudClient.update() expects the new id in the answer to a rename', async () => {
  const { client } = aClient(() => ({ status: 200, body: { ...running, id: 'sales' } }));
  expect(await client.update('orders', { id: 'sales' })).toMatchObject({ id: 'sales' });
  expect((await errorOf(client.update('orders', { storageSizeGB: 20 }))).kind).toBe('badAnswer');
});

test.each([
  [{ storageSizeGB: 20 }, true],
  [{ id: 'orders', storageSizeGB: 20 }, true],
  [{ id: 'sales' }, false],
])('CloudClient.update() with %j may be sent again after an answer that was lost: %s', async (change, retryable) => {
  const { client } = aClient((_, count) => (count === 1 ? new HttpError('lost', 'reset') : { status: 404 }));
  expect(await errorOf(client.update('orders', change))).toMatchObject({ effectUnknown: true, retryable });
});

test('CloudClient.update() asks for the cluster if the answer is empty', async () => {
  const { client, calls } = aClient((_, count) => (count === 1 ? { status: 204 } : { status: 200, body: running }));
  expect(await client.update('orders', { storageSizeGB: 20 })).toMatchObject({ id: 'orders', status: 'running' });
  expect(calls().map(({ method }) => method)).toEqual(['PATCH', 'GET']);
});

test('CloudClient.update() fails if the answer is empty and the cluster is gone', async () => {
  const { client } = aClient((_, count) => (count === 1 ? { status: 204 } : { status: 404 }));
  expect(await errorOf(client.update('orders', { storageSizeGB: 20 }))).toMatchObject({ kind: 'badAnswer' });
});

test.each([{ status: 204 }, { status: 200, headers: { 'content-length': '0' } }])(
  'CloudClient.destroy() takes an empty answer ($status) as success, and asks for nothing more',
  async (answer) => {
    const { client, calls } = aClient(() => answer);
    expect(await client.destroy('orders')).toBe('accepted');
    expect(calls().map(({ method }) => method)).toEqual(['DELETE']);
  },
);

test('CloudClient reports each exchange by operation and outcome', async () => {
  const { client, records } = aClient((_, count) =>
    count === 1 ? new HttpError('unreachable', 'x') : { status: 404 },
  );
  await errorOf(client.list());
  await client.get('orders');
  expect(records.map(({ operation, code }) => `${operation} ${code}`)).toEqual([
    'authenticate 200',
    'list unreachable',
    'get 404',
  ]);
});

test('CloudClient passes the signal on and ends when it aborts', async () => {
  const controller = new AbortController();
  const { client } = aClient((sent) => {
    controller.abort();
    return sent.signal?.aborted ? new HttpError('aborted', 'x') : { status: 200, body: [] };
  });
  expect((await errorOf(client.list(controller.signal))).kind).toBe('aborted');
});

test('CloudClient.list() reads 10,000 clusters without holding the event loop', async () => {
  const turns = countedTurns();
  const clusters = Array.from({ length: 10_000 }, (_, index) => ({
    ...request,
    id: `cluster-${index}`,
    status: 'running',
    createdAt: 1_700_000_000_000 + index,
    servers: [{ address: `server-${index}.example.com:443`, status: 'running' }],
  }));
  const { client } = aClient(() => ({ status: 200, body: clusters }), ['read'], {
    clock: turns.clock,
  });
  expect(await client.list()).toHaveLength(10_000);
  // 2 ms at most between two, and a look after each cluster.
  expect(turns.turns()).toBeGreaterThan(10_000 / 3);
});

test('CloudClient.list() names the position of a cluster that makes no sense', async () => {
  const { client } = aClient(() => ({
    status: 200,
    body: [running, { id: 'b', status: 'running', storageSizeGB: 'x' }],
  }));
  expect((await errorOf(client.list())).message).toContain('at 1.storageSizeGB');
});

test('CloudClient.listAs() does not read a cluster again that is byte for byte as in the List before', async () => {
  const [one, two, three] = ['a', 'b', 'c'].map((id) => ({ ...running, id }));
  const bad = { ...running, id: 'd', createdAt: 'today' };
  const lists: unknown[] = [
    [one, two],
    [two, one],
    [two, { ...one, status: 'suspended' }, three],
    [two, bad],
    [bad, two],
    [two],
  ];
  const { client } = aClient(() => ({ status: 200, body: lists.shift() }));
  const memo = new Memo<{ readonly id: string }>();
  const kept: string[] = [];
  const list = async () => {
    const keep = ({ id, status }: Cluster) => {
      kept.push(`${id} ${status}`);
      return { id };
    };
    const { clusters, problem } = await client.listAs(memo, keep);
    return [clusters.map(({ id }) => id), kept.splice(0), ...(problem === undefined ? [] : [problem.message])];
  };
  expect(await list()).toEqual([
    ['a', 'b'],
    ['a running', 'b running'],
  ]);
  expect(await list()).toEqual([['b', 'a'], []]);
  expect(await list()).toEqual([
    ['b', 'a', 'c'],
    ['a suspended', 'c running'],
  ]);
  // One that makes no sense hides no other, and is reported each time in the same words, wherever it is.
  expect(await list()).toEqual([['b'], [], expect.stringMatching(/at createdAt.*, of cluster "d"$/)]);
  expect(await list()).toEqual([['b'], [], expect.stringMatching(/at createdAt.*, of cluster "d"$/)]);
  expect(await list()).toEqual([['b'], []]);
});

test.each([
  ['is not JSON', '[{"id":"a","status":"running"},{"id":b}]'],
  ['is cut off', '[{"id":"a","status":"running"},{"id":"b"'],
  ['is not UTF-8', Buffer.from([...Buffer.from('[{"id":"a"},{"id":"'), 0xff, ...Buffer.from('"}]')])],
])('CloudClient.listAs() believes nothing in a List that %s', async (_, body) => {
  const { client } = aClient(() => ({ status: 200, chunks: [Buffer.from(body)] }));
  expect((await errorOf(client.listAs(new Memo(), (cluster) => cluster))).kind).toBe('badAnswer');
});

test('CloudClient throws nothing but ApiErrors, whatever bytes come with whatever status', async () => {
  const chunks = fc.array(
    fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
    ),
  );
  const status = fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 999 }));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...CASES), status, chunks, fc.boolean(), async (one, code, pieces, breaks) => {
      const error = breaks ? { breaks: new HttpError('lost', 'reset') } : {};
      const { client } = aClient(() => ({ status: code, chunks: pieces, ...error }));
      const outcome = await one.run(client).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (outcome !== undefined) expect(outcome).toBeInstanceOf(ApiError);
    }),
    { numRuns: 500 },
  );
});

test('CloudClient throws nothing but ApiErrors, and reaches nothing else, whatever the id', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ON_A_CLUSTER), fc.string({ unit: 'binary' }), async (one, id) => {
      const { client, calls } = aClient(() => ({ status: 200, body: running }));
      await one.run(client, id).catch((error: unknown) => expect(error).toBeInstanceOf(ApiError));
      const parts = one.sent.path.split('/').map((part) => (part === 'orders' ? id : part));
      for (const sent of calls()) expect(new URL(sent.url).pathname.split('/').map(decodeURIComponent)).toEqual(parts);
    }),
  );
});

test('CloudClient hides secrets that a server echoes in any form', async () => {
  const secret = 'canary-write-secret';
  const forms = [
    secret,
    `write-id:${secret}`,
    Buffer.from(secret).toString('base64'),
    Buffer.from(`write-id:${secret}`).toString('base64'),
    encodeURIComponent(secret),
    JSON.stringify({ secret }),
    'Bearer write-token',
  ];
  const pieces = [
    secret,
    ...[0, 1, 2].map((shift) =>
      Buffer.from(' '.repeat(shift) + secret)
        .toString('base64')
        .slice(4, 20),
    ),
  ];
  for (const message of forms) {
    const { client } = aClient(() => ({ status: 500, body: { code: message, message } }));
    const error = await errorOf(client.suspend('orders'));
    const text = JSON.stringify({ ...error, message: error.message, stack: error.stack });
    for (const piece of [...pieces, 'write-token']) expect(text).not.toContain(piece);
  }
});

test('CloudClient.listAs() does not treat a space that the cloud does not know, or a page that says so, as an empty one', async () => {
  for (const text of ['{"code":"space.unknown","message":"No such space"}', '<h1>Not Found</h1>']) {
    const { client } = aClient(() => ({ status: 404, chunks: [Buffer.from(text)] }));
    expect((await errorOf(client.listAs(new Memo(), (cluster) => cluster))).kind).toBe('notFound');
  }
});
