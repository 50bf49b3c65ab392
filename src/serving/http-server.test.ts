import { Server } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readText } from '../base/transport.ts';
import { createUndiciTransport } from '../http/undici-transport.ts';
import { parseAddress, serve } from './http-server.ts';

test.each([
  [':8080', undefined, 8080],
  ['127.0.0.1:0', '127.0.0.1', 0],
  ['localhost:65535', 'localhost', 65_535],
  ['[::1]:9', '::1', 9],
])('parseAddress() reads %s', (text, host, port) => {
  expect(parseAddress(text)).toEqual({ host, port });
});

test.each(['', '8080', 'host', 'host:', 'host:x', ':65536', ':-1', '::1:80', 'http://host:80'])(
  'parseAddress() refuses "%s"',
  (text) => {
    expect(() => parseAddress(text)).toThrow(RangeError);
  },
);

async function aServer() {
  const server = await serve('127.0.0.1:0', {
    '/ok': () => ({ status: 200, contentType: 'text/plain', body: 'fine' }),
    '/bad': () => ({ status: 503, contentType: 'text/plain', body: 'not yet' }),
    '/broken': () => Promise.reject(new Error('Cannot collect')),
  });
  const transport = createUndiciTransport();
  const ask = async (path: string, method: 'GET' | 'POST' = 'GET') => {
    const response = await transport({ method, url: `http://${server.address}${path}` });
    return `${response.status} ${await readText(response, 1000)}`;
  };
  return { server, ask, close: () => Promise.all([server.close(), transport.close()]) };
}

test('serve() answers for its pages, and for nothing else', async () => {
  const { ask, close } = await aServer();
  expect(await ask('/ok')).toBe('200 fine');
  expect(await ask('/ok?probe=1')).toBe('200 fine');
  expect(await ask('/bad')).toBe('503 not yet');
  expect(await ask('/broken')).toBe('500 Cannot collect');
  expect(await ask('/other')).toBe('404 ');
  expect(await ask('/toString')).toBe('404 ');
  expect(await ask('/ok', 'POST')).toBe('405 ');
  await close();
});

test('serve() answers HEAD as GET, without the page, and says what else a page takes', async () => {
  const { server, close } = await aServer();
  const head = await fetch(`http://${server.address}/bad`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([503, 'text/plain', '']);
  const post = await fetch(`http://${server.address}/ok`, { method: 'POST' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  await close();
});

test('serve() says so when the address is taken, and frees it when closed', async () => {
  const { server, close } = await aServer();
  await expect(serve(server.address, {})).rejects.toThrow('EADDRINUSE');
  await close();
  const next = await serve(server.address, {});
  await next.close();
});

test('serve() goes on when connections cannot be accepted, as when no file descriptors are left', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  const { ask, close } = await aServer();
  const server = listen.mock.contexts[0] as Server;
  for (let count = 0; count < 3; count++) server.emit('error', new Error('accept EMFILE'));
  expect(await ask('/ok')).toBe('200 fine');
  await close();
});
