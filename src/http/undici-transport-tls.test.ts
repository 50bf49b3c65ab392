import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer, type Server } from 'node:net';
import { createSecureContext, rootCertificates, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EXPIRED, FIRST, NOT_YET_VALID, SECOND } from '../../test/support/certificates.ts';
import { HttpError, type HttpResponse, readText } from '../base/transport.ts';
import { createUndiciTransport, type UndiciTransportOptions } from './undici-transport.ts';

/** A server with the first certificate. Returns a call of a transport with these options. */
async function bench(options: UndiciTransportOptions) {
  const server = createServer({ ...FIRST }, (_request, response) => {
    response.writeHead(200, { connection: 'close' }).end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createUndiciTransport(options);
  onTestFinished(async () => {
    await transport.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return async () => readText(await transport({ method: 'GET', url }), 10);
}

test('a server is trusted by the given certificates, and by no others', async () => {
  await expect((await bench({ ca: FIRST.cert }))()).resolves.toBe('ok');
  await expect((await bench({ ca: SECOND.cert }))()).rejects.toThrow(/self-signed|SELF_SIGNED/);
  const untrusted = await (await bench({}))().catch((error: unknown) => error);
  expect(untrusted).toMatchObject({ kind: 'unreachable', isUntrusted: true });
  expect(String(untrusted)).toMatch(/: self-signed certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/);
  let given: string = SECOND.cert;
  const ask = await bench({ ca: () => given });
  await expect(ask()).rejects.toThrow(/self-signed|SELF_SIGNED/);
  given = `${SECOND.cert}\n${FIRST.cert}`;
  await expect(ask()).resolves.toBe('ok');
  const guard = { trusts: () => false, refusalOf: () => undefined };
  await expect((await bench({ ca: FIRST.cert, guard }))()).resolves.toBe('ok');
  await expect((await bench({ ca: SECOND.cert, guard }))()).rejects.toThrow(/self-signed|SELF_SIGNED/);
});

test('a variable of the environment does not turn verification off', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const guard = { trusts: () => false, refusalOf: () => undefined };
  for (const options of [{}, { ca: SECOND.cert }, { ca: SECOND.cert, guard }])
    await expect((await bench(options))()).rejects.toThrow(/self-signed|SELF_SIGNED/);
  await expect((await bench({ ca: SECOND.cert, insecureSkipVerify: true }))()).resolves.toBe('ok');
});

test('trusted certificates are parsed once, not for each connection', async () => {
  // So many that parsing them takes much longer than a connection.
  const ca = [...Array.from({ length: 10 }, () => rootCertificates).flat(), FIRST.cert].join('\n');
  const reading = millis(() => createSecureContext({ ca }));
  const ask = await bench({ ca });
  await ask();
  const before = process.threadCpuUsage();
  for (let count = 0; count < 10; count++) expect(await ask()).toBe('ok');
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(5 * reading);
});

/** The error of a request to this server, which the transport must not blame on trust. */
async function failureOf(server: Server, ca: string = FIRST.cert): Promise<HttpError> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createUndiciTransport({ ca });
  onTestFinished(async () => {
    await transport.close();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const error = await transport({ method: 'GET', url }).catch((thrown: unknown) => thrown);
  if (!(error instanceof HttpError)) throw new Error('It did not fail');
  expect(error).toMatchObject({ kind: 'unreachable', isUntrusted: false });
  return error;
}

/** Milliseconds of this thread's processor time. */
function millis(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

test.each([
  [
    'answers without TLS',
    () => createPlainServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    /: it answers without TLS: is it http\?$/,
  ],
  [
    'speaks only an old TLS',
    () => createServer({ ...FIRST, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' }),
    /^[a-z0-9 ]+$/,
  ],
  ['speaks only HTTP/2', () => createServer({ ...FIRST, ALPNProtocols: ['h2'] }), /: it does not speak HTTP\/1\.1$/],
] as const)("a server that %s is reported without OpenSSL's internals", async (_, make, hint) => {
  const { message } = await failureOf(make());
  const [, says] = /: TLS failed: ([a-z0-9 ]+.*) \(E\w+\)$/.exec(message) ?? [];
  expect(says).toMatch(hint);
});

test.each([
  ['has expired', EXPIRED, ': certificate has expired: its own, or one that vouches for it (CERT_HAS_EXPIRED)'],
  [
    'is not yet valid',
    NOT_YET_VALID,
    ": certificate is not yet valid: or is this machine's clock wrong? (CERT_NOT_YET_VALID)",
  ],
] as const)('a certificate that %s is reported with what may be wrong', async (_, pair, says) => {
  const { message } = await failureOf(createServer({ ...pair }), pair.cert);
  expect(message.endsWith(says), message).toBe(true);
});

test.each(['certificate', 'key'])(
  'a renewed client certificate, whose %s is written first, is used from the next request on, while requests with the former one can end',
  async (first) => {
    const open: ServerResponse[] = [];
    const server = createServer(
      { ...FIRST, requestCert: true, rejectUnauthorized: false },
      ({ url, socket }, response) => {
        const { subject } = (socket as TLSSocket).getPeerCertificate();
        response.write(String(subject?.CN));
        if (url === '/slow') open.push(response);
        else response.end();
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    let [cert, key]: string[] = [FIRST.cert, FIRST.key];
    const transport = createUndiciTransport({ ca: FIRST.cert, cert: () => cert, key: () => key });
    onTestFinished(async () => {
      await transport.close();
      server.closeAllConnections();
      server.close();
    });
    const get = (path: string) =>
      transport({ method: 'GET', url: `https://127.0.0.1:${(server.address() as AddressInfo).port}${path}` });
    const text = (response: HttpResponse) => readText(response, 100);
    const slow = await get('/slow');
    expect(await text(await get('/'))).toBe('first');
    if (first === 'key') key = SECOND.key;
    else cert = SECOND.cert;
    expect(await text(await get('/'))).toBe('first');
    [cert, key] = [SECOND.cert, SECOND.key];
    // There is a connection that is kept alive.
    expect(await text(await get('/'))).toBe('second');
    open[0]?.end(' to its end');
    expect(await text(slow)).toBe('first to its end');
  },
);

test('closing a transport also ends requests with a former client certificate', async () => {
  const server = createServer({ ...FIRST, requestCert: true, rejectUnauthorized: false }, (_request, response) => {
    response.write('begun');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  let pair: { readonly cert: string; readonly key: string } = FIRST;
  const transport = createUndiciTransport({ ca: FIRST.cert, cert: () => pair.cert, key: () => pair.key });
  const timeouts = { bodyMs: 2_000 };
  const get = () =>
    transport({ method: 'GET', url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`, timeouts });
  const former = await get();
  pair = SECOND;
  const now = await get();
  await transport.close();
  for (const response of [former, now])
    await expect(readText(response, 100)).rejects.toMatchObject({ isSilence: false });
});

test('a request over a connection that breaks before TLS is agreed was surely not sent', async () => {
  for (const breaks of ['destroy', 'resetAndDestroy'] as const) {
    const server = createPlainServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket[breaks]());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const transport = createUndiciTransport({ ca: FIRST.cert });
    onTestFinished(async () => {
      await transport.close();
      server.close();
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const post = transport({ method: 'POST', url, body: '{}' });
    await expect(post).rejects.toMatchObject({ kind: 'unreachable', isUnanswered: true });
  }
});

test('requests connect side by side: a server that agrees on no TLS makes none wait for the time limit of another', async () => {
  const REQUESTS = 3;
  const connected = Promise.withResolvers<void>();
  let connections = 0;
  const server = createPlainServer((socket) => {
    socket.on('error', () => {});
    if (++connections === REQUESTS) connected.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = createUndiciTransport({ ca: FIRST.cert });
  onTestFinished(async () => {
    await transport.close();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const ended = Promise.race(Array.from({ length: REQUESTS }, () => transport({ method: 'GET', url })));
  await Promise.race([connected.promise, ended]);
});
