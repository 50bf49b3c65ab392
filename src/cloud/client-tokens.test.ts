import { expect, test } from 'vitest';
import { manualClock, noChance } from '../../test/support/clock.ts';
import { aClient, errorOf, tokenOf } from '../../test/support/cloud.ts';
import { scriptedTransport } from '../../test/support/http.ts';
import { HttpError } from '../base/transport.ts';
import { CloudClient } from './client.ts';

const running = { id: 'orders', status: 'running', createdAt: 1 };

test('CloudClient.canDestroy says whether there is a credential for it', () => {
  expect(aClient(() => ({ status: 200 }), ['read', 'write']).client.canDestroy).toBe(false);
  expect(aClient(() => ({ status: 200 }), ['admin']).client.canDestroy).toBe(true);
});

test('CloudClient.canDestroy does not hold from a refusal of that credential until it is accepted', async () => {
  let status = 400;
  const transport = scriptedTransport(() => ({ status, body: 'token' }));
  const { client } = aClient(() => ({ status }), ['admin'], { transport });
  const refusal = await errorOf(client.destroy('orders'));
  expect([client.canDestroy, client.destroyRefusal]).toEqual([false, refusal]);
  status = 200;
  client.forgetRefusals();
  await client.authenticate('admin');
  expect([client.canDestroy, client.destroyRefusal]).toEqual([true, undefined]);
});

test.each([
  [['read'], 'suspend', 'write or admin'],
  [['read', 'write'], 'destroy', 'admin'],
  [[], 'list', 'read or write or admin'],
] as const)('CloudClient with %j sends no %s and names the missing level', async (levels, operation, words) => {
  const { client, transport } = aClient(() => ({ status: 200 }), levels);
  const error = await errorOf(operation === 'list' ? client.list() : client[operation]('orders'));
  expect(error).toMatchObject({ kind: 'forbidden', status: undefined });
  expect(error.message).toContain(`there is no API token of level ${words}`);
  expect(transport.requests).toHaveLength(0);
});

test.each([
  [['write', 'admin'], 'list', 'write'],
  [['admin'], 'list', 'admin'],
  [['read', 'admin'], 'suspend', 'admin'],
] as const)('CloudClient with %j uses the lowest level that suffices for %s: %s', async (levels, operation, level) => {
  const { client, calls } = aClient(
    (sent) => ({ status: 200, body: sent.method === 'GET' ? [running] : running }),
    levels,
  );
  await (operation === 'list' ? client.list() : client[operation]('orders'));
  expect(calls().map(tokenOf)).toEqual([`Bearer ${level}-token`]);
});

test('CloudClient tries the next credential after a 403 and remembers for the level which one worked', async () => {
  const { client, calls } = aClient((sent) =>
    tokenOf(sent) === 'Bearer admin-token' ? { status: 200, body: running } : { status: 403 },
  );
  await client.get('orders');
  await client.get('orders');
  await client.suspend('orders');
  expect(calls().map(tokenOf)).toEqual([
    'Bearer read-token',
    'Bearer write-token',
    'Bearer admin-token',
    'Bearer admin-token',
    'Bearer write-token',
    'Bearer admin-token',
  ]);
});

test('CloudClient tries every credential before it gives up, even when the remembered one is refused', async () => {
  let level = 'admin';
  const { client, calls } = aClient((sent) =>
    tokenOf(sent) === `Bearer ${level}-token` ? { status: 200, body: running } : { status: 403 },
  );
  await client.get('orders');
  level = 'read';
  await client.get('orders');
  level = 'none';
  expect((await errorOf(client.get('orders'))).kind).toBe('forbidden');
  expect(calls().map(tokenOf)).toEqual(
    ['read', 'write', 'admin', 'admin', 'read', 'read', 'write', 'admin'].map((name) => `Bearer ${name}-token`),
  );
});

test('CloudClient renews a refused token once and repeats the call once', async () => {
  const { client, calls, exchanges } = aClient((_, count) =>
    count === 1 ? { status: 401 } : { status: 200, body: running },
  );
  await client.suspend('orders');
  expect([calls().length, exchanges()]).toEqual([2, 2]);
});

/** A client of a cloud where each exchange takes so long, and the first access token is refused if `expired`. */
function atSlowExchanges(tookMs: number, expired = false) {
  const clock = manualClock();
  let exchanges = 0;
  const transport = scriptedTransport((sent) => {
    if (!sent.url.endsWith('/auth')) {
      const isEnded = expired && tokenOf(sent) === 'Bearer token-1';
      return isEnded ? { status: 401 } : { status: 200, body: running };
    }
    clock.advance(tookMs);
    return { status: 200, body: `token-${++exchanges}` };
  });
  const { client } = aClient(() => ({ status: 500 }), ['write'], { clock, transport });
  const sent = () => transport.requests.map((request) => (request.url.endsWith('/auth') ? 'auth' : request.method));
  return { client, sent };
}

