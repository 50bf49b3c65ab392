import { expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import { type Script, scriptedTransport } from '../../test/support/http.ts';
import { HttpError, withheld } from '../base/transport.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { isGone, isNamespaceTerminating, KubeError, type Resource, SECRETS } from './api.ts';
import { createKubeClient } from './client.ts';
import { Reachability } from './reachability.ts';
import type { Warning } from './warnings.ts';

const TOYS: Resource = { group: 'mooring.dev', version: 'v1alpha1', plural: 'toys', kind: 'Toy' };
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

async function allOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const REF = { namespace: 'ns', name: 'a' };
const OBJECT = { metadata: { namespace: 'ns', name: 'a', uid: 'u', resourceVersion: '7' } };
const status = (code: number, reason: string, more: object = {}) => ({
  status: code,
  body: { kind: 'Status', code, reason, message: `${reason}!`, ...more },
});

function aClient(script: Script, reachability?: Reachability) {
  const transport = scriptedTransport(script);
  const told: string[] = [];
  const renewals: boolean[] = [];
  const api = createKubeClient({
    server: 'https://api.test:6443/',
    transport,
    authorize: async (renew) => {
      renewals.push(renew);
      return { authorization: `Bearer ${renewals.length}` };
    },
    userAgent: 'mooring/test',
    refusal: ({ plural }) => `no ${plural}`,
    ...(reachability && { reachability }),
    onRequest: ({ verb, resource, code }) => told.push(`${verb} ${resource} ${code}`),
  });
  const urls = () =>
    transport.requests.map(({ method, url }) => `${method} ${url.slice('https://api.test:6443'.length)}`);
  return { api, transport, told, renewals, urls };
}

test('The client knows the paths of core and other groups, of one namespace and of all', async () => {
  const { api, urls } = aClient(() => ({ status: 200, body: { ...OBJECT, items: [] } }));
  await api.get(SECRETS, REF);
  await api.get(TOYS, { name: 'a' });
  await api.list(TOYS, {});
  await api.list(SECRETS, { namespace: 'ns', limit: 500, notOlderThan: '9' });
  await api.list(SECRETS, { namespace: 'ns', limit: 500, notOlderThan: '9', continueToken: 'c' });
  await api.create(TOYS, 'ns', {});
  await api.patch(TOYS, REF, {}, { subresource: 'status' });
  await api.delete(TOYS, REF, { uid: 'u' });
  expect(urls()).toEqual([
    'GET /api/v1/namespaces/ns/secrets/a',
    'GET /apis/mooring.dev/v1alpha1/toys/a',
    'GET /apis/mooring.dev/v1alpha1/toys',
    'GET /api/v1/namespaces/ns/secrets?limit=500&resourceVersion=9&resourceVersionMatch=NotOlderThan',
    'GET /api/v1/namespaces/ns/secrets?limit=500&continue=c',
    'POST /apis/mooring.dev/v1alpha1/namespaces/ns/toys',
    'PATCH /apis/mooring.dev/v1alpha1/namespaces/ns/toys/a/status?fieldManager=mooring',
    'DELETE /apis/mooring.dev/v1alpha1/namespaces/ns/toys/a',
  ]);
});

test('A dry run stores nothing, and names its field manager', async () => {
  const { api, transport, urls } = aClient(() => ({ status: 200, body: OBJECT }));
  const { signal } = new AbortController();
  const toy = { ...OBJECT, spec: { size: 1 } };
  await api.applyDryRun(TOYS, toy, { force: true });
  await api.applyDryRun(TOYS, toy, { manager: 'kubectl', force: false }, signal);
  await api.patchDryRun(TOYS, REF, { spec: { size: 2 } }, signal);
  const path = 'PATCH /apis/mooring.dev/v1alpha1/namespaces/ns/toys/a';
  expect(urls()).toEqual([
    `${path}?fieldManager=mooring&force=true&dryRun=All`,
    `${path}?fieldManager=kubectl&force=false&dryRun=All`,
    `${path}?fieldManager=mooring&dryRun=All&fieldValidation=Strict`,
  ]);
  expect(transport.requests).toMatchObject([
    { headers: { 'content-type': 'application/apply-patch+yaml' }, body: JSON.stringify(toy) },
    { signal },
    { headers: { 'content-type': 'application/merge-patch+json' }, body: '{"spec":{"size":2}}', signal },
  ]);
});

test('A patch is merged, and a list is sent as a JSON Patch', async () => {
  const { api, transport } = aClient(() => ({ status: 200, body: OBJECT }));
  const change = [{ op: 'test', path: '/spec/size', value: 1 }];
  for (const patch of [{ spec: { size: 2 } }, change]) await api.patch(TOYS, REF, patch);
  expect(transport.requests).toMatchObject([
    { headers: { 'content-type': 'application/merge-patch+json' }, body: '{"spec":{"size":2}}' },
    { headers: { 'content-type': 'application/json-patch+json' }, body: JSON.stringify(change) },
  ]);
});

test('The client says in each request who it is, and in which form it wants the answer', async () => {
  const { api, transport } = aClient(() => ({ status: 200, body: { ...OBJECT, items: [] } }));
  await api.create(TOYS, 'ns', {});
  await api.get(TOYS, REF);
  const headers = { accept: 'application/json', 'user-agent': 'mooring/test' };
  expect(transport.requests).toMatchObject([
    { headers: { ...headers, authorization: 'Bearer 1' }, timeouts: { headersMs: 30_000, totalMs: 60_000 } },
    { headers: { ...headers, authorization: 'Bearer 2' } },
  ]);
});

test('The client gives the objects of a list, its version, and how it continues', async () => {
  const metadata = { resourceVersion: '9', continue: 'more' };
  const { api } = aClient((_, count) => ({
    status: 200,
    body: { items: [OBJECT], metadata: count === 0 ? metadata : { resourceVersion: '9', continue: '' } },
  }));
  expect(await api.list(TOYS, {})).toEqual({ items: [OBJECT], resourceVersion: '9', continueToken: 'more' });
  expect((await api.list(TOYS, {})).continueToken).toBeUndefined();
});

test('The client takes null for an empty list, as Go writes one', async () => {
  const { api } = aClient(() => ({ status: 200, body: { items: null, metadata: { resourceVersion: '9' } } }));
  expect((await api.list(TOYS, {})).items).toEqual([]);
});

test('The client has an object deleted only as the one that was seen', async () => {
  const { api, transport } = aClient(() => ({ status: 200, body: {} }));
  await api.delete(TOYS, REF, { uid: 'u' });
  expect(transport.requests[0]?.body).toBe('{"preconditions":{"uid":"u"}}');
});

test('A watch asks for one object if it should follow one, and may begin with a list of it', async () => {
  const { api, urls, transport } = aClient(() => ({ status: 200, body: '' }));
  const options = { namespace: 'ns', timeoutSeconds: 300 };
  await allOf(api.watch(TOYS, { ...options, name: 'a', resourceVersion: '7' }));
  await allOf(api.watch(TOYS, { ...options, resourceVersion: undefined, sendInitialEvents: true, metadataOnly: true }));
  const path = 'GET /apis/mooring.dev/v1alpha1/namespaces/ns/toys?watch=true&allowWatchBookmarks=true';
  expect(urls()).toEqual([
    `${path}&resourceVersion=7&timeoutSeconds=300&fieldSelector=metadata.name%3Da`,
    `${path}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=300`,
  ]);
  expect(transport.requests).toMatchObject([
    { headers: { accept: 'application/json' } },
    { headers: { accept: expect.stringContaining('PartialObjectMetadata') } },
  ]);
});

test("The client treats only the API server's own 404 as the absence of an object", async () => {
  const { api } = aClient(() => status(404, 'NotFound'));
  expect([await api.get(TOYS, REF), await api.delete(TOYS, REF, { uid: 'u' })]).toEqual([undefined, false]);
  const others = [300, 302, 400, 403, 408, 409, 410, 422, 429, 500, 503, 504].map((code) => status(code, 'Other'));
  const notOfObjects = ['404 page not found\n', '<h1>Not Found</h1>', ''].map((body) => ({ status: 404, body }));
  for (const answer of [...others, ...notOfObjects]) {
    const refusing = aClient(() => answer).api;
    const errors = [await errorOf(refusing.get(TOYS, REF)), await errorOf(refusing.delete(TOYS, REF, { uid: 'u' }))];
    expect(errors, JSON.stringify(answer)).toEqual([expect.any(KubeError), expect.any(KubeError)]);
  }
});

test('The client asks once more with a fresh token after a 401, and reports both requests', async () => {
  const { api, told, renewals } = aClient((_request, count) =>
    count === 0 ? { status: 401 } : { status: 200, body: OBJECT },
  );
  expect(await api.get(TOYS, REF)).toEqual(OBJECT);
  expect([told, renewals]).toEqual([
    ['get toys 401', 'get toys 200'],
    [false, true],
  ]);
});

test('The client gives up when the fresh token is refused too', async () => {
  const { api, renewals } = aClient(() => status(401, 'Unauthorized'));
  expect(await errorOf(api.get(TOYS, REF))).toMatchObject({ status: 401 });
  expect(renewals).toEqual([false, true]);
});

test('The client throws what the server says, with cause and time to wait', async () => {
  const details = {
    retryAfterSeconds: 3,
    causes: [
      { reason: 'NamespaceTerminating' },
      { reason: 'FieldValueRequired', field: 'spec.size', message: 'Required value' },
      { reason: 'FieldValueInvalid', field: '<nil>', message: 'Invalid value: null: more was not checked' },
    ],
  };
  const { api } = aClient(() => status(403, 'Forbidden', { details }));
  const error = await errorOf(api.create(TOYS, 'ns', {}));
  expect(error).toMatchObject({ name: 'KubeError', status: 403, reason: 'Forbidden', retryAfterMs: 3_000 });
  expect(error).toMatchObject({ message: 'Cannot create toys: Forbidden!' });
  expect(error).toMatchObject({ fields: [{ field: 'spec.size', message: 'Required value' }] });
  expect(isNamespaceTerminating(error)).toBe(true);
});

test('The client hides the passwords in a Secret that a webhook repeats when it refuses it, and shows the rest', async () => {
  const secrets = { password: 'correct horse', nextPassword: 'battery staple' };
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const data = Object.fromEntries(Object.entries({ ...secrets, username: 'admin' }).map(([k, v]) => [k, base64(v)]));
  const message = `denied the Secret of admin: ${JSON.stringify(secrets)}, ${JSON.stringify(data)}`;
  const { api } = aClient(() =>
    status(403, 'Forbidden', { message, details: { causes: [{ field: 'data', message }] } }),
  );
  for (const refused of [api.create(SECRETS, 'ns', { data }), api.patch(SECRETS, REF, { data })]) {
    const error = (await errorOf(refused)) as KubeError;
    expect(error).toMatchObject({ status: 403, message: expect.stringContaining('denied the Secret of admin') });
    const told = error.message + JSON.stringify(error.fields);
    for (const secret of Object.values(secrets)) {
      expect(told).not.toContain(secret);
      expect(told).not.toContain(base64(secret).slice(0, 8));
    }
  }
});

test('The client says why a Secret may not be read, as there is nothing to hide in the request', async () => {
  const { api } = aClient(() => status(403, 'Forbidden'));
  expect(await errorOf(api.get(SECRETS, REF))).toMatchObject({
    status: 403,
    message: 'Cannot get secrets: Forbidden!',
  });
});

test('The client hides the texts of a Secret whose dry run is refused, as of one in a manifest', async () => {
  const object = { ...OBJECT, stringData: { password: 'correct horse' } };
  const { api } = aClient(() => status(403, 'Forbidden', { message: `denied: ${JSON.stringify(object)}` }));
  const { message } = (await errorOf(api.applyDryRun(SECRETS, object, { force: false }))) as KubeError;
  expect(message).toContain('denied: ');
  expect(message).not.toContain('correct horse');
});

test('The client hides its token that something in front of the API server repeats', async () => {
  const token = 'eyJhbGciOiJSUzI1NiJ9.canary/of+the=token';
  const repeats = `no session for Bearer ${token}, or ${encodeURIComponent(token)}`;
  for (const [status, body] of [
    [403, `<p>${repeats}</p>`],
    [403, { kind: 'Status', message: repeats }],
    [404, `<p>${repeats}</p>`],
  ] as const) {
    const client = createKubeClient({
      server: 'https://api.test',
      transport: scriptedTransport(() => ({ status, body })),
      authorize: async () => ({ authorization: `Bearer ${token}` }),
      userAgent: 'mooring/test',
    });
    const watch = allOf(client.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 }));
    for (const refused of [client.list(TOYS, {}), client.patch(TOYS, REF, {}), watch]) {
      const { message } = (await errorOf(refused)) as KubeError;
      expect(message).toMatch(/no session for Bearer \[redacted\], or/);
      for (const part of ['canary', 'eyJhb']) expect(message).not.toContain(part);
    }
  }
});

