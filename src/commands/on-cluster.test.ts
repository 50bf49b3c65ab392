import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HttpError, type HttpResponse } from '../base/transport.ts';
import { KubeError } from '../kube/api.ts';
import { NoKubeconfigError } from '../kube/connection/config.ts';
import type { CommandIO } from './command.ts';
import { explained, inTurns } from './on-cluster.ts';
import { COMMANDS } from './table.ts';

interface Setting {
  readonly signal?: AbortSignal;
  readonly server?: string;
  readonly name?: string;
  /** The kubeconfig is the default one, and no variable names it. */
  readonly isDefault?: boolean;
  readonly proxy?: string;
  readonly user?: object;
}

/** Runs the command `name` with the kubeconfig of a cluster where nothing listens. */
async function run(
  args: readonly string[],
  {
    signal = new AbortController().signal,
    server = 'https://127.0.0.1:1',
    name = 'status',
    isDefault = false,
    proxy,
    user = { token: 'abc' },
  }: Setting = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-on-cluster-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, '.kube'));
  const path = join(folder, '.kube', 'config');
  const config = {
    clusters: [{ name: 'main', cluster: { server, 'proxy-url': proxy, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'main', context: { cluster: 'main', user: 'me' } }],
    'current-context': 'main',
  };
  writeFileSync(path, JSON.stringify(config));
  let stdout = '';
  let stderr = '';
  const io = {
    stdout: (text: string) => {
      stdout += text;
    },
    stderr: (text: string) => {
      stderr += text;
    },
    env: isDefault ? { HOME: folder } : { KUBECONFIG: path },
    signal,
  };
  const command = await COMMANDS[name]?.load();
  return { code: await command?.(args, io), stderr, stdout };
}

/**
 * An API server with no objects and no namespace but `default`, and the paths and headers that were requested. `hasKinds`: whether
 * ours are installed. `isBusy`: whether it puts the first request off.
 */
async function anEmptyServer(hasKinds = true, hasCluster = false, isBusy = false) {
  const asked: string[] = [];
  const headers: IncomingMessage['headersDistinct'][] = [];
  const server = createServer(({ url = '', headersDistinct }, response) => {
    headers.push(headersDistinct);
    const path = url.split('?')[0] ?? '';
    asked.push(path);
    if (isBusy && asked.length === 1) return response.writeHead(429, { 'retry-after': '0' }).end();
    const isList = hasKinds && path.startsWith('/apis/') && path.endsWith('s');
    const isThere = path === '/api/v1/namespaces/default' || isList;
    const metadata = { name: 'orders', namespace: 'default', uid: 'u', resourceVersion: '1' };
    const items = hasCluster && path.endsWith('/databaseclusters') ? [{ metadata, spec: {} }] : [];
    const found = path.startsWith('/api/')
      ? { metadata: { name: 'default' } }
      : { metadata: { resourceVersion: '1' }, items };
    const status = { kind: 'Status', message: 'not found', reason: 'NotFound', code: 404 };
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(isThere ? found : status));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.address();
  return { server: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, asked, headers };
}

test('A command says what to check if an API server does not answer', async () => {
  const { code, stderr } = await run([]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The API server does not answer: .*ECONNREFUSED.*\nCheck --kubeconfig and --context/);
});

test('A command names the proxy if that does not answer, and where it is set', async () => {
  const proxy = 'http://me:sesame@127.0.0.1:1';
  const { code, stderr } = await run([], { proxy, server: 'https://kubernetes.test' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/ECONNREFUSED 127\.0\.0\.1:1, through the proxy http:\/\/127\.0\.0\.1:1\n/);
  expect(stderr).toMatch(
    /\nCheck --kubeconfig and --context, the proxy \(proxy-url of the kubeconfig, otherwise HTTPS_PROXY/,
  );
});

test('A command asks an API server again that puts it off', async () => {
  const { server, asked } = await anEmptyServer(true, false, true);
  expect(await run([], { server })).toMatchObject({ code: 0 });
  expect(asked.filter((path) => path === asked[0])).toHaveLength(2);
});

test('A command shows what was typed or read as text, whatever it contains', async () => {
  const { stderr } = await run(['pod\u001B[2J/x']);
  expect(stderr).toContain('There is no kind "pod\\u001b[2J"');
});

test('A command that is interrupted says no more than that', async () => {
  const aborted = new AbortController();
  aborted.abort();
  expect(await run([], { signal: aborted.signal })).toEqual({ code: 130, stderr: 'Interrupted.\n', stdout: '' });
});

test('A command treats an empty flag of the connection as absent, as kubectl does, and not as all namespaces', async () => {
  const { server, asked } = await anEmptyServer();
  expect(await run(['--namespace=', '--context=', '--kubeconfig='], { server })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('found in namespace default.'),
  });
  const lists = asked.filter((path) => path.includes('mooring.dev'));
  expect(lists).toHaveLength(4);
  expect(lists.filter((path) => !path.includes('/namespaces/default/'))).toEqual([]);
});

test.each(['explain', 'suspend', 'status'])(
  '%s distinguishes a kind that is not installed from an object that does not exist',
  async (name) => {
    for (const hasKinds of [true, false]) {
      const { server } = await anEmptyServer(hasKinds);
      const told = hasKinds ? /order does not exist: check its name/ : /Mooring's resources are not installed here/;
      expect(await run(['dbc/order'], { server, name })).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(told),
      });
    }
  },
);

