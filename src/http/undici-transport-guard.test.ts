import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpError, readText } from '../base/transport.ts';
import { networksOf, specialUseOf } from './address.ts';
import type { Lookup } from './lookup.ts';
import { type ConnectionGuard, createUndiciTransport } from './undici-transport.ts';

/* Connections are allowed or refused by the address that each one really goes to. */

/** Counts requests at two addresses of this machine: 127.0.0.1 plays a public address, 127.0.0.2 an internal one. */
const arrived = { outside: 0, inside: 0 };
const outside = createServer((_request, response) => {
  arrived.outside++;
  // Each request needs a new connection, and so resolves the name again.
  response.writeHead(200, { connection: 'close' }).end('outside');
});
const inside = createServer((_request, response) => {
  arrived.inside++;
  response.end('inside');
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  port = (outside.address() as AddressInfo).port;
  await new Promise<void>((resolve) => inside.listen(port, '127.0.0.2', resolve));
});

afterAll(() => {
  for (const server of [outside, inside]) {
    server.closeAllConnections();
    server.close();
  }
});

const guard: ConnectionGuard = {
  trusts: () => false,
  refusalOf: (host, address) => {
    const word = specialUseOf(address, networksOf(['127.0.0.1']));
    return word === undefined ? undefined : `"${host}" is at ${address}, ${word}`;
  },
};

/** Gives the answers one after the other, then always the last one. */
function resolver(...answers: readonly (readonly string[])[]): Lookup & { readonly asked: string[] } {
  const asked: string[] = [];
  const lookup: Lookup = (hostname, _options, callback) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return Object.assign(lookup, { asked });
}

async function ask(options: Parameters<typeof createUndiciTransport>[0], ...urls: readonly string[]) {
  const transport = createUndiciTransport(options);
  const answers: string[] = [];
  for (const url of urls) {
    try {
      answers.push(await readText(await transport({ method: 'GET', url }), 100));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      answers.push(`${error.kind}: ${error.message}`);
    }
  }
  await transport.close();
  return answers;
}

test('A name that resolves to another address for the next connection gains nothing (DNS rebinding)', async () => {
  const lookup = resolver(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']);
  const url = `http://cloud.test:${port}/`;
  const before = { ...arrived };
  expect(await ask({ guard, lookup }, url, url, url)).toEqual([
    'outside',
    'unreachable: "cloud.test" is at 127.0.0.2, a loopback address',
    'outside',
  ]);
  // The name is not resolved a second time after the check: there is no gap between check and use.
  expect(lookup.asked).toHaveLength(3);
  expect([arrived.outside - before.outside, arrived.inside - before.inside]).toEqual([2, 0]);
});

test('If a name has several addresses, only allowed ones are used', async () => {
  const url = `http://cloud.test:${port}/`;
  const before = arrived.inside;
  expect(await ask({ guard, lookup: resolver(['127.0.0.2', '127.0.0.1', '169.254.169.254']) }, url)).toEqual([
    'outside',
  ]);
  expect(await ask({ guard, lookup: resolver(['10.0.0.1', '127.0.0.2']) }, url)).toEqual([
    'unreachable: "cloud.test" is at 10.0.0.1, a private address',
  ]);
  expect(await ask({ guard, lookup: resolver([]) }, url)).toEqual(['unreachable: cloud.test has no address']);
  expect(arrived.inside).toBe(before);
});

test.each(['http', 'https'])('Addresses in %s URLs are checked in every form, without a look-up', async (scheme) => {
  const lookup = resolver(['127.0.0.1']);
  const before = arrived.inside;
  const hosts = ['127.0.0.2', '2130706434', '0x7f.2', '0177.0.0.2', '[::ffff:127.0.0.2]', '0.0.0.0', '[::]', '[::1]'];
  for (const host of [...hosts, '169.254.169.254']) {
    const [answer] = await ask({ guard, lookup }, `${scheme}://${host}:${port}/`);
    expect(answer, host).toMatch(/^unreachable: ".*" is at .*, a (loopback|reserved|link-local) address$/);
  }
  expect(lookup.asked).toEqual([]);
  expect(arrived.inside).toBe(before);
});

test('Names are checked for https, too', async () => {
  const [answer] = await ask({ guard, lookup: resolver(['fd00::1']) }, 'https://cloud.test/');
  expect(answer).toBe('unreachable: "cloud.test" is at fd00::1, a private address');
});

test('A name that the system resolves is checked', async () => {
  const before = arrived.outside;
  const none = { ...guard, refusalOf: (host: string, address: string) => `${host} may not be ${address}` };
  expect(await ask({ guard: none }, `http://localhost:${port}/`)).toEqual([
    expect.stringMatching(/^unreachable: localhost may not be (127\.0\.0\.1|::1)$/),
  ]);
  expect(arrived.outside).toBe(before);
});

test('Trusted hosts may be anywhere, and only those', async () => {
  const trusting = { ...guard, trusts: (origin: string) => origin === `http://cloud.test:${port}` };
  const options = { guard: trusting, lookup: resolver(['127.0.0.2']) };
  expect(await ask(options, `http://other.test:${port}/`)).toEqual([
    'unreachable: "other.test" is at 127.0.0.2, a loopback address',
  ]);
  const literal = { guard: { ...guard, trusts: (origin: string) => origin === `http://127.0.0.2:${port}` } };
  expect(await ask(literal, `http://127.0.0.2:${port}/`)).toEqual(['inside']);
});

test('Many simultaneous calls to a refused address all end, and the transport still works', async () => {
  const transport = createUndiciTransport({ guard, lookup: resolver(['10.0.0.1']) });
  for (const host of ['cloud.test', '10.0.0.1']) {
    const calls = Array.from({ length: 100 }, () => transport({ method: 'GET', url: `http://${host}:${port}/` }));
    const ends = await Promise.allSettled(calls);
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(100);
  }
  const response = await transport({ method: 'GET', url: `http://127.0.0.1:${port}/` });
  expect(await readText(response, 100)).toBe('outside');
  await transport.close();
});

test.each([undefined, { ...guard, trusts: () => true }])(
  'Names of origins that may be anywhere are looked up in the same way',
  async (trusting) => {
    const lookup = resolver(['127.0.0.1']);
    expect(await ask({ guard: trusting, lookup }, `http://cloud.test:${port}/`)).toEqual(['outside']);
    expect(lookup.asked).toEqual(['cloud.test']);
  },
);