test('The client hides a password that is part of another value of a Secret, such as one of a template', async () => {
  const url = 'jdbc:db://app:correct-horse@db.example.com:8000/orders';
  const data = {
    JDBC_URL: Buffer.from(url).toString('base64'),
    host: Buffer.from('db.example.com').toString('base64'),
  };
  const message = `denied: JDBC_URL=${url}, ${JSON.stringify(data)}`;
  const { api } = aClient(() => status(403, 'Forbidden', { message }));
  const error = (await errorOf(api.patch(SECRETS, REF, { data }))) as KubeError;
  expect(error.message).toContain('denied: JDBC_URL=');
  expect(error.message).not.toMatch(/correct|horse/);
  expect(error.message).not.toContain(data.JDBC_URL.slice(0, 8));
});

test('The client understands an answer in plain text, as proxies give it, and its Retry-After', async () => {
  const { api } = aClient(() => ({ status: 429, headers: { 'retry-after': '5' }, body: 'slow down' }));
  expect(await errorOf(api.list(TOYS, {}))).toMatchObject({
    status: 429,
    retryAfterMs: 5_000,
    message: 'Cannot list toys: slow down',
  });
});

test('The client shows only the words of a web page, as of a proxy, and those of a text in one line', async () => {
  const page = '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<hr><center>nginx</center></html>';
  const { api } = aClient((_, count) => ({ status: 502, body: count === 0 ? page : 'no\nserver' }));
  const list = () => errorOf(api.list(TOYS, {}));
  expect(await list()).toMatchObject({ message: 'Cannot list toys: 502 Bad Gateway nginx' });
  expect(await list()).toMatchObject({ message: 'Cannot list toys: no server' });
});

