import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { readText } from '../base/transport.ts';
import { transportsFor } from './transports.ts';

// A connection pool takes no time to make for a name; for a set of certificates it does.
const askForOthers = ({ of }: ReturnType<typeof transportsFor>) => {
  for (let index = 0; index < 40; index++) of(undefined, `other-${index}`);
};

test('transportsFor() has one transport for each set of certificates and name, as long as it is used', () => {
  const transports = transportsFor('mooring/test', {});
  const first = transports.of(undefined, 'first');
  expect(transports.of(undefined, 'other-0')).not.toBe(first);
  askForOthers(transports);
  expect(transports.of(undefined, 'first')).toBe(first);
});

test('transportsFor() drops a transport that is not used and was last requested before many others', async () => {
  setFlagsFromString('--expose-gc');
  const transports = transportsFor('mooring/test', {});
  const first = new WeakRef(transports.of(undefined, 'first'));
  askForOthers(transports);
  // A WeakRef that was dereferenced is kept until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  runInNewContext('gc')();
  expect(first.deref()).toBeUndefined();
});

test('transportsFor() lets requests that hang hold up no others to the same origin, such as a gateway to all servers', async () => {
  const waiting = Promise.withResolvers<void>();
  const HANG = 100;
  let hanging = 0;
  const server = createServer(({ url }, response) => {
    if (url === '/well') response.end('ok');
    else if (++hanging === HANG) waiting.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transports = transportsFor('mooring/test', {});
  onTestFinished(async () => {
    await transports.close();
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const timeouts = { totalMs: 5_000 };
  const transport = transports.of(undefined);
  const ask = (path: string) => transport({ method: 'GET', url: `${origin}${path}`, timeouts });
  for (let each = 0; each < HANG; each++) ask('/hangs').catch(() => {});
  expect(await readText(await ask('/well'), 10)).toBe('ok');
  await waiting.promise;
});

test('transportsFor() goes through the proxy that the environment names', async () => {
  const proxy = createServer().on('connect', ({ url }, socket) => {
    socket.write('HTTP/1.1 200 Established\r\n\r\n');
    const body = `proxy to ${url}`;
    socket.on('data', () => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const transports = transportsFor('mooring/test', { HTTP_PROXY: `http://127.0.0.1:${port}` });
  onTestFinished(() => transports.close());
  const answer = await transports.of(undefined)({ method: 'GET', url: 'http://cloud.test/teams' });
  expect(await readText(answer, 100)).toBe('proxy to cloud.test:80');
});

test('transportsFor() names the client in each request: some firewalls let no other through', async () => {
  const seen = Promise.withResolvers<string | undefined>();
  const server = createServer(({ headers }, response) => {
    seen.resolve(headers['user-agent']);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const transports = transportsFor('mooring/1.2.3', {});
  await readText(await transports.of(undefined)({ method: 'GET', url: `http://127.0.0.1:${port}/` }), 10);
  await transports.close();
  expect(await seen.promise).toBe('mooring/1.2.3');
});
