import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readText } from '../base/transport.ts';
import type { Lookup } from './lookup.ts';
import { createUndiciTransport } from './undici-transport.ts';

/** A name server's answer. */
const resolver =
  (addresses: () => readonly string[]): Lookup =>
  (_, __, callback) =>
    callback(
      null,
      addresses().map((address) => ({ address, family: 4 })),
    );

/** A server that says at which address it was reached. */
async function aServer(): Promise<number> {
  const server = createServer(({ socket }, response) => response.end(socket.localAddress));
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function asking(lookup: Lookup, port: number) {
  const transport = createUndiciTransport({ lookup, connections: 2 });
  onTestFinished(() => transport.close());
  return async () => readText(await transport({ method: 'GET', url: `http://db.test:${port}/` }), 100);
}

test('a name that has moved is followed within a minute, however much a connection to its former address is used', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let address = '127.0.0.1';
  const ask = asking(
    resolver(() => [address]),
    await aServer(),
  );
  // All connections that there may be.
  expect(await Promise.all([ask(), ask()])).toEqual(['127.0.0.1', '127.0.0.1']);
  address = '127.0.0.2';
  vi.setSystemTime(Date.now() + 59_000);
  expect(await ask()).toBe('127.0.0.1');
  vi.setSystemTime(Date.now() + 2_000);
  expect(await ask()).toBe('127.0.0.2');
});

test('an answer that takes longer than connections get new requests, such as a watch, is not cut', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const end = Promise.withResolvers<void>();
  const server = createServer(({ url }, response) => {
    response.write('begun');
    if (url !== '/watch') response.end();
    else void end.promise.then(() => response.end(' and ended'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const transport = createUndiciTransport();
  onTestFinished(() => transport.close());
  const ask = (path: string) =>
    transport({ method: 'GET', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` });
  const watch = await ask('/watch');
  vi.setSystemTime(Date.now() + 61_000);
  expect(await readText(await ask('/'), 100)).toBe('begun');
  end.resolve();
  expect(await readText(watch, 100)).toBe('begun and ended');
});

test('of several addresses at which nothing listens each is named, in an order that does not depend on the name server', async () => {
  let addresses = ['127.0.0.4', '127.0.0.3'];
  const ask = asking(
    resolver(() => addresses),
    1,
  );
  const message = 'GET http://db.test:1: connect ECONNREFUSED 127.0.0.3:1, connect ECONNREFUSED 127.0.0.4:1';
  await expect(ask()).rejects.toMatchObject({ kind: 'unreachable', message });
  addresses = addresses.toReversed();
  await expect(ask()).rejects.toMatchObject({ message });
});

test('a name about which no name server says anything is told from a server that does not answer', async () => {
  await expect(asking(() => {}, 80)()).rejects.toMatchObject({
    kind: 'unreachable',
    message: 'GET http://db.test: No name server has said in time where db.test is (UND_ERR_CONNECT_TIMEOUT)',
  });
}, 15_000);