test('The client says in plain words that a resource does not exist, as after CustomResourceDefinitions were deleted', async () => {
  const { api } = aClient(() => ({ status: 404, body: '404 page not found\n' }));
  expect(await errorOf(api.list(TOYS, {}))).toMatchObject({
    status: 404,
    message: 'Cannot list toys: the API server has no such resource',
  });
});

test.each([
  [
    { location: 'https://login.example:8443/?token=abc' },
    'the address redirects to https://login.example:8443, which is not followed',
  ],
  [{ location: '/elsewhere' }, 'the address redirects, which is not followed'],
  [{}, 'the address redirects, which is not followed'],
])('The client says that something in front of the API server redirects: %j', async (headers, says) => {
  const { api } = aClient(() => ({ status: 302, headers, body: '<html>Found</html>' }));
  const error = await errorOf(api.list(TOYS, {}));
  expect(error).toMatchObject({ status: 302, message: `Cannot list toys: ${says}` });
});

test('The client waits no longer than a minute for a server, whatever a proxy says', async () => {
  const { api } = aClient(() => ({ status: 503, headers: { 'retry-after': '3600' }, body: '' }));
  expect(await errorOf(api.list(TOYS, {}))).toMatchObject({ status: 503, retryAfterMs: 60_000 });
});

test.each(['0', '-5', 'Fri, 27 Nov 2026 08:00:00 GMT'])(
  'The client reads no time to wait in Retry-After: %s',
  async (after) => {
    const { api } = aClient(() => ({ status: 503, headers: { 'retry-after': after }, body: '' }));
    const error = await errorOf(api.list(TOYS, {}));
    expect(error).toMatchObject({ retryAfterMs: undefined, message: 'Cannot list toys: HTTP 503' });
  },
);