test.each([
  [4_000, false, ['auth', 'POST']],
  [6_000, false, ['auth']],
  [2_400, true, ['auth', 'POST', 'auth', 'POST']],
  [4_000, true, ['auth', 'POST', 'auth']],
])(
  'CloudClient sends no change that follows a look long after it: with exchanges of %d ms, expired: %s',
  async (tookMs, expired, expected) => {
    const { client, sent } = atSlowExchanges(tookMs, expired);
    const ended = await client.suspend('orders').catch((error: unknown) => error);
    expect(sent()).toEqual(expected);
    if (expected.at(-1) === 'auth') {
      expect(ended).toMatchObject({ kind: 'unreachable', isWithheld: true, effectUnknown: false, retryable: true });
      expect(String(ended)).toContain(
        'not sent, because a token for it took too long to get: what the call is based on',
      );
    } else expect(ended).toMatchObject(running);
    // The token that came late is used next.
    await client.suspend('orders');
    expect(sent()).toEqual([...expected, 'POST']);
  },
);

test('CloudClient reads with an access token that came late', async () => {
  const { client } = atSlowExchanges(19_000);
  expect(await client.get('orders')).toMatchObject(running);
});

test('CloudClient treats a refusal of new tokens as temporary at first, without an exchange for each call', async () => {
  let works = false;
  const clock = manualClock();
  const script = () => (works ? { status: 200, body: running } : { status: 401, body: { code: 'C', message: 'm' } });
  const { client, calls, exchanges } = aClient(script, ['write'], { clock });
  const passing = { kind: 'unavailable', status: 401, code: 'C', operation: 'suspend', effectUnknown: false };
  const error = await errorOf(client.suspend('orders'));
  expect(error).toMatchObject(passing);
  expect(error.message).toContain('though it was exchanged a moment ago');
  expect([calls().length, exchanges()]).toEqual([2, 2]);
  clock.advance(110_000);
  expect(await errorOf(client.suspend('orders'))).toMatchObject(passing);
  expect([calls().length, exchanges()]).toEqual([4, 3]);
  works = true;
  await client.suspend('orders');
  works = false;
  clock.advance(60_000);
  expect(await errorOf(client.suspend('orders'))).toMatchObject(passing);
  clock.advance(130_000);
  expect(await errorOf(client.suspend('orders'))).toMatchObject({ kind: 'unauthorized', status: 401 });
});

test.each([403, 409])('CloudClient takes an answer %i as proof that its access token is valid', async (refusal) => {
  let status = 401;
  const clock = manualClock();
  const { client } = aClient(() => ({ status }), ['write'], { clock });
  expect(await errorOf(client.suspend('orders'))).toMatchObject({ kind: 'unavailable', status: 401 });
  clock.advance(130_000);
  status = refusal;
  await errorOf(client.suspend('orders'));
  status = 401;
  expect(await errorOf(client.suspend('orders'))).toMatchObject({ kind: 'unavailable', status: 401 });
});

test('CloudClient takes a call without an answer as no proof that its access token is valid', async () => {
  let answer: { readonly status: number } | HttpError = { status: 401 };
  const clock = manualClock();
  const { client } = aClient(() => answer, ['write'], { clock });
  expect(await errorOf(client.suspend('orders'))).toMatchObject({ kind: 'unavailable' });
  clock.advance(130_000);
  answer = new HttpError('lost', 'reset');
  await errorOf(client.suspend('orders'));
  answer = { status: 401 };
  expect(await errorOf(client.suspend('orders'))).toMatchObject({ kind: 'unauthorized', status: 401 });
});

/** A cloud where each exchange of an API token ends the access token from the exchange before. */
function jealousCloud() {
  let exchanges = 0;
  const transport = scriptedTransport((sent) => {
    if (sent.url.endsWith('/auth')) return { status: 200, body: `token-${++exchanges}` };
    return tokenOf(sent) === `Bearer token-${exchanges}` ? { status: 200, body: running } : { status: 401 };
  });
  const clientOf = (spaceID: string, peers: readonly CloudClient[] = []) =>
    new CloudClient({
      baseURL: 'https://cloud.example.com',
      teamID: 'acme',
      spaceID,
      credentials: LEVELS.map((level) => ({ level, clientID: 'same', clientSecret: 'canary-secret' })),
      peers,
      transport,
      clock: manualClock(),
      random: noChance,
    });
  return { clientOf, exchanges: () => exchanges, calls: () => transport.requests.length - exchanges };
}

