import { createServer } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readText } from '../base/transport.ts';
import { createProxiedTransport } from './proxied-transport.ts';
import type { ConnectionGuard } from './undici-transport.ts';

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy that notes what it is asked for; it connects to a server by http whatever its name, and refuses all else. */
async function aProxy() {
  const asked: string[] = [];
  const note = (what: string, headers: NodeJS.Dict<string | string[]>) =>
    asked.push(`${what} ${headers['proxy-authorization']}`);
  const port = await listening(createServer((_, response) => response.end('by proxy')));
  const proxy = createServer((request, response) => {
    note(`${request.method} ${request.url}`, request.headers);
    response.writeHead(404).end();
  });
  proxy.on('connect', (request, socket: Socket) => {
    note(`CONNECT ${request.url}`, request.headers);
    if (request.url?.endsWith(':443')) return socket.end('HTTP/1.1 403 No\r\n\r\n');
    const there = connect(port, '127.0.0.1').on('error', () => socket.destroy());
    socket.on('error', () => there.destroy()).write('HTTP/1.1 200 Established\r\n\r\n');
    return socket.pipe(there).pipe(socket);
  });
  return { url: `http://me:sesame@127.0.0.1:${await listening(proxy)}`, asked };
}

/** A transport with this environment, as a function of the URL. */
function asking(env: NodeJS.ProcessEnv, guard?: ConnectionGuard) {
  const transport = createProxiedTransport({ guard }, env);
  onTestFinished(() => transport.close());
  return async (url: string) => readText(await transport({ method: 'GET', url }), 100);
}

test('requests go through the proxy for their scheme, which looks their names up and answers nothing itself', async () => {
  const { url, asked } = await aProxy();
  const ask = asking({ HTTPS_PROXY: url, HTTP_PROXY: url });
  expect(await ask('http://cloud.test/v1')).toBe('by proxy');
  await expect(ask('https://cloud.test/v1')).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringMatching(
      /^GET https:\/\/cloud\.test: The proxy does not connect there \(403\), through the proxy http:\/\/127\.0\.0\.1:\d+$/,
    ),
  });
  const login = `Basic ${btoa('me:sesame')}`;
  expect(asked).toEqual([`CONNECT cloud.test:80 ${login}`, `CONNECT cloud.test:443 ${login}`]);
});

test('what NO_PROXY names is reached directly, and so is this machine', async () => {
  const { url, asked } = await aProxy();
  const port = await listening(createServer((_request, response) => response.end('directly')));
  expect(await asking({ HTTP_PROXY: url })(`http://127.0.0.1:${port}`)).toBe('directly');
  const ask = asking({ HTTP_PROXY: url, NO_PROXY: '.db.test' });
  await expect(ask('http://orders.db.test')).rejects.toMatchObject({ message: expect.stringContaining('ENOTFOUND') });
  expect(asked).toEqual([]);
});

test('a proxy leads to no address that is refused, unless its origin is trusted', async () => {
  const { url, asked } = await aProxy();
  const guard: ConnectionGuard = {
    trusts: (origin) => origin === 'http://10.0.0.1',
    refusalOf: (host) => `${host} is private`,
  };
  const ask = asking({ HTTP_PROXY: url }, guard);
  await expect(ask('http://10.0.0.2')).rejects.toThrow('10.0.0.2 is private');
  await expect(ask('http://[fd00::1]')).rejects.toThrow('fd00::1 is private');
  expect(await ask('http://10.0.0.1')).toBe('by proxy');
  expect(await ask('http://cloud.test')).toBe('by proxy');
  expect(asked).toHaveLength(2);
});

test('a proxy that refuses its login, or is not there, is named without it', async () => {
  const closed = createServer();
  const port = await listening(closed);
  await new Promise((resolve) => closed.close(resolve));
  await expect(asking({ HTTP_PROXY: `http://me:sesame@127.0.0.1:${port}` })('http://cloud.test')).rejects.toMatchObject(
    {
      kind: 'unreachable',
      message: expect.stringMatching(/ECONNREFUSED.*, through the proxy http:\/\/127\.0\.0\.1:\d+$/),
    },
  );
  const refusing = createServer().on('connect', (_, socket) => socket.end('HTTP/1.1 407 No\r\n\r\n<h1>No</h1>'));
  const url = `http://me:sesame@127.0.0.1:${await listening(refusing)}`;
  await expect(asking({ HTTP_PROXY: url })('http://cloud.test')).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringMatching(
      /: The proxy refuses the login in its URL, or wants one \(407\), through the proxy http:\/\/127\.0\.0\.1:\d+$/,
    ),
  });
});

test('closing ends the connections to the proxy, too', async () => {
  const { url } = await aProxy();
  const transport = createProxiedTransport({}, { HTTP_PROXY: url });
  await readText(await transport({ method: 'GET', url: 'http://cloud.test' }), 100);
  await transport.close();
  await expect(transport({ method: 'GET', url: 'http://cloud.test' })).rejects.toThrow(/destroyed/i);
});
