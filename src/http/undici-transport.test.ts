import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HttpError, type HttpRequest, readText } from '../base/transport.ts';
import { createUndiciTransport } from './undici-transport.ts';

/** A server on loopback and a transport. Both end with the test. */
async function withServer(
  listener: RequestListener,
  work: (
    url: string,
    ask: (changes?: Partial<HttpRequest>) => Promise<string>,
    connections: () => number,
  ) => Promise<void>,
) {
  const server = createServer(listener);
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const transport = createUndiciTransport();
  const ask = async (changes: Partial<HttpRequest> = {}) => {
    const response = await transport({ method: 'GET', url, ...changes });
    return `${response.status} ${await readText(response, 1_000)}`;
  };
  try {
    await work(url, ask, () => connections);
  } finally {
    await transport.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function errorOf(promise: Promise<unknown>): Promise<HttpError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('It did not fail');
}

test('The transport sends method, headers and body, and returns status, headers and body', async () => {
  await withServer(
    async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      response.writeHead(201, { 'X-Twice': ['a', 'b'] });
      response.end(`${request.method} ${request.headers['x-mine']} ${body}`);
    },
    async (url) => {
      const transport = createUndiciTransport();
      const response = await transport({ method: 'PUT', url, headers: { 'x-mine': 'y' }, body: '{"ü":1}' });
      expect([response.status, response.headers['x-twice']]).toEqual([201, 'a, b']);
      expect(await readText(response, 1_000)).toBe('PUT y {"ü":1}');
      await transport.close();
    },
  );
});

test('The transport reuses connections', async () => {
  await withServer(
    (_request, response) => response.end('ok'),
    async (_url, ask, connections) => {
      for (let count = 0; count < 20; count++) expect(await ask()).toBe('200 ok');
      // A second connection is opened while the end of the first answer is still on its way.
      expect(connections()).toBeLessThanOrEqual(2);
    },
  );
});

test.each(['GET', 'POST'] as const)(
  'The transport sends a %s over a new connection if an idle one is reset before it takes the request',
  async (method) => {
    const sockets: Socket[] = [];
    const seen: string[] = [];
    await withServer(
      (request, response) => {
        sockets.push(request.socket);
        seen.push(String(request.method));
        response.end('ok');
      },
      async (_url, ask, connections) => {
        await ask();
        await new Promise((resolve) => setImmediate(resolve));
        for (const socket of sockets) socket.resetAndDestroy();
        expect(await ask({ method })).toBe('200 ok');
        expect([seen, connections()]).toEqual([['GET', method], 2]);
      },
    );
  },
);