const LEVELS = ['read', 'write', 'admin'] as const;

test('CloudClient gets one access token for levels, and spaces, that have the same API token', async () => {
  const { clientOf, exchanges, calls } = jealousCloud();
  const first = clientOf('production');
  const clients = [first, clientOf('staging', [first]), clientOf('test', [first])];
  for (const client of clients) {
    await client.authenticate();
    await client.get('orders');
    await client.suspend('orders');
    await client.destroy('orders');
  }
  expect([exchanges(), calls()]).toEqual([1, 9]);
});

test.each(['get', 'destroy'] as const)(
  'CloudClient.%s() does not treat a 404 to the exchange as the absence of a cluster',
  async (operation) => {
    const { client } = aClient(() => ({ status: 200 }), ['admin'], {
      transport: scriptedTransport(() => ({ status: 404 })),
    });
    expect(await errorOf(client[operation]('orders'))).toMatchObject({ kind: 'badAnswer', operation: 'authenticate' });
  },
);

test.each([404, 500, 503])(
  'A call of CloudClient certainly had no effect if the exchange before it is answered %d',
  async (status) => {
    const { client } = aClient(() => ({ status: 200 }), ['write'], {
      transport: scriptedTransport(() => ({ status })),
    });
    const error = await errorOf(client.suspend('orders'));
    expect(error).toMatchObject({ operation: 'authenticate', effectUnknown: false, retryable: true });
  },
);

test.each([400, 401, 403])(
  'CloudClient uses the next credential if the exchange of one is refused (%d)',
  async (status) => {
    const transport = scriptedTransport((sent) => {
      if (!sent.url.endsWith('/auth')) return { status: 200, body: running };
      return String(tokenOf(sent)).startsWith('Basic read-id:') ? { status } : { status: 200, body: 'good' };
    });
    const { client } = aClient(() => ({ status: 200 }), ['read', 'admin'], { transport });
    expect(await client.get('orders')).toMatchObject({ id: 'orders' });
    expect(transport.requests.map(tokenOf).at(-1)).toBe('Bearer good');
  },
);

test('CloudClient names all levels that a refused API token is for', async () => {
  const transport = scriptedTransport(() => ({ status: 400 }));
  const credentials = LEVELS.map((level) => ({ level, clientID: 'same', clientSecret: 'canary-secret' }));
  const { client } = aClient(() => ({ status: 200 }), [], { transport, credentials });
  const error = await errorOf(client.get('orders'));
  expect(error.message).toContain('Cannot exchange the API token of level read, write and admin: ');
  expect(transport.requests).toHaveLength(1);
});

test('CloudClient sends a forbidden request once with each access token', async () => {
  const credentials = LEVELS.map((level) => ({ level, clientID: 'same-id', clientSecret: 'canary-secret' }));
  const { client, calls } = aClient(() => ({ status: 403 }), [], { credentials });
  expect((await errorOf(client.get('orders'))).kind).toBe('forbidden');
  expect(calls()).toHaveLength(1);
});

test('CloudClient renews once for many calls that are refused together', async () => {
  let old = true;
  const transport = scriptedTransport((sent) => {
    if (sent.url.endsWith('/auth')) return { status: 200, body: old ? 'old' : 'new' };
    return tokenOf(sent) === 'Bearer new' ? { status: 200, body: running } : { status: 401 };
  });
  const client = new CloudClient({
    baseURL: 'https://cloud.example.com',
    teamID: 'acme',
    spaceID: 'production',
    credentials: [{ level: 'write', clientID: 'a', clientSecret: 'b' }],
    transport,
    clock: manualClock(),
    random: noChance,
  });
  await client.authenticate();
  old = false;
  await Promise.all(Array.from({ length: 20 }, () => client.get('orders')));
  expect(transport.requests.filter((sent) => sent.url.endsWith('/auth'))).toHaveLength(2);
});

test('CloudClient.authenticate() exchanges for the level, or for all, and only if no token is held', async () => {
  const { client, exchanges } = aClient(() => ({ status: 200 }));
  await client.authenticate('write');
  expect(exchanges()).toBe(1);
  await client.authenticate();
  expect(exchanges()).toBe(3);
  await client.authenticate();
  expect(exchanges()).toBe(3);
});

test('CloudClient.authenticate() says which level is missing', async () => {
  const error = await errorOf(aClient(() => ({ status: 200 }), ['read']).client.authenticate('admin'));
  expect(error).toMatchObject({ kind: 'forbidden', operation: 'authenticate' });
  expect(error.message).toContain('there is no API token of level admin');
});
