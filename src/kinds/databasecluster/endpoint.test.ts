import { describe, expect, it } from 'vitest';
import { aCloudCluster, aCluster } from '../../../test/support/builders.ts';
import { kindBench, runningBench } from '../../../test/support/kind-bench.ts';
import { FOREIGN, listAgain, observe } from '../../../test/support/observed-cluster.ts';
import { clusterNamed } from '../../../test/support/simulator.ts';
import type { SpaceConnection } from '../databasespace/connection/connection.ts';
import { sourcesAddress, unusableAddress } from './endpoint.ts';
import type { DatabaseClusterStatus } from './schema.ts';

it.each([
  ['if the first one goes down', 2, 1],
  ['if it moves back', 0, undefined],
])('A DatabaseCluster of several servers follows the primary twice within a minute %s', async (_, second, down) => {
  const bench = await runningBench({ dialect: 'field', spec: { serverCount: 3, version: '2.29.1' } });
  const addresses = clusterNamed(bench.simulator, 'orders')?.servers.map(({ address }) => address) ?? [];
  const beganMs = bench.clock.monotonic();
  const failOver = async (primary: number, down: number | undefined, rotation: string) => {
    const arranged = addresses.map((address, index) => ({
      address,
      isPrimary: index === primary,
      status: index === down ? ('pending' as const) : ('running' as const),
    }));
    bench.simulator.arrangeServers('orders', arranged);
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.annotate('mooring.dev/rotate-at', rotation);
    for (let passes = 0; bench.status().lastHandledRotateAt !== rotation && passes < 20; passes++) await bench.pass();
    await bench.until('True Running');
    return bench.status().endpoint;
  };
  expect(await failOver(1, undefined, 'first')).toBe(`https://${addresses[1]}`);
  await bench.clock.advance(5_000);
  expect(await failOver(second, down, 'second')).toBe(`https://${addresses[second]}`);
  expect(bench.status().lastHandledRotateAt).toBe('second');
  expect(bench.clock.monotonic() - beganMs).toBeLessThan(60_000);
});

/** A cluster whose password was replaced just now by its first server, which then went down: the second one is next. */
async function failedOver() {
  const bench = await runningBench({ spec: { serverCount: 3, version: '2.29.1' } });
  const [one = '', ...others] = clusterNamed(bench.simulator, 'orders')?.servers.map(({ address }) => address) ?? [];
  await bench.clock.advance(3_600_000);
  await bench.annotate('mooring.dev/rotate-at', '1');
  while (bench.status().lastHandledRotateAt !== '1') await bench.pass();
  await bench.until('True Running');
  const arranged = [{ address: one, status: 'pending' as const }, ...others.map((address) => ({ address }))];
  bench.simulator.arrangeServers('orders', arranged);
  await bench.world().connections.get('shop/production')?.poller.refresh();
  const lag = { match: { operation: 'signIn' }, effect: 'errorBefore', status: 401 } as const;
  const refuse = () => bench.simulator.faults.add(lag);
  return { bench, refuse, endpoint: `https://${others[0]}` };
}

it('A DatabaseCluster waits for a password that one of its servers accepted right before another had to take over', async () => {
  const { bench, refuse, endpoint } = await failedOver();
  const fault = refuse();
  await bench.until('Unknown SecuringCredentials');
  bench.simulator.faults.remove(fault);
  bench.forgetCalls();
  await bench.until('True Running');
  expect(bench.status().endpoint).toBe(endpoint);
  expect(bench.calls).not.toContain('server updateUser');
});

it('A DatabaseCluster waits for such a password for no more than a minute', async () => {
  const { bench, refuse } = await failedOver();
  refuse();
  await bench.until('Unknown SecuringCredentials');
  await bench.clock.advance(60_000);
  await bench.pass();
  expect(bench.ready()).toBe('False AdminLoginRefused');
});

it('A DatabaseCluster does not wait for such a password where it has worked: there it was changed elsewhere', async () => {
  const { bench, refuse, endpoint } = await failedOver();
  await bench.until('True Running');
  expect(bench.status().credentials?.endpoint).toBe(endpoint);
  refuse();
  await bench.annotate('mooring.dev/reconcile-at', '1');
  await bench.pass();
  expect(bench.ready()).toBe('False AdminLoginRefused');
});

it('A DatabaseCluster does not wait for a password at the server that has just taken it', async () => {
  const bench = await runningBench({ spec: { serverCount: 3, version: '2.29.1' } });
  bench.simulator.setPassword('orders', 'admin', 'changed elsewhere');
  await bench.annotate('mooring.dev/reconcile-at', '1');
  await bench.pass();
  expect(bench.ready()).toBe('False AdminLoginRefused');
});

