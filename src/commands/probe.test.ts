import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { type HttpServer, serve } from '../serving/http-server.ts';
import { probe } from './probe.ts';

async function probed(...argv: readonly string[]) {
  const printed: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };
  const code = await probe(argv, {
    stdout: (text) => {
      printed.stdout += text;
    },
    stderr: (text) => {
      printed.stderr += text;
    },
    env: {},
    signal: new AbortController().signal,
  });
  return { code, ...printed };
}

function answering(status: number, body: string): Promise<HttpServer> {
  return serve('127.0.0.1:0', { '/readyz': () => ({ status, contentType: 'text/plain', body }) });
}

test('an answer of 200 counts as healthy', async () => {
  const server = await answering(200, 'ok\n');
  expect(await probed(`http://${server.address}/readyz`)).toEqual({ code: 0, stdout: '200 ok\n', stderr: '' });
  await server.close();
});

test.each([
  [503, 'Waiting for the first list of secrets\n', '/readyz', '503 Waiting for the first list of secrets\n'],
  [200, 'ok\n', '/elsewhere', '404 \n'],
])('any other answer does not, and is shown: %i %s', async (status, body, path, shown) => {
  const server = await answering(status, body);
  expect(await probed(`http://${server.address}${path}`)).toEqual({ code: 1, stdout: '', stderr: shown });
  await server.close();
});

test('an unreachable server does not either', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  const { code, stderr } = await probed(`http://127.0.0.1:${port}/readyz`);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/readyz does not answer: .*ECONNREFUSED/);
});

test.each([[[]], [['no url']], [['http://a', 'http://b']]])('called wrongly, with %j, it says how', async (argv) => {
  expect(await probed(...argv)).toMatchObject({ code: 2, stderr: expect.stringContaining('mooring probe URL') });
});

test('asked for help, it says how', async () => {
  expect(await probed('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('mooring probe URL') });
});
