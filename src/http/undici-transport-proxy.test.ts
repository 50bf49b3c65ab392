import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FIRST, SECOND } from '../../test/support/certificates.ts';
import { readText } from '../base/transport.ts';
import { createUndiciTransport } from './undici-transport.ts';

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A server with the first certificate, and a proxy that connects every name to it, or answers everything with `refusal`, or nothing. */
async function bench(refusal?: number, isSilent = () => false) {
  const target = await listening(
    createServer({ ...FIRST }, (request, response) => response.end(`to ${request.headers.host}`)),
  );
  const asked: string[] = [];
  const proxy = createProxy().on('connect', (request, socket: Socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    if (isSilent()) return socket.on('error', () => {});
    if (refusal !== undefined) return socket.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    const there = connect(target, '127.0.0.1');
    there.on('error', () => socket.destroy());
    socket.on('error', () => there.destroy());
    socket.write('HTTP/1.1 200 Established\r\n\r\n');
    return socket.pipe(there).pipe(socket);
  });
  const port = await listening(proxy);
  const ask = async (ca: string, url = 'https://127.0.0.1:6443/', serverName?: string) => {
    const transport = createUndiciTransport({
      ca,
      serverName,
      proxy: `http://me:sesame@127.0.0.1:${port}`,
    });
    onTestFinished(() => transport.close());
    return readText(await transport({ method: 'GET', url, refusal: () => undefined }), 100);
  };
  return { ask, asked, port };
}

test('a proxy reaches a server whose name does not resolve, and the server is trusted by its own certificate', async () => {
  const { ask, asked } = await bench();
  expect(await ask(FIRST.cert, 'https://nowhere.test:6443/', 'localhost')).toBe('to nowhere.test:6443');
  expect(asked).toEqual([`nowhere.test:6443 Basic ${btoa('me:sesame')}`]);
  expect(await ask(FIRST.cert)).toBe('to 127.0.0.1:6443');
  await expect(ask(FIRST.cert, 'https://nowhere.test:6443/')).rejects.toThrow(/ALTNAME/);
  await expect(ask(SECOND.cert)).rejects.toThrow(/self-signed|SELF_SIGNED/);
});

test('a refusal by a proxy is reported, without its password', async () => {
  const { ask } = await bench(403);
  const error = await ask(FIRST.cert).catch((reason: unknown) => reason);
  expect(String(error)).toMatch(/The proxy does not connect there \(403\)/);
  expect(error).toMatchObject({ kind: 'unreachable' });
  expect(String(error)).not.toContain('sesame');
});

test('a proxy that is not there is named as the proxy, without its login', async () => {
  const closed = createProxy();
  const port = await listening(closed);
  await new Promise((resolve) => closed.close(resolve));
  const transport = createUndiciTransport({ proxy: `http://me:sesame@127.0.0.1:${port}` });
  onTestFinished(() => transport.close());
  await expect(transport({ method: 'GET', url: 'https://nowhere.test/' })).rejects.toMatchObject({
    kind: 'unreachable',
    isUnanswered: true,
    isProxied: true,
    message: `GET https://nowhere.test: connect ECONNREFUSED 127.0.0.1:${port}, through the proxy http://127.0.0.1:${port}`,
  });
});

test('a proxy that answers CONNECT with a page is asked once, and said to', async () => {
  let asked = 0;
  const proxy = createProxy().on('connect', (_, socket: Socket) => {
    asked++;
    socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>Sign in</html>');
  });
  const transport = createUndiciTransport({ proxy: `http://127.0.0.1:${await listening(proxy)}` });
  onTestFinished(() => transport.close());
  for (const url of ['http://cloud.test/', 'https://cloud.test/']) {
    asked = 0;
    await expect(transport({ method: 'GET', url, timeouts: { totalMs: 3_000 } })).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/The proxy answers CONNECT itself instead of connecting/),
    });
    expect(asked).toBe(1);
  }
});

test('a proxy that did not answer holds up later requests for no longer than a connection may take', async () => {
  let isSilent = true;
  const { port, asked } = await bench(undefined, () => isSilent);
  const transport = createUndiciTransport({
    ca: FIRST.cert,
    proxy: `http://me:sesame@127.0.0.1:${port}`,
    connections: 1,
  });
  onTestFinished(() => transport.close());
  const ask = (totalMs: number) => transport({ method: 'GET', url: 'https://127.0.0.1:6443/', timeouts: { totalMs } });
  await expect(ask(100)).rejects.toThrow(/No connection in time/);
  isSilent = false;
  // It waits for the same tunnel.
  await expect(ask(10_000)).rejects.toMatchObject({ kind: 'unreachable' });
  expect(await readText(await ask(10_000), 100)).toBe('to 127.0.0.1:6443');
  expect(asked.length).toBe(2);
}, 15_000);

test('a proxy gets as long to connect as it is given', async () => {
  const { port } = await bench(undefined, () => true);
  const proxy = `http://me:sesame@127.0.0.1:${port}`;
  const transport = createUndiciTransport({ ca: FIRST.cert, proxy, proxyAnswerMs: 100 });
  onTestFinished(() => transport.close());
  const request = { method: 'GET', url: 'https://127.0.0.1:6443/', timeouts: { totalMs: 4_000 } } as const;
  await expect(transport(request)).rejects.toThrow(/Headers Timeout/);
});

test('requests connect side by side to a proxy that is reached by TLS, too', async () => {
  const REQUESTS = 3;
  const connected = Promise.withResolvers<void>();
  let connections = 0;
  const port = await listening(
    createPlainServer((socket) => {
      socket.on('error', () => {});
      if (++connections === REQUESTS) connected.resolve();
    }),
  );
  const transport = createUndiciTransport({ proxy: `https://localhost:${port}` });
  onTestFinished(() => transport.close());
  const url = 'https://nowhere.test/';
  const ended = Promise.race(Array.from({ length: REQUESTS }, () => transport({ method: 'GET', url })));
  await Promise.race([connected.promise, ended]);
});

test('a proxy that is reached by TLS may be named by its address, and must be trusted, whatever the environment says', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const asked: string[] = [];
  const proxy = createServer({ ...FIRST }).on('connect', (request, socket: Socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    socket.destroy();
  });
  const port = await listening(proxy);
  for (const host of ['localhost', '127.0.0.1']) {
    const transport = createUndiciTransport({ proxy: `https://me:sesame@${host}:${port}` });
    onTestFinished(() => transport.close());
    // A space's caBundle would not help.
    await expect(transport({ method: 'GET', url: 'https://nowhere.test/' })).rejects.toMatchObject({
      kind: 'unreachable',
      isUntrusted: false,
      message: expect.stringMatching(/^The proxy's certificate is not trusted: .*NODE_EXTRA_CA_CERTS/),
    });
  }
  expect(asked).toEqual([]);
});