test('The client shows the beginning of a long page that a proxy answers with', async () => {
  const { api } = aClient(() => ({ status: 502, body: `<p>${'Bad gateway '.repeat(100)}</p>` }));
  const { message } = (await errorOf(api.list(TOYS, {}))) as KubeError;
  expect([message.slice(0, 32), message.length < 300]).toEqual(['Cannot list toys: Bad gateway Ba', true]);
});

test.each([
  '',
  'not JSON',
  'null',
  '[]',
  '{"metadata":{}}',
  '{"metadata":{"name":"a"}}',
  '{"metadata":{"resourceVersion":"7"}}',
])('The client treats a success with the answer %j as one whose effect is unknown', async (body) => {
  const { api } = aClient(() => ({ status: 201, body }));
  expect(await errorOf(api.create(TOYS, 'ns', {}))).toMatchObject({ name: 'HttpError', kind: 'lost' });
});

test('The client says that a success is a web page, as the sign-in of a proxy', async () => {
  const { api } = aClient(() => ({ status: 200, body: '\n<!doctype html>\n<p>Sign in</p>\n' }));
  const watch = allOf(api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 }));
  for (const [verb, refused] of [
    ['list', api.list(TOYS, {})],
    ['watch', watch],
  ] as const)
    expect(await errorOf(refused)).toMatchObject({
      kind: 'lost',
      message: `Cannot ${verb} toys: The answer is a web page: is the address that of the API server?`,
    });
});