test.each(['explain', 'suspend', 'status'])('%s says which object may be meant', async (name) => {
  const { server } = await anEmptyServer(true, true);
  expect((await run(['dbc/order'], { server, name })).stderr).toMatch(
    /order does not exist: check its name and --namespace; .* lists what exists\. Did you mean "orders"\?\n$/,
  );
});

test.each(['status', 'plan'])('%s of a namespace that does not exist fails, for programs too', async (name) => {
  const { server } = await anEmptyServer();
  for (const output of [[], ['--output=json'], ['--output=yaml']])
    expect([output, await run(['--namespace=typo', ...output], { server, name })]).toMatchObject([
      output,
      { code: 1, stderr: expect.stringContaining('There is no such namespace.') },
    ]);
  const { code, stdout, stderr } = await run(['--output=json'], { server, name });
  expect([code, stderr, JSON.parse(stdout)]).toMatchObject([0, '', {}]);
});

test('A command acts as whom --as and --as-group name, and suggests commands that do', async () => {
  const { server, headers } = await anEmptyServer();
  const { stderr } = await run(['dbc/order', '--as=jane', '--as-group=dev', '--as-group=ops'], { server });
  expect(headers[0]).toMatchObject({ 'impersonate-user': ['jane'], 'impersonate-group': ['dev', 'ops'] });
  expect(stderr).toContain(' --as jane --as-group dev --as-group ops');
});

test.each(['as', 'as-group'])('A command names --%s if no header can hold its value', async (flag) => {
  expect(await run(['--as=jane', `--${flag}=jane\nsmith`])).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      new RegExp(
        `^--${flag} cannot be "jane\\\\nsmith": leave out the end of the line, and other control characters\n`,
      ),
    ),
  });
});

test('A command names whom it acts as in UTF-8, as kubectl does', async () => {
  const { server, headers } = await anEmptyServer();
  await run(['--as=jürgen', '--as-group=日本'], { server });
  const { 'impersonate-user': users, 'impersonate-group': groups } = headers[0] ?? {};
  expect([users, groups].map((names) => Buffer.from(names?.[0] ?? '', 'latin1').toString())).toEqual([
    'jürgen',
    '日本',
  ]);
});

test('A command gives up an API server that does not answer within --request-timeout', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => silent.closeAllConnections());
  onTestFinished(() => void silent.close());
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  expect(await run(['--request-timeout=100ms'], { server })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The API server does not answer'),
  });
});

test('A command sends no more requests than it has connections: waiting for one does not count to --request-timeout', async () => {
  const answers: ((response: HttpResponse) => void)[] = [];
  const transport = inTurns(() => new Promise((resolve) => answers.push(resolve)), 100);
  const all = Array.from({ length: 20 }, () => transport({ method: 'GET', url: 'https://api.test/' }));
  await vi.waitFor(() => expect(answers).toHaveLength(16));
  const response = { status: 200, headers: {}, body: (async function* () {})() };
  for (let count = 0; count < 20; count++) {
    await vi.waitFor(() => expect(answers.length).toBeGreaterThan(count));
    answers[count]?.(response);
  }
  expect(await Promise.all(all)).toHaveLength(20);
});

test('A command takes a --request-timeout as kubectl does: a number alone counts seconds, and 0 is no limit', async () => {
  const { server } = await anEmptyServer();
  for (const text of ['', '0', '10', '1m30s', '1000h']) {
    expect(await run([`--request-timeout=${text}`], { server })).toMatchObject({ code: 0 });
  }
});

test('A command that is called wrongly ends with 2, or with 1 if 2 is a regular answer', async () => {
  expect(await run(['--what'])).toMatchObject({ code: 2, stderr: expect.stringContaining("Unknown option '--what'") });
  expect(await run(['--exit-code'])).toMatchObject({ code: 1 });
});

