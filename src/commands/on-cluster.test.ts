import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HttpError } from '../base/http.ts';
import { KubeError } from '../kube/api.ts';
import { NoKubeconfigError } from '../kube/config.ts';
import type { CommandIO } from './command.ts';
import { explained } from './on-cluster.ts';
import { status } from './status.ts';
import { COMMANDS } from './table.ts';

/** `mooring status` with the kubeconfig of a cluster where nobody listens. */
async function run(args: readonly string[], signal = new AbortController().signal) {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-on-cluster-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'kubeconfig');
  const config = {
    clusters: [{ name: 'main', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'me', user: { token: 'abc' } }],
    contexts: [{ name: 'main', context: { cluster: 'main', user: 'me' } }],
    'current-context': 'main',
  };
  writeFileSync(path, JSON.stringify(config));
  let stderr = '';
  const io = {
    stdout: () => {},
    stderr: (text: string) => {
      stderr += text;
    },
    env: { KUBECONFIG: path },
    signal,
  };
  return { code: await status(args, io), stderr };
}

test('A command says of an API server that does not answer what to check', async () => {
  const { code, stderr } = await run([]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The API server does not answer: .*ECONNREFUSED.*\nCheck --kubeconfig and --context/);
});

test('A command shows what was typed or read as text, whatever is in it', async () => {
  const { stderr } = await run(['pod\u001B[2J/x']);
  expect(stderr).toContain('There is no kind "pod\\u001b[2J"');
});

test('A command that is interrupted says no more than that', async () => {
  const aborted = new AbortController();
  aborted.abort();
  expect(await run([], aborted.signal)).toEqual({ code: 130, stderr: 'Interrupted.\n' });
});

test('A command that is called wrongly ends with 2, or with 1 where 2 is an answer', async () => {
  expect(await run(['--what'])).toMatchObject({ code: 2, stderr: expect.stringContaining("Unknown option '--what'") });
  expect(await run(['--exit-code'])).toMatchObject({ code: 1 });
});

test.each([
  ['status', ['--output=xml'], '--output cannot be "xml": use json or yaml'],
  ['status', ['--watch', '--output=json'], '--watch is for people'],
  ['explain', [], 'Name one object'],
  ['explain', ['pod/x'], 'There is no kind "pod"'],
  ['plan', ['--output=xml'], '--output cannot be "xml"'],
  ['plan', ['--delete'], 'Say which objects are to be deleted'],
  ['plan', ['--filename=/no/such.yaml'], '/no/such.yaml cannot be read'],
  ['export', [], 'Name a DatabaseSpace'],
  ['query', ['orders'], 'Name a DatabaseCluster and one query'],
  ['query', ['orders', 'match $p isa person;', '--server=nowhere'], '--server cannot be "nowhere"'],
  ['shell', [], 'Name a DatabaseCluster'],
  ['rotate', ['pod/x'], 'There is no kind "pod"'],
  ['suspend', ['dbu/app'], 'A DatabaseUser cannot be changed by suspend'],
  ['pause', ['dbu/app', '--timeout=soon'], '--timeout cannot be "soon"'],
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

test('A command says of a kubeconfig that is not there how to name another', () => {
  expect(explained(new NoKubeconfigError('There is no kubeconfig /nope'))).toBe(
    'There is no kubeconfig /nope: name one with --kubeconfig or KUBECONFIG',
  );
});

test.each([
  ['list', 'databaseclusters', 'mooring.dev', /granted, for example by the role mooring-view \(deploy/],
  ['patch', 'databaseusers', 'mooring.dev', /granted, for example by the role mooring-edit \(deploy/],
  ['get', 'secrets', '', /granted \(no role of Mooring holds it\), or name another namespace with --namespace$/],
])('A command says by which role the right to %s %s is granted', (verb, resource, group, told) => {
  const message = `User "eve" cannot ${verb} resource "${resource}" in API group "${group}" in the namespace "shop"`;
  expect(explained(new KubeError(message, { status: 403 }))).toMatch(told);
});

test('A command says of a right that is missing in the whole cluster how to do with less', () => {
  const message = 'User "eve" cannot list resource "databases" in API group "mooring.dev" at the cluster scope';
  expect(explained(new KubeError(message, { status: 403 }))).toMatch(/, or leave out --all-namespaces$/);
});

test('A command does not say of an answer that is too large that there was none', () => {
  expect(explained(new HttpError('tooLarge', 'Answer is larger than 256 bytes'))).toBe(
    'Answer is larger than 256 bytes',
  );
});