test('The client reports requests without an answer', async () => {
  const { api, told } = aClient(() => new HttpError('unreachable', 'Connection refused'));
  await errorOf(api.list(TOYS, {}));
  expect(told).toEqual(['list toys 0']);
});

test('The client asks for metadata only if that is enough', async () => {
  const { api, transport } = aClient(() => ({ status: 200, body: { metadata: { resourceVersion: '1' }, items: [] } }));
  await api.list(SECRETS, { metadataOnly: true });
  await errorOf(api.get(SECRETS, REF, undefined, { metadataOnly: true }));
  expect(transport.requests.map(({ headers }) => headers?.['accept'])).toEqual([
    expect.stringContaining('as=PartialObjectMetadataList;'),
    expect.stringContaining('as=PartialObjectMetadata;'),
  ]);
});

test('A watch gives events and bookmarks, and ends when the server closes it', async () => {
  const lines = [
    { type: 'ADDED', object: OBJECT },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '40' } } },
    {
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '41', annotations: { 'k8s.io/initial-events-end': 'true' } } },
    },
    { type: 'DELETED', object: OBJECT },
  ];
  const { api, urls } = aClient(() => ({
    status: 200,
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  }));
  const seen = await allOf(api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 }));
  expect(seen).toEqual([
    { type: 'ADDED', object: OBJECT },
    { type: 'BOOKMARK', resourceVersion: '40' },
    { type: 'BOOKMARK', resourceVersion: '41', endsInitialEvents: true },
    { type: 'DELETED', object: OBJECT },
  ]);
  expect(urls()).toEqual([
    'GET /apis/mooring.dev/v1alpha1/toys?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300',
  ]);
});

test.each([
  { what: 'an answer', answer: status(410, 'Expired') },
  {
    what: 'an event',
    answer: { status: 200, body: `${JSON.stringify({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })}\n` },
  },
])('A watch from a version that is too old throws Gone, said by $what', async ({ answer }) => {
  const { api, transport } = aClient(() => answer);
  const error = await errorOf(allOf(api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 })));
  expect(error).toMatchObject({ status: 410 });
  expect([error instanceof KubeError, isGone(error), transport.released()]).toEqual([true, true, 1]);
});

test('A watch that breaks inside a line gives what was complete, and one with nonsense in a line counts as broken', async () => {
  const line = `${JSON.stringify({ type: 'ADDED', object: OBJECT })}\n`;
  const cut = aClient(() => ({ status: 200, body: `${line}{"type":"ADD`, breaks: new HttpError('lost', 'reset') }));
  const seen: unknown[] = [];
  const follow = async (api: typeof cut.api) => {
    for await (const event of api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 })) seen.push(event);
  };
  expect(await errorOf(follow(cut.api))).toMatchObject({ kind: 'lost' });
  expect(seen).toHaveLength(1);
  const nonsense = aClient(() => ({ status: 200, body: `${line}<html>\n` }));
  expect(await errorOf(follow(nonsense.api))).toMatchObject({ kind: 'lost' });
});