it.each([
  ['none of them', ['no address', 'nor this'], 'no address'],
  ['one of them', ['no address', 'orders.test:443'], undefined],
  ['each of them', ['orders.test:443'], undefined],
  ['them, as there is none', [], undefined],
])('A DatabaseCluster says which address is no address only if it cannot use %s', (_, addresses, told) => {
  const servers = addresses.map((address) => ({ address, status: 'running' }));
  expect(unusableAddress({ ...aCloudCluster(), servers })).toBe(told);
});

describe('observeCluster() of a cluster with several servers', () => {
  /** A cluster with servers a to c, of which `running` run. */
  async function servers(
    running: string,
    status: Partial<DatabaseClusterStatus>,
    hosts = ['a.test', 'b.test', 'c.test'],
    scheme = 'https',
  ) {
    const bench = await kindBench({ space: { serverURL: `${scheme}://{host}:{port}` } });
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    await listAgain(bench);
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const cluster = poller.get('orders') ?? expect.unreachable();
    const createdAt = new Date(bench.clock.now()).toISOString();
    const addresses = [...'abc'].map((name, index) => ({ name, address: `${hosts[index]}:443` }));
    const shown = addresses.map(({ name, address }) => ({
      address,
      status: running.includes(name) ? 'running' : 'pending',
    }));
    poller.learn('orders', { ...cluster, servers: shown }, bench.clock.monotonic() + 1);
    const given = aCluster().owned().with({ managementPolicy: 'Observe' });
    const seen = await observe(bench, given.withStatus({ createdAt, ...status }));
    return seen.space === 'seen' ? seen.endpoint : undefined;
  }

  it.each<[string, string, Partial<DatabaseClusterStatus>, string | undefined]>([
    ['begins with the first that runs', 'bc', {}, 'https://b.test:443'],
    ['stays with the one it has while that runs', 'abc', { endpoint: 'https://c.test:443' }, 'https://c.test:443'],
    ['leaves one that does not run', 'bc', { endpoint: 'https://a.test:443' }, 'https://b.test:443'],
    ['leaves one that no longer exists', 'bc', { endpoint: 'https://x.test:443' }, 'https://b.test:443'],
    ['has none while none runs', '', { endpoint: 'https://a.test:443' }, undefined],
    [
      'starts over at another cluster of the same id',
      'abc',
      { endpoint: 'https://c.test:443', createdAt: '2020-01-01T00:00:00.000Z' },
      'https://a.test:443',
    ],
  ])('%s', async (_what, running, status, endpoint) => {
    expect(await servers(running, status)).toBe(endpoint);
  });

  it('passes over one that no login may be sent to, unless no other runs', async () => {
    const of = (running: string, endpoint?: string) =>
      // Without TLS, logins are sent to this host only.
      servers(running, { endpoint }, ['a.test', 'localhost', '127.0.0.1'], 'http');
    expect(await of('abc')).toBe('http://localhost:443');
    expect(await of('abc', 'http://127.0.0.1:443')).toBe('http://127.0.0.1:443');
    await expect(of('a')).rejects.toThrow('"http://a.test:443" is not https');
  });
});

describe('sourcesAddress()', () => {
  const THEIRS = 'source.test:443';
  const OWN = 'orders.test:443';
  const given = aCluster()
    .owned()
    .with({ cloneFrom: { clusterID: 'source' } });
  const verifiedAt = (address: string) =>
    given.withStatus({
      credentials: { secretName: 'orders-admin', secretResourceVersion: '5', endpoint: `https://${address}` },
    });
  const another = verifiedAt(THEIRS).withStatus({ createdAt: '2026-11-20T08:00:00.000Z' });

  it.each([
    ['is shown only there', [THEIRS], given, THEIRS],
    ['has another server', [THEIRS, OWN], given, undefined],
    ['has another server first', [OWN, THEIRS], given, undefined],
    ['has none', [], given, undefined],
    ['has a login that was verified there', [THEIRS], verifiedAt(THEIRS), undefined],
    ['has a login that was verified elsewhere', [THEIRS], verifiedAt(OWN), THEIRS],
    ['is not the one whose login was verified there', [THEIRS], another, THEIRS],
  ])('tells the address of the source of a clone that %s', (_, addresses, { subject }, address) => {
    const serversAt = (list: readonly string[]) => list.map((each) => ({ address: each, status: 'running' }));
    const source = aCloudCluster({ id: 'source', servers: serversAt([THEIRS]) });
    const connection = { poller: { get: () => source }, findServerURL: (each: string) => `https://${each}` };
    const cluster = aCloudCluster({ servers: serversAt(addresses) });
    const world = { cluster: () => undefined };
    expect(sourcesAddress(world, connection as unknown as SpaceConnection, subject, cluster)?.address).toBe(address);
  });
});
