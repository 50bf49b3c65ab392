import { describe, expect, it } from 'vitest';
import { FIRST, SECOND } from '../../../../test/support/certificates.ts';
import { bench, LOGIN, TOKENS } from '../../../../test/support/connections-bench.ts';
import { scriptedTransport } from '../../../../test/support/http.ts';
import type { DatabaseSpaceSpec } from '../schema.ts';

const OTHER_TOKENS = [{ level: 'read', clientID: 'read-id', clientSecret: 'read-secret-0123456789' }] as const;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A bench with a space `a/one` that was listed, of which nothing was told since. */
async function listed() {
  const all = bench();
  all.connections.connect('a/one', all.spec(), TOKENS, LOGIN, '1');
  await all.of('a/one').poller.refresh();
  all.told.length = 0;
  return all;
}

describe('SpaceConnections', () => {
  it('share one List among everybody who means the same space with the same tokens', async () => {
    const { connections, spec, of, simulator, told } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    connections.connect('b/two', spec(), TOKENS, LOGIN, '1');
    simulator.deployForeign({ id: 'orders' });
    await of('a/one').poller.refresh();
    expect(of('b/two').poller).toBe(of('a/one').poller);
    expect(simulator.count('list')).toBe(1);
    expect(told).toEqual([
      'a/one clusters orders first',
      'b/two clusters orders first',
      'a/one listed first',
      'b/two listed first',
    ]);
  });

  it('get one access token for all spaces of a cloud that have the same API token, if the cloud is reached the same way', async () => {
    const { connections, spec, of, simulator } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    connections.connect('a/two', spec({ spaceID: 'staging' }), TOKENS, LOGIN, '1');
    connections.connect('a/three', spec({ spaceID: 'test', caBundle: btoa(FIRST.cert) }), TOKENS, LOGIN, '1');
    connections.connect('a/four', spec({ spaceID: 'more' }), OTHER_TOKENS, LOGIN, '1');
    await of('a/one').client.authenticate();
    connections.disconnect('a/one');
    await of('a/two').client.authenticate();
    expect(simulator.count('exchangeToken')).toBe(1);
    await of('a/three').client.authenticate();
    expect(simulator.count('exchangeToken')).toBe(2);
    await of('a/four')
      .client.authenticate()
      .catch(() => {});
    expect(simulator.count('exchangeToken')).toBe(3);
  });

  it('keep the access token of an API token that stays when another one is added', async () => {
    const { connections, spec, of, simulator } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    await of('a/one').client.authenticate('admin');
    connections.connect('a/one', spec(), [...TOKENS, ...OTHER_TOKENS], LOGIN, '1');
    await of('a/one').client.authenticate('admin');
    expect(simulator.count('exchangeToken')).toBe(1);
  });

  it('keep what was learned about the limit of a cloud when an API token is replaced', async () => {
    const asked: string[] = [];
    const transport = scriptedTransport(({ url }) => {
      asked.push(new URL(url).pathname);
      return url.endsWith('/auth') ? { status: 200, body: 'a-token' } : { status: 429 };
    });
    const { connections, clock, spec, of } = bench({ transport: () => transport });
    const lists = () => asked.filter((path) => !path.endsWith('/auth')).length;
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    await expect(of('a/one').client.list()).rejects.toMatchObject({ kind: 'throttled' });
    connections.connect('a/one', spec(), OTHER_TOKENS, LOGIN, '1');
    const next = of('a/one')
      .client.list()
      .catch(() => {});
    await clock.advance(0);
    // It waits for its turn.
    expect(lists()).toBe(1);
    await clock.advance(5_000);
    await next;
    expect(lists()).toBe(2);
  });

  it('never show a space what was sent for another one of the same cloud', async () => {
    const repeated = `it was ${TOKENS[0].clientSecret}`;
    const transport = scriptedTransport(() => ({ status: 500, body: { code: 'C', message: repeated } }));
    const { connections, spec, of } = bench({ transport: () => transport });
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    connections.connect('a/two', spec({ spaceID: 'staging' }), OTHER_TOKENS, LOGIN, '1');
    await expect(of('a/one').client.authenticate()).rejects.toThrow('it was [redacted]');
    await expect(of('a/two').client.authenticate()).rejects.toThrow('it was [redacted]');
  });

  it('report the clusters of a space that comes back as those of a new one', async () => {
    const { connections, spec, of, simulator, told } = bench();
    simulator.deployForeign({ id: 'orders' });
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    await of('a/one').poller.refresh();
    simulator.deployForeign({ id: 'billing' });
    await of('a/one').poller.refresh();
    connections.disconnect('a/one');
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    await of('a/one').poller.refresh();
    expect(told.filter((text) => text.includes('clusters'))).toEqual([
      'a/one clusters orders first',
      'a/one clusters billing',
      'a/one clusters orders,billing first',
    ]);
  });

  it('report to everybody who joins a List that is already running', async () => {
    const { connections, spec, told } = await listed();
    connections.connect('b/two', spec(), TOKENS, LOGIN, '1');
    expect(told).toEqual(['b/two listed first']);
  });

  it('report when the same space now means something else', async () => {
    const { connections, spec, of, told } = await listed();
    connections.connect('a/one', spec(), TOKENS, { ...LOGIN, password: 'another' }, '2');
    expect(of('a/one').factoryLogin.password).toBe('another');
    expect(of('a/one').factoryVersion()).toBe('2');
    expect(told).toEqual(['a/one listed first']);
  });

  it('tell nobody to look again if nothing has changed but the version of a Secret, as when a finalizer is put there', async () => {
    const { connections, spec, told } = await listed();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '2');
    expect(told).toEqual([]);
    for (const [changed, login] of [
      [spec({ serverURL: 'https://{host}/db' }), LOGIN],
      [spec({ serverURL: 'https://{host}/db' }), { ...LOGIN, password: 'another' }],
    ] as const) {
      connections.connect('a/one', changed, TOKENS, login, '3');
      expect(told.splice(0)).toEqual(['a/one listed first']);
    }
  });

  it('have one version of the factory login once it is used, while it is the same, whatever else changes in its Secret', () => {
    const { connections, spec, of } = bench();
    const connect = (version: string, login = LOGIN) =>
      connections.connect('a/one', spec(), TOKENS, { ...login }, version);
    connect('1');
    // As when Mooring's own finalizer is put there.
    connect('2');
    const { factoryVersion } = of('a/one');
    expect(factoryVersion()).toBe('2');
    connect('3');
    expect(of('a/one').factoryVersion()).toBe('2');
    connect('4', { ...LOGIN, password: 'another' });
    connect('5', { ...LOGIN, password: 'another' });
    expect(of('a/one').factoryVersion()).toBe('5');
  });

  /** A cluster of three servers, the first of which accepts changes. */
  async function ofThree() {
    const { connections, spec, of, simulator, clock, told } = bench({}, 'field');
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    simulator.deployForeign({ id: 'three', serverCount: 3, version: '2.29.1' });
    const { poller, serverURL, logins, primaryNamedBy } = of('a/one');
    await poller.refresh();
    const [first = '', second = '', third = ''] = poller.get('three')?.servers.map(({ address }) => address) ?? [];
    told.length = 0;
    return {
      clock,
      told,
      servers: [first, second, third] as const,
      isNamedBy: (address: string) => primaryNamedBy(serverURL(address), 'three'),
      async refuses(address: string) {
        const session = logins(serverURL(address), 'three').session(LOGIN);
        const changing = session.use((client, token) => client.createDatabase(token, 'fresh'));
        await expect(changing).rejects.toMatchObject({ status: 421 });
      },
      async elect(primary: string, down: readonly string[] = []) {
        const arranged = [first, second, third].map((address) => ({
          address,
          isPrimary: address === primary,
          status: down.includes(address) ? ('pending' as const) : ('running' as const),
        }));
        simulator.arrangeServers('three', arranged);
        await poller.refresh();
        told.length = 0;
      },
    };
  }

  it.each([
    [
      '10.0.0.7:8000',
      /; primary: 10\.0\.0\.7:8000, where no login may be sent: serverURL of the DatabaseSpace: "10\.0\.0\.7" is .*-networks\)$/,
    ],
    ['db-2.test:8000', /; primary: db-2\.test:8000\)$/],
    ['https://db-2.test:8000/', /; primary: https:\/\/db-2\.test:8000\/\)$/],
    ['the second', /; primary: the second, which is not the host and port of a server\)$/],
  ])('say why they do not follow a server to the primary %s, if no login may be sent there', async (primary, words) => {
    const transport = scriptedTransport(({ url }) =>
      url.endsWith('/signin')
        ? { status: 200, body: { token: 'a-token' } }
        : { status: 421, body: { code: 'C', message: 'Not the primary', primaryAddress: primary } },
    );
    const urlPolicy = { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: [] };
    const { connections, spec, of } = bench({ transport: () => transport, urlPolicy });
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    const session = of('a/one').logins('https://db-1.test:8000', 'three').session(LOGIN);
    await expect(session.use((client, token) => client.createDatabase(token, 'fresh'))).rejects.toThrow(words);
  });

  it('follow a server to a primary whose address it writes as a URL', async () => {
    const servers = ['db-1.test:8000', 'db-2.test:8000'].map((address) => ({ address, status: 'running' }));
    const transport = scriptedTransport(({ url }) => {
      if (url.endsWith('/auth')) return { status: 200, body: 'an-access-token' };
      if (url.endsWith('/clusters')) return { status: 200, body: [{ id: 'three', status: 'running', servers }] };
      if (url.endsWith('/signin')) return { status: 200, body: { token: 'a-token' } };
      return { status: 421, body: { code: 'C', message: 'Not the primary', primaryAddress: 'https://db-2.test/' } };
    });
    const { connections, spec, of } = bench({ transport: () => transport });
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    const { poller, logins, serverURL, primaryNamedBy } = of('a/one');
    await poller.refresh();
    const first = serverURL('db-1.test:8000');
    const changing = logins(first, 'three')
      .session(LOGIN)
      .use((client, token) => client.createDatabase(token, 'fresh'));
    await expect(changing).rejects.toMatchObject({ status: 421 });
    expect(primaryNamedBy(first, 'three')).toBe('db-2.test:8000');
  });

  it('go by what one server says of the primary for a minute, and accept no other meanwhile', async () => {
    const { clock, told, servers, isNamedBy, refuses } = await ofThree();
    const [primary, one, other] = servers;
    expect(isNamedBy(one)).toBeUndefined();
    await refuses(one);
    await refuses(other);
    expect([isNamedBy(one), isNamedBy(other)]).toEqual([primary, undefined]);
    expect(told).toEqual(['a/one clusters three']);
    await clock.advance(60_000);
    expect(isNamedBy(one)).toBeUndefined();
    await refuses(other);
    expect(isNamedBy(other)).toBe(primary);
  });

  it('learn the primary that runs as soon as the one that was named stops running', async () => {
    const { told, servers, isNamedBy, refuses, elect } = await ofThree();
    const [first, second, third] = servers;
    await elect(second);
    await refuses(first);
    expect(isNamedBy(first)).toBe(second);
    await elect(third, [second]);
    await refuses(first);
    expect(isNamedBy(first)).toBe(third);
    expect(told).toEqual(['a/one clusters three']);
    // They learn no sooner of one that does not run either.
    await elect(second, [second, third]);
    await refuses(first);
    expect(isNamedBy(first)).toBe(third);
    expect(told).toEqual([]);
  });

  it('believe the primary itself that another one is it now, more slowly each time that they contradict each other', async () => {
    const { clock, servers, isNamedBy, refuses, elect } = await ofThree();
    const [one, other] = servers;
    const movesMs: number[] = [];
    let at: string = other;
    // The server in use always names the other one, as if each took the other for the primary.
    for (let second = 0; second < 120; second++) {
      const to = at === one ? other : one;
      await elect(to);
      await refuses(at);
      if (isNamedBy(at) === to) {
        movesMs.push(second * 1_000);
        at = to;
      }
      await clock.advance(1_000);
    }
    expect(movesMs).toEqual([0, 5_000, 15_000, 35_000, 75_000]);
  });

  it('believe the primary itself only that one is it that runs', async () => {
    const { clock, servers, isNamedBy, refuses, elect } = await ofThree();
    const [first, second, third] = servers;
    await refuses(second);
    await clock.advance(30_000);
    await elect(third, [third]);
    await refuses(first);
    expect([isNamedBy(first), isNamedBy(second)]).toEqual([undefined, first]);
    await elect(third);
    await refuses(first);
    expect([isNamedBy(first), isNamedBy(second)]).toEqual([third, undefined]);
  });

  it('end a List that nobody needs any more', async () => {
    const { connections, spec, of, simulator, clock } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    connections.connect('b/two', spec(), TOKENS, LOGIN, '1');
    await of('a/one').poller.refresh();
    connections.disconnect('a/one');
    await clock.advance(120_000);
    const before = simulator.count('list');
    expect(before).toBeGreaterThan(1);
    connections.disconnect('b/two');
    await clock.advance(120_000);
    expect(simulator.count('list')).toBe(before);
    expect(connections.get('b/two')).toBeUndefined();
  });

  it('list as often as the shortest interval asks for', async () => {
    const { connections, spec, of, simulator, clock } = bench();
    connections.connect('a/one', spec({ pollInterval: '60s' }), TOKENS, LOGIN, '1');
    connections.connect('b/two', spec({ pollInterval: '10s' }), TOKENS, LOGIN, '1');
    await of('a/one').poller.refresh();
    await clock.advance(60_000);
    expect(simulator.count('list')).toBeGreaterThan(5);
    connections.disconnect('b/two');
    await clock.advance(60_000);
    const before = simulator.count('list');
    await clock.advance(180_000);
    expect(simulator.count('list') - before).toBeLessThanOrEqual(4);
  });

  it('know since when Lists have failed, until one succeeds', async () => {
    const { simulator, clock, of } = await listed();
    const { poller, failingSinceMs } = of('a/one');
    expect(failingSinceMs()).toBeUndefined();
    const outage = simulator.faults.add({ effect: 'outage' });
    await poller.refresh();
    const sinceMs = clock.now();
    expect(failingSinceMs()).toBe(sinceMs);
    await clock.advance(30_000);
    await poller.refresh();
    expect(failingSinceMs()).toBe(sinceMs);
    simulator.faults.remove(outage);
    await clock.advance(60_000);
    await poller.refresh();
    expect(failingSinceMs()).toBeUndefined();
  });

  it.each([{ baseURL: 'https://other.example.com' }, { teamID: 'other' }, { spaceID: 'other' }])(
    'share no List with a space that means another one and has the same tokens: %j',
    (another) => {
      const { connections, spec, of } = bench();
      connections.connect('shop/one', spec(), TOKENS, LOGIN, '1');
      connections.connect('shop/two', spec(another), TOKENS, LOGIN, '1');
      expect(of('shop/two').poller).not.toBe(of('shop/one').poller);
      expect(of('shop/two').client).not.toBe(of('shop/one').client);
      // Nor does it keep its own when it begins to mean another one.
      const { poller } = of('shop/one');
      connections.connect('shop/one', spec(another), TOKENS, LOGIN, '1');
      expect(of('shop/one').poller).not.toBe(poller);
    },
  );

  it('make a new List for other tokens, and end the one before', async () => {
    const { connections, spec, of, simulator, clock } = bench();
    expect(connections.connect('a/one', spec(), TOKENS, LOGIN, '1')).toBe(true);
    const { poller } = of('a/one');
    await poller.refresh();
    expect(connections.connect('a/one', spec(), TOKENS, LOGIN, '1')).toBe(false);
    expect(of('a/one').poller).toBe(poller);
    expect(connections.connect('a/one', spec(), OTHER_TOKENS, LOGIN, '1')).toBe(true);
    expect(of('a/one').poller).not.toBe(poller);
    const before = simulator.count('list');
    await clock.advance(120_000);
    expect(simulator.count('list')).toBe(before);
  });

  it('share what 429s teach among the spaces of a team, and with no other team', async () => {
    const { connections, spec, of, simulator, clock } = bench();
    const connect = (key: string, changes: Partial<DatabaseSpaceSpec>) => {
      connections.connect(key, spec(changes), TOKENS, LOGIN, '1');
      return of(key).client;
    };
    const one = connect('a/one', {});
    const other = connect('b/two', { baseURL: `${spec().baseURL}/`, spaceID: 'staging' });
    const stranger = connect('c/three', { teamID: 'globex' });
    simulator.faults.add({ effect: '429', times: 1, retryAfterSeconds: 4 });
    await expect(one.versions()).rejects.toMatchObject({ kind: 'throttled', status: 429 });
    let waits = true;
    const waiting = other.versions().finally(() => {
      waits = false;
    });
    waiting.catch(() => {});
    await stranger.versions().catch(() => {});
    await clock.advance(3_900);
    expect(waits).toBe(true);
    await clock.advance(200);
    expect(waits).toBe(false);
  });

  it('refuse a base URL that the operator does not allow', () => {
    const { connections, spec } = bench();
    const connect = (baseURL: string) => () => connections.connect('a/one', spec({ baseURL }), TOKENS, LOGIN, '1');
    expect(connect('http://cloud.example.com')).toThrow('baseURL "http://cloud.example.com" is not https');
    expect(connections.get('a/one')).toBeUndefined();
  });

  it('trust the certificates that the space says to trust', () => {
    const trusted: (string | undefined)[] = [];
    const { connections, spec } = bench({
      transport: (ca) => {
        trusted.push(ca);
        return () => Promise.reject(new Error('not used'));
      },
    });
    const pem = `# both\n${FIRST.cert}\n${SECOND.cert}`;
    connections.connect('a/one', spec({ caBundle: base64(pem) }), TOKENS, LOGIN, '1');
    expect(trusted).toEqual([`${FIRST.cert.trim()}\n${SECOND.cert.trim()}`]);
  });

  it('make no new List if a caBundle has other text around the same certificates', () => {
    const { connections, spec } = bench();
    const connect = (pem: string) => connections.connect('a/one', spec({ caBundle: base64(pem) }), TOKENS, LOGIN, '1');
    connect(`# of January\n${FIRST.cert}`);
    expect([connect(`# of June\n${FIRST.cert}\n`), connect(SECOND.cert)]).toEqual([false, true]);
  });

  it.each([
    ['hello', /^spec.caBundle holds no certificate. It must be/],
    [FIRST.key, /^spec.caBundle holds a private key, which .*Take it out, and put another key/],
    [FIRST.cert + SECOND.key, /^spec.caBundle holds a private key/],
    ['-----BEGIN EC PRIVATE KEY-----\nMHc', /^spec.caBundle holds a private key/],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /^Certificate 1 in spec.caBundle cannot be read/],
    [FIRST.cert.replace(/-+END.*/, '') + SECOND.cert, /^Certificate 1 in spec.caBundle cannot be read/],
    [`${FIRST.cert}\n${SECOND.cert.replace(/MII./, '')}`, /^Certificate 2 in spec.caBundle cannot be read/],
    [`${FIRST.cert}\n${SECOND.cert.replace(/-+END.*/, '')}`, /^Certificate 2 in spec.caBundle cannot be read/],
  ])('refuse what is not a certificate, and go on with what they had: %s', (pem, message) => {
    const { connections, spec, of } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    const before = of('a/one');
    const connect = () => connections.connect('a/one', spec({ caBundle: base64(pem) }), TOKENS, LOGIN, '1');
    expect(connect).toThrow(message);
    expect(of('a/one')).toBe(before);
  });
});