test('The transport closes an idle connection, even if the server would keep it longer', async () => {
  const server = createServer({ keepAliveTimeout: 75_000 }, (_request, response) => response.end('ok'));
  const closed = new Promise<void>((resolve) => {
    server.on('connection', (socket) => socket.once('close', () => resolve()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createUndiciTransport({ keepAliveMs: 50 });
  onTestFinished(async () => {
    await transport.close();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const response = await transport({ method: 'GET', url });
  expect([response.headers['keep-alive'], await readText(response, 1_000)]).toEqual(['timeout=75', 'ok']);
  await closed;
});

test('The transport follows no redirect: credentials go only to the named host', async () => {
  let requests = 0;
  await withServer(
    (_request, response) => {
      requests++;
      response.writeHead(307, { location: '/elsewhere' }).end('moved');
    },
    async (_url, ask) => {
      expect(await ask({ headers: { authorization: 'Bearer x' } })).toBe('307 moved');
      expect(requests).toBe(1);
    },
  );
});

test('The transport knows that a request was not sent if nothing was listening', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const transport = createUndiciTransport();
  for (const url of [`http://127.0.0.1:${port}/`, 'http://no-such-host.invalid/', 'not a URL', 'ftp://host/']) {
    expect(await errorOf(transport({ method: 'GET', url })), url).toMatchObject({
      kind: 'unreachable',
      isUnanswered: true,
    });
  }
  await transport.close();
});

test('The transport knows that a request that broke after it was sent may have taken effect', async () => {
  await withServer(
    (request) => request.socket.destroy(),
    async (_url, ask) => {
      const error = await errorOf(ask({ method: 'POST', body: '{}' }));
      expect(error).toMatchObject({ kind: 'lost', isUnanswered: true });
    },
  );
});

test('The transport knows that a request that was sent may have taken effect, even if its host is out of reach since', async () => {
  const sockets: Socket[] = [];
  const note = (message: unknown) => sockets.push((message as { readonly socket: Socket }).socket);
  subscribe('net.client.socket', note);
  onTestFinished(() => void unsubscribe('net.client.socket', note));
  await withServer(
    () => {
      // As when the network drops a connection that is in use.
      for (const socket of sockets)
        socket.destroy(Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH' }));
    },
    async (_url, ask) => {
      const error = await errorOf(ask({ method: 'POST', body: '{}' }));
      expect(error.message).toContain('EHOSTUNREACH');
      expect(error).toMatchObject({ kind: 'lost', isUnanswered: true });
    },
  );
});

test.each([
  ['100 Continue', 'bad response: it sent 100 Continue unasked (UND_ERR_SOCKET)'],
  [
    '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c',
    'bad upgrade: it sent 101 Switching Protocols unasked (UND_ERR_SOCKET)',
  ],
])('The transport says what it cannot read of an answer that begins with %s', async (status, says) => {
  const server = createSocketServer((socket) =>
    socket.once('data', () => socket.end(`HTTP/1.1 ${status}\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n`)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const transport = createUndiciTransport();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const error = await errorOf(transport({ method: 'POST', url, body: '{}' }));
  expect(error.kind).toBe('lost');
  expect(error.message).toContain(says);
  await transport.close();
});

test('The transport distinguishes an answer that breaks off from a complete one', async () => {
  await withServer(
    (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    },
    async (_url, ask) => {
      expect(await errorOf(ask())).toMatchObject({ kind: 'lost', isUnanswered: false });
    },
  );
});

test('The transport keeps to its time limits: for headers, between pieces, and in total', async () => {
  await withServer(
    (request, response) => {
      if (request.url === '/body') response.write('start');
      if (request.url !== '/drip') return;
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    },
    async (url, ask) => {
      for (const [path, timeouts, isUnanswered] of [
        ['headers', { headersMs: 100 }, true],
        ['headers', { totalMs: 100 }, true],
        ['body', { bodyMs: 100 }, false],
        ['drip', { totalMs: 200 }, false],
      ] as const) {
        const error = await errorOf(ask({ url: `${url}${path}`, timeouts }));
        expect(error, path).toMatchObject({ kind: 'lost', isUnanswered, isSilence: path === 'body' });
      }
    },
  );
});

test('The transport gives each request a minute in total, unless the request says otherwise', async () => {
  const limits = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => limits.mockRestore());
  const totalOf = async (ask: () => Promise<unknown>) => {
    limits.mockClear();
    await ask();
    return limits.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 60_000 || ms === 7_777);
  };
  await withServer(
    (_, response) => response.end('ok'),
    async (_, ask) => {
      expect(await totalOf(() => ask())).toEqual([60_000]);
      expect(await totalOf(() => ask({ timeouts: { headersMs: 5_000 } }))).toEqual([60_000]);
      expect(await totalOf(() => ask({ timeouts: { totalMs: 7_777 } }))).toEqual([7_777]);
    },
  );
});

test('The transport knows that a request whose time ran out before it had a connection was not sent', async () => {
  const seen: string[] = [];
  const server = createServer(({ method = '' }) => void seen.push(method));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createUndiciTransport({ connections: 1 });
  onTestFinished(async () => {
    await transport.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const first = errorOf(transport({ method: 'PUT', url, body: '{}', timeouts: { totalMs: 200 } }));
  const second = await errorOf(transport({ method: 'POST', url, body: '{}', timeouts: { totalMs: 100 } }));
  expect(second).toMatchObject({ kind: 'unreachable', isUnanswered: true });
  expect(second.message).toMatch(/: No connection in time$/);
  expect(await first).toMatchObject({ kind: 'lost' });
  expect(seen).toEqual(['PUT']);
});

test('The transport ends at once when the caller gives up, before and during the answer', async () => {
  const stop = new AbortController();
  await withServer(
    (request, response) => {
      if (request.url === '/body') response.write('start');
      setImmediate(() => stop.abort());
    },
    async (url, ask) => {
      expect(await errorOf(ask({ signal: stop.signal }))).toMatchObject({ kind: 'aborted' });
      expect(await errorOf(ask({ url: `${url}body`, signal: stop.signal }))).toMatchObject({ kind: 'aborted' });
    },
  );
});

test('The transport ends at once when the caller gives up, or its time is over, before there is a connection', async () => {
  // Accepts, and does not agree on TLS.
  const server = createSocketServer((socket) => void socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createUndiciTransport();
  onTestFinished(async () => {
    await transport.close();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const began = performance.now();
  const stop = new AbortController();
  const stopped = errorOf(transport({ method: 'GET', url, signal: stop.signal }));
  const late = errorOf(transport({ method: 'GET', url, timeouts: { totalMs: 50 } }));
  stop.abort();
  expect(await stopped).toMatchObject({ kind: 'aborted' });
  expect(await errorOf(transport({ method: 'GET', url, signal: stop.signal }))).toMatchObject({ kind: 'aborted' });
  expect(await late).toMatchObject({ kind: 'unreachable', message: expect.stringMatching(/: No connection in time$/) });
  // A connection has five seconds.
  expect(performance.now() - began).toBeLessThan(2_500);
});

test('readText() keeps to its limit', async () => {
  await withServer(
    (_request, response) => {
      response.end('x'.repeat(1_001));
    },
    async (_url, ask) => {
      expect(await errorOf(ask())).toMatchObject({ kind: 'tooLarge' });
    },
  );
});

test('The transport shows no path, query or header in an error: they may hold secrets', async () => {
  const transport = createUndiciTransport();
  const error = await errorOf(
    transport({
      method: 'GET',
      url: 'http://127.0.0.1:1/canary?canary',
      headers: { authorization: 'Bearer canary' },
      body: 'canary',
    }),
  );
  expect(error.message).not.toContain('canary');
  await transport.close();
});

test('The transport treats a server that does not speak TLS as unreachable', async () => {
  const sockets: Socket[] = [];
  const server = createSocketServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createUndiciTransport();
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect(await errorOf(transport({ method: 'POST', url, body: '{}' }))).toMatchObject({ kind: 'unreachable' });
  await transport.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('The transport leaves no timer and no listener behind after the answer was read', async () => {
  await withServer(
    (_request, response) => response.end('ok'),
    async (_url, ask) => {
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      const caller = new AbortController();
      await ask({ signal: caller.signal });
      const before = timers();
      for (let request = 0; request < 20; request++) await ask({ signal: caller.signal });
      expect(timers()).toBeLessThanOrEqual(before);
      expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    },
  );
});

test('The transport asks right before the first byte is sent, however long it waited for a connection', async () => {
  const seen: string[] = [];
  const held = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    seen.push(request.method ?? '');
    arrived.resolve();
    await held.promise;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const transport = createUndiciTransport({ connections: 1 });
  let reason: string | undefined;
  const ask = async (method: HttpRequest['method']) =>
    readText(await transport({ method, url, body: '{}', refusal: () => reason }), 10);
  const first = ask('PUT');
  await arrived.promise;
  const second = errorOf(ask('POST'));
  reason = 'the lease is lost';
  held.resolve();
  await first;
  expect(await second).toMatchObject({
    kind: 'unreachable',
    isWithheld: true,
    isUnanswered: false,
    message: 'Not sent: the lease is lost',
  });
  reason = undefined;
  await ask('PATCH');
  expect(seen).toEqual(['PUT', 'PATCH']);
  await transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