test.each<[string, (api: ReturnType<typeof createKubeClient>, signal: AbortSignal) => Promise<unknown>]>([
  ['get', (api, signal) => api.get(TOYS, REF, signal)],
  ['list', (api, signal) => api.list(TOYS, {}, signal)],
  ['watch', (api, signal) => allOf(api.watch(TOYS, { resourceVersion: '1', timeoutSeconds: 1 }, signal))],
  ['create', (api, signal) => api.create(TOYS, 'ns', OBJECT, signal)],
  ['patch', (api, signal) => api.patch(TOYS, REF, {}, undefined, signal)],
  ['delete', (api, signal) => api.delete(TOYS, REF, { uid: 'u' }, signal)],
  ['applyDryRun', (api, signal) => api.applyDryRun(TOYS, OBJECT, { force: false }, signal)],
  ['patchDryRun', (api, signal) => api.patchDryRun(TOYS, REF, {}, signal)],
])('%s() gives up when its caller does', async (_, call) => {
  const { api, transport } = aClient(() => new HttpError('aborted', 'Given up'));
  const { signal } = new AbortController();
  await errorOf(call(api, signal));
  expect(transport.requests.map((request) => request.signal)).toEqual([signal]);
});

test('delete() says whether the object existed', async () => {
  expect(await aClient(() => ({ status: 200, body: {} })).api.delete(TOYS, REF, { uid: 'u' })).toBe(true);
  expect(await aClient(() => status(404, 'NotFound')).api.delete(TOYS, REF, { uid: 'u' })).toBe(false);
  expect(await errorOf(aClient(() => status(409, 'Conflict')).api.delete(TOYS, REF, { uid: 'u' }))).toMatchObject({
    status: 409,
  });
});

test('The client checks right before a write is sent whether it may be, and never when it only reads', async () => {
  const { api, transport } = aClient(() => ({ status: 200, body: { ...OBJECT, items: [] } }));
  await api.get(TOYS, REF);
  await api.list(TOYS, {});
  await api.create(SECRETS, 'ns', {});
  await api.patch(TOYS, REF, {});
  await api.delete(TOYS, REF, { uid: 'u' });
  const refusals = transport.requests.map(({ refusal }) => refusal?.());
  expect(refusals).toEqual([undefined, undefined, 'no secrets', 'no toys', 'no toys']);
});

test('watch() waits for a silent connection longer than the time between bookmarks, but not for ever', async () => {
  const { api, transport } = aClient(() => ({ status: 200, body: '' }));
  await allOf(api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 }));
  const { bodyMs = 0, totalMs = 0 } = transport.requests[0]?.timeouts ?? {};
  expect(bodyMs).toBeGreaterThan(2 * 60_000);
  expect(bodyMs).toBeLessThan(3 * 60_000);
  expect(totalMs).toBe(360_000);
});

test('watch() waits as long for the beginning of an answer that some proxies keep back until the first event, unless that comes at once', async () => {
  const { api, transport } = aClient(() => ({ status: 200, body: '' }));
  await allOf(api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 }));
  await allOf(api.watch(TOYS, { resourceVersion: undefined, sendInitialEvents: true, timeoutSeconds: 300 }));
  const [resumed, listed] = transport.requests.map(({ timeouts }) => timeouts);
  expect(resumed?.headersMs).toBe(resumed?.bodyMs);
  expect(listed?.headersMs).toBe(30_000);
});

test('watch() ends without an error if nothing more comes, as happens if nothing changes and no bookmarks are sent', async () => {
  const line = { type: 'MODIFIED', object: OBJECT };
  const broken = (isSilence: boolean) => new HttpError('lost', 'Body timeout', { isSilence });
  const { api } = aClient((_, count) => ({
    status: 200,
    body: `${JSON.stringify(line)}\n`,
    breaks: broken(count === 0),
  }));
  const watch = () => allOf(api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 }));
  expect(await watch()).toMatchObject([line]);
  expect(await errorOf(watch())).toMatchObject({ kind: 'lost' });
});

test.each([
  ['refuses connections', new HttpError('unreachable', 'Connection refused')],
  ['accepts and resets them', new HttpError('lost', 'Connection reset', { isUnanswered: true })],
])('Reflectors wait for their turn while the API server %s, and nothing else does', async (_, error) => {
  const clock = virtualClock();
  let isAway = true;
  const { api, urls } = aClient(
    () => (isAway ? error : { status: 200, body: OBJECT }),
    new Reachability({ clock, random: noChance }),
  );
  const { signal } = new AbortController();
  const turns: [number, boolean][] = [];
  const onTurn = (isReached: boolean) => turns.push([clock.monotonic(), isReached]);
  const list = () => errorOf(api.list(TOYS, { onTurn }, signal));
  const watch = () => errorOf(allOf(api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300, onTurn }, signal)));
  await list();
  await errorOf(api.get(TOYS, REF, signal));
  await errorOf(api.list(TOYS, {}, signal));
  await errorOf(api.patch(TOYS, REF, {}, undefined, signal));
  const waiting = [list(), watch(), list()];
  await clock.settle();
  expect(urls()).toHaveLength(4);
  await clock.advance(1_000);
  expect(urls()).toHaveLength(5);
  isAway = false;
  await api.get(TOYS, REF, signal);
  await clock.advance(0);
  await Promise.all(waiting);
  expect(urls()).toHaveLength(8);
  expect(turns).toEqual([
    [0, true],
    [1_000, false],
    [1_000, true],
    [1_000, true],
  ]);
});

