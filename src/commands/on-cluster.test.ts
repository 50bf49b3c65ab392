import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HttpError } from '../base/http.ts';
import { KubeError } from '../kube/api.ts';
import { explained } from './on-cluster.ts';
import { status } from './status.ts';

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