test.each([
  ['status', ['--output=xml'], '--output cannot be "xml": use json or yaml'],
  ['status', ['--request-timeout=soon'], '--request-timeout cannot be "soon": write it like 30s'],
  ['status', ['--watch', '--output=json'], '--watch shows text only'],
  ['explain', [], 'Name one object'],
  ['explain', ['pod/x'], 'There is no kind "pod"'],
  ['plan', ['--output=xml'], '--output cannot be "xml"'],
  ['plan', ['--allowed-base-urls=cloud.example.com'], '--allowed-base-urls must be http or https URLs'],
  ['plan', ['--delete'], 'Name the objects to delete'],
  ['plan', ['--filename=/no/such.yaml'], '/no/such.yaml cannot be read'],
  ['export', [], 'Name a DatabaseSpace'],
  ['query', ['orders'], 'Name a DatabaseCluster and one query'],
  ['query', ['orders', 'match $p isa person;', '--server=nowhere'], '--server cannot be "nowhere"'],
  ['shell', [], 'Name a DatabaseCluster'],
  ['rotate', ['pod/x'], 'There is no kind "pod"'],
  ['suspend', ['dbu/app'], 'suspend does not work on a DatabaseUser,'],
  ['pause', ['dbu/app', '--timeout=soon'], '--timeout cannot be "soon"'],
  ['pause', ['dbu/app', '--timeout=0s'], '--timeout cannot be "0s": use --no-wait'],
])('%s %j is called wrongly, wherever its cluster is', async (name, args, told) => {
  let stderr = '';
  const io: CommandIO = {
    stdout: () => {},
    stderr: (text) => {
      stderr += text;
    },
    env: { KUBECONFIG: '/no/such/kubeconfig' },
    signal: new AbortController().signal,
  };
  const command = await COMMANDS[name]?.load();
  expect([await command?.(args, io), stderr]).toEqual([2, expect.stringContaining(told)]);
});

test('A command takes the default kubeconfig in a pod too, as kubectl does', async () => {
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '127.0.0.1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { server, asked } = await anEmptyServer();
  expect(await run([], { server, isDefault: true })).toMatchObject({ code: 0 });
  expect(asked.length).toBeGreaterThan(0);
});

test('A command says how to name another kubeconfig if there is none', () => {
  expect(explained(new NoKubeconfigError('There is no kubeconfig /nope'))).toBe(
    'There is no kubeconfig /nope: name one with --kubeconfig or KUBECONFIG',
  );
});

test.each([
  ['list', 'databaseclusters', 'mooring.dev', /ask for it, for example with the role mooring-view \(deploy/],
  ['patch', 'databaseusers', 'mooring.dev', /ask for it, for example with the role mooring-edit \(deploy/],
  ['get', 'secrets', '', /ask for it \(no role of Mooring has it\), or name another namespace with --namespace$/],
])('A command says which role grants the right to %s %s', (verb, resource, group, told) => {
  const message = `User "eve" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "shop"`;
  expect(explained(new KubeError(message, { status: 403 }))).toMatch(told);
});

test('A command says so if the API server does not know who asks: no right would help', () => {
  const message =
    'User "system:anonymous" cannot list resource "databases" in API group "mooring.dev" in the namespace "shop"';
  expect(explained(new KubeError(message, { status: 403 }))).toMatch(
    /\nThe API server does not know who asks: .* expired/,
  );
});

test('A command names the certificates of the kubeconfig if they cannot be used', async () => {
  const user = { 'client-certificate-data': btoa('CERT'), 'client-key-data': btoa('KEY') };
  expect(await run([], { user })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The certificates or the key for the API server cannot be used: /),
  });
});

test('A command says how to do with less if a right in the whole cluster is missing', () => {
  const message = 'User "eve" cannot list resource "databases" in API group "mooring.dev" at the cluster scope';
  expect(explained(new KubeError(message, { status: 403 }))).toMatch(/, or leave out --all-namespaces$/);
});

test.each([
  ['Cannot list databaseclusters: the server could not find the requested resource', true],
  ['Cannot list databaseclusters: the API server has no such resource', true],
  ['Cannot patch databaseclusters: databaseclusters.mooring.dev "orders" not found', false],
  ['Cannot apply databaseclusters: namespaces "shop" not found', false],
])('A command says of "%s" whether the resources are not installed: %s', (message, isMissing) => {
  const told = explained(new KubeError(message, { status: 404 }));
  expect(told.includes("Mooring's resources are not installed here")).toBe(isMissing);
  expect(told).toContain(message);
});

test('A command does not say that there was no answer if the answer is too large', () => {
  expect(explained(new HttpError('tooLarge', 'Answer is larger than 256 bytes'))).toBe(
    'Answer is larger than 256 bytes',
  );
});

test.each([429, 503, 504])('Of an API server that answers %i a person is told to try again', (status) => {
  const told = explained(new KubeError('Cannot list databases: starting', { status }));
  expect(told).toBe(
    `Cannot list databases: starting\nThe API server is busy or not well (${status}): try again in a while`,
  );
});