test('A write that should not be sent does not count as a sign of whether the API server is reachable', async () => {
  const refused = withheld('another process may lead by now');
  const { api, urls } = aClient(() => refused, new Reachability({ clock: virtualClock(), random: noChance }));
  await errorOf(api.patch(TOYS, REF, {}));
  await errorOf(api.list(TOYS, { onTurn: () => {} }, new AbortController().signal));
  expect(urls()).toHaveLength(2);
});

test('A List that breaks in its answer does not count as a sign of whether the API server is reachable', async () => {
  const breaks = new HttpError('lost', 'Connection reset');
  const { api, urls } = aClient(
    () => ({ status: 200, body: '{', breaks }),
    new Reachability({ clock: virtualClock(), random: noChance }),
  );
  const list = () => errorOf(api.list(TOYS, { onTurn: () => {} }, new AbortController().signal));
  expect([await list(), await list(), urls().length]).toEqual([breaks, breaks, 2]);
});

test.each([{ message: 'Down for maintenance' }, {}, { metadata: { resourceVersion: 7 }, items: [] }])(
  'The client does not treat 200 with %j as a list, as an empty list would be news',
  async (body) => {
    const { api } = aClient(() => ({ status: 200, body }));
    expect(await errorOf(api.list(TOYS, {}))).toMatchObject({ kind: 'lost', message: 'The answer is not a list' });
  },
);

test('A watch whose bookmark has no version is broken: continuing from nowhere would miss what happened', async () => {
  const line = `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Toy' } })}\n`;
  const { api } = aClient(() => ({ status: 200, body: line }));
  const error = await errorOf(allOf(api.watch(TOYS, { resourceVersion: '7', timeoutSeconds: 300 })));
  expect(error).toMatchObject({ kind: 'lost' });
});

test("The client passes on the API server's warnings, without the values of a Secret and the token", async () => {
  const told: Warning[] = [];
  const values = { password: 'a-secret-value-17', token: 'a-token-of-the-operator' };
  const encoded = Buffer.from(values.password).toString('base64');
  const api = createKubeClient({
    server: 'https://api.test',
    transport: scriptedTransport(() => ({
      status: 200,
      headers: { warning: `299 - "${values.password} is short", 299 - "${encoded}", 299 - "${values.token} is old"` },
      body: OBJECT,
    })),
    authorize: async () => ({ authorization: `Bearer ${values.token}` }),
    userAgent: 'mooring/test',
    onWarning: (warning) => told.push(warning),
  });
  await api.create(SECRETS, 'ns', { data: { password: encoded } });
  expect(told).toMatchObject([{ verb: 'create', resource: 'secrets' }, {}, {}]);
  const texts = told.map(({ text }) => text).join('\n');
  expect(texts).toMatch(/ is short\n.*\n.* is old$/);
  for (const value of [values.password, encoded, values.token]) expect(texts).not.toContain(value);
});

test('The client does not pass on a warning about a Secret whose values are not all in the request', async () => {
  const told: Warning[] = [];
  const api = createKubeClient({
    server: 'https://api.test',
    transport: scriptedTransport(() => ({
      status: 200,
      headers: { warning: '299 - "the password is a-secret-value-17"' },
      body: OBJECT,
    })),
    authorize: async () => ({}),
    userAgent: 'mooring/test',
    onWarning: (warning) => told.push(warning),
  });
  const ref = { namespace: 'ns', name: 'login' };
  await api.patch(SECRETS, ref, { metadata: { labels: { a: 'b' } } });
  await api.delete(SECRETS, ref, { uid: 'one' });
  expect(told).toEqual([]);
  await api.patch(TOYS, ref, {});
  expect(told).toMatchObject([{ verb: 'patch', resource: 'toys' }]);
});
