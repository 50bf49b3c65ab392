import { describe, expect, it } from 'vitest';
import { aCluster } from '../../../../test/support/builders.ts';
import { FACTORY, kindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';
import { paddedIn, readLogins, untilReplaced } from './known-logins.ts';

const INTERVAL_MS = 600_000;

/** When each login was tried, in milliseconds after the cluster became ready. */
async function verifications(verifyInterval: string, forMs: number, stepMs = 10_000) {
  const bench = await kindBench({ space: { verifyInterval } });
  await bench.until('True Running');
  const startedMs = bench.clock.now();
  const tried: number[] = [];
  while (bench.clock.now() - startedMs < forMs) {
    bench.forgetCalls();
    await bench.pass();
    if (bench.calls.includes('server signIn')) tried.push(bench.clock.now() - startedMs);
    await bench.clock.advance(stepMs);
  }
  return { bench, tried };
}

describe('observeLogin()', () => {
  it('tries a verified login once an interval', async () => {
    const { tried } = await verifications('10m', 5 * INTERVAL_MS);
    expect(tried).toHaveLength(5);
    for (const [index, at] of tried.slice(1).entries())
      expect(at - (tried[index] ?? 0), 'never earlier').toBeGreaterThanOrEqual(INTERVAL_MS);
  });

  it('tries a verified login only after changes with verifyInterval 0s', async () => {
    const { bench, tried } = await verifications('0s', 5 * INTERVAL_MS);
    expect(tried).toEqual([]);
    await bench.putSecret('orders-admin', { ...bench.secret() }, { 'mooring.dev/cluster': 'orders' });
    bench.forgetCalls();
    await bench.pass();
    expect(bench.calls).toContain('server signIn');
    expect(bench.ready()).toBe('True Running');
  });

  it('that is held back by a pause the server asked for changes nothing, and is made up for when the pause ends', async () => {
    const bench = await kindBench({ space: { verifyInterval: '1m' } });
    await bench.until('True Running');
    const before = bench.status().conditions;
    const fault = bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: '429', retryAfterSeconds: 300 });
    const verified = () => bench.world().memory.verifications.lastAtMs('shop/orders');
    const lastMs = verified();
    for (let second = 0; second < 290; second += 10) {
      await bench.clock.advance(10_000);
      const { next, ...rest } = await bench.pass();
      expect(next).toBe('settled');
      expect(rest).toHaveProperty('requeueAfterMs', expect.any(Number));
    }
    expect(bench.status().conditions).toEqual(before);
    expect(verified()).toBe(lastMs);
    bench.simulator.faults.remove(fault);
    await bench.clock.advance(120_000);
    await bench.pass();
    expect(verified()).toBeGreaterThan(lastMs);
    expect(bench.status().conditions).toEqual(before);
  });

  it('that is put off for a quarter of an hour is reported, and what was found of the server stands', async () => {
    const bench = await kindBench({ space: { verifyInterval: '1m' } });
    await bench.until('True Running');
    bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: '429', retryAfterSeconds: 99_999_999_999 });
    const startedMs = bench.clock.now();
    while (bench.ready() === 'True Running' && bench.clock.now() - startedMs < 60 * 60_000) {
      const pass = bench.pass();
      await bench.clock.advance(30_000);
      await pass;
    }
    expect(bench.ready()).toBe('Unknown ServerThrottled');
    expect(bench.clock.now() - startedMs).toBeLessThan(20 * 60_000);
    expect(bench.status().conditions?.find(({ type }) => type === 'Available')).toMatchObject({ status: 'True' });
  });

  it('says just that of a new cluster whose server asks for fewer calls', async () => {
    const bench = await kindBench();
    bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: '429', retryAfterSeconds: 60 });
    await bench.until('Unknown ServerThrottled');
    expect(bench.told.at(-1)).toContain('429');
  });

  it('sends no login to an address that is not one, and says so, even for a cluster that was ready', async () => {
    const bench = await kindBench();
    await bench.until('True Running');
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const cluster = poller.get('orders') ?? expect.unreachable();
    const at = cluster.servers[0]?.address ?? '';
    const show = (...addresses: string[]) => {
      const servers = addresses.map((address) => ({ address, status: 'running' }));
      poller.learn('orders', { ...cluster, servers }, bench.clock.monotonic() + 1);
    };
    show(`${at}/evil`);
    bench.forgetCalls();
    await bench.pass();
    expect(bench.ready()).toBe('False CloudAnswerUnusable');
    expect(bench.status().conditions?.[0]?.message).toContain(`"${at}/evil"`);
    expect(bench.status().endpoint).toBeUndefined();
    for (const type of ['Available', 'CredentialsSecured'])
      expect(bench.status().conditions?.find((each) => each.type === type)?.status).toBe(
        type === 'Available' ? 'False' : 'True',
      );
    expect(bench.calls.filter((call) => call.startsWith('server'))).toEqual([]);
    for (const managementPolicy of ['Observe', 'Manage']) {
      await bench.edit({ managementPolicy });
      await bench.pass();
      expect(bench.ready()).toBe('False CloudAnswerUnusable');
    }
    // One other address that makes sense is enough.
    show('http://x', at);
    await bench.until('True Running');
    expect(bench.status().endpoint).toBe(`https://${at}`);
  });

  it('proves again, once, that the factory login is retired when it changes', async () => {
    const bench = await kindBench();
    await bench.until('True Running');
    expect(bench.status().credentials?.factoryVersion).toBe('1');
    const spec = bench.world().space('shop/production')?.spec;
    const tokens = [{ level: 'admin', clientID: 'admin-id', clientSecret: 'admin-secret-0123456789' }] as const;
    if (spec === undefined) throw new Error('There is no space');
    const { connections } = bench.world();
    connections.connect('shop/production', spec, tokens, { username: 'admin', password: 'corrected' }, '2');
    await connections.get('shop/production')?.poller.refresh();
    bench.forgetCalls();
    await bench.pass();
    expect(bench.calls).toContain('server signIn');
    expect(bench.status().credentials?.factoryVersion).toBe('2');
    bench.forgetCalls();
    await bench.pass();
    expect(bench.calls).toEqual([]);
  });

  it("records the version with Mooring's own finalizer, so that the next process has nothing to prove", async () => {
    const bench = await kindBench();
    const spec = bench.world().space('shop/production')?.spec ?? expect.unreachable();
    const tokens = [{ level: 'admin', clientID: 'admin-id', clientSecret: 'admin-secret-0123456789' }] as const;
    const connect = async (version: string) => {
      const { connections } = bench.world();
      connections.connect('shop/production', spec, tokens, { ...FACTORY }, version);
      await connections.get('shop/production')?.poller.refresh();
    };
    await connect('2');
    await bench.until('True Running');
    expect(bench.status().credentials?.factoryVersion).toBe('2');
    // What is written there later is no news.
    await connect('3');
    bench.forgetCalls();
    await bench.pass();
    expect(bench.calls).toEqual([]);
  });

  it('tries a login that was refused, even if none is tried routinely', async () => {
    const bench = await runningBench({ space: { verifyInterval: '0s' } });
    const { password = '' } = bench.secret() ?? {};
    bench.simulator.setPassword('orders', 'admin', 'changed elsewhere');
    await bench.clock.advance(24 * 3_600_000);
    await bench.pass();
    expect(bench.ready()).toBe('True Running');
    bench.world().memory.verifications.doubt('shop/orders');
    await bench.pass();
    expect(bench.ready()).toBe('False AdminLoginRefused');

    bench.simulator.setPassword('orders', 'admin', password);
    await bench.until('True Running');
    bench.forgetCalls();
    await bench.clock.advance(24 * 3_600_000);
    await bench.pass();
    expect(bench.calls).not.toContain('server signIn');
  });

  it('comes back when a person asks, and answers once', async () => {
    const bench = await kindBench();
    await bench.until('True Running');
    bench.forgetCalls();
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    await bench.pass();
    expect(bench.calls).toEqual(expect.arrayContaining(['list', 'server signIn']));
    bench.forgetCalls();
    await bench.pass();
    expect(bench.calls).toEqual([]);
  });

  it('says that a server does not answer, and finds it again', async () => {
    const bench = await kindBench();
    await bench.until('True Running');
    const outage = bench.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    await bench.until('False ServerUnreachable');
    bench.simulator.faults.remove(outage);
    await bench.clock.advance(60_000);
    await bench.until('True Running');
  });

  it('counts for how long a server cannot be signed in to, starting again each time that it can', async () => {
    const bench = await kindBench();
    await bench.until('True Running');
    const [object] = bench.kube.all(DATABASE_CLUSTERS);
    if (object === undefined) throw new Error('There is no DatabaseCluster');
    const { metadata } = object;
    const forMs = () =>
      bench.world().memory.unreachable.begin({ key: 'shop/orders', metadata }, bench.clock.monotonic());
    for (const outageMs of [600_000, 60_000]) {
      const outage = bench.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
      await bench.annotate('mooring.dev/reconcile-at', `for ${outageMs}`);
      await bench.until('False ServerUnreachable');
      const beganMs = forMs();
      await bench.clock.advance(outageMs);
      await bench.pass();
      expect(forMs() - beganMs).toBe(outageMs);
      bench.simulator.faults.remove(outage);
      await bench.clock.advance(60_000);
      await bench.until('True Running');
    }
    expect(forMs()).toBe(0);
  });

  it('does not treat an unclear answer as a refusal', async () => {
    const bench = await kindBench();
    await bench.until('True Running');
    const before = bench.secret();
    bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: 'errorBefore', status: 404, times: 3 });
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    await bench.pass();
    expect(bench.ready()).toBe('False ServerUnreachable');
    await bench.clock.advance(60_000);
    await bench.until('True Running');
    expect(bench.secret()).toEqual(before);
  });

  it('says of a server that answers something else that it does', async () => {
    const bench = await kindBench();
    await bench.until('True Running');
    bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: 'html', status: 200 });
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    await bench.pass();
    expect(bench.ready()).toBe('False ServerAnswerUnusable');
  });

  it('tries the login at the first server that runs', async () => {
    const bench = await kindBench({ knobs: { serverLagMs: [30_000, 30_000] } });
    await bench.until('True Running');
    expect(bench.status().servers?.[0]?.status).toBe('running');
  });

  it('follows a server that moved', async () => {
    const bench = await kindBench();
    await bench.until('True Running');
    const before = bench.status().endpoint;
    bench.simulator.moveServers('orders');
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('True Running');
    expect(bench.status().endpoint).not.toBe(before);
    expect(bench.status().credentials?.endpoint).toBe(bench.status().endpoint);
  });
});

describe('readLogins()', () => {
  const { signal } = new AbortController();
  const factory = { username: 'admin', password: 'password' };
  const clone = aCluster().with({ cloneFrom: { clusterRef: { name: 'source' } } });

  it.each([
    ['is its own', 'source', [{ username: 'admin', password: 'of the source' }]],
    ['is not its own', 'another', []],
  ])('knows the login of what was cloned if the Secret %s', async (_what, owner, inherited) => {
    const bench = await kindBench();
    await bench.putSecret(
      'source-admin',
      { username: 'admin', password: 'of the source' },
      { 'mooring.dev/cluster': owner },
    );
    const { metadata } = aCluster().subject;
    const credentials = { secretName: 'source-admin', secretResourceVersion: '1', endpoint: '' };
    const source = {
      apiVersion: '',
      kind: 'DatabaseCluster',
      metadata: { ...metadata, name: 'source' },
      spec: {},
      status: { observedGeneration: 1, credentials },
    };
    const known = await readLogins(
      { world: { ...bench.world(), cluster: () => source }, subject: clone.subject, signal },
      factory,
    );
    expect(known.inherited.map(({ current }) => current)).toEqual(inherited);
  });

  it('knows both passwords of the earlier Secret if one of them was just being replaced', async () => {
    const bench = await kindBench();
    const login = { username: 'admin', password: 'old', nextPassword: 'coming' };
    await bench.putSecret('before', login, { 'mooring.dev/cluster': 'orders' });
    const { subject } = aCluster()
      .healthy()
      .withStatus({
        credentials: { secretName: 'before', secretResourceVersion: '1', endpoint: '' },
      });
    expect(await readLogins({ world: bench.world(), subject, signal }, factory)).toMatchObject({
      inherited: [
        {
          secretName: 'before',
          current: { username: 'admin', password: 'old' },
          next: { username: 'admin', password: 'coming' },
        },
      ],
    });
  });
});

describe('A coming password that somebody else wrote', () => {
  it.each([
    ['current', 600_000],
    ['none', 600_000],
    ['factory', undefined],
    ['held', undefined],
  ] as const)('stays for ten minutes, but not if what works is in no Secret of ours: %s', async (working, forMs) => {
    const bench = await kindBench();
    const login = { username: 'admin', password: 'of somebody else' };
    const known = { secretName: '', secret: undefined, current: undefined, inherited: [], existing: undefined };
    const logins = { ...known, existingMissing: undefined, factory: login, next: login, nextIs: 'foreign' } as const;
    expect(untilReplaced(bench.world(), aCluster().subject, logins, working)).toBe(forMs);
  });
});

it('White space is found at either end of what each Secret holds', () => {
  const login = { username: 'admin', password: 'password' };
  const padded = [
    { ...login, username: ' admin' },
    { ...login, password: 'password\n' },
  ];
  const rest = { secretName: '', secret: undefined, next: undefined, nextIs: 'none', inherited: [] } as const;
  const known = { ...rest, existingMissing: undefined, current: login, existing: login, factory: login };
  expect(paddedIn(known)).toEqual([]);
  for (const name of ['current', 'existing', 'factory'] as const)
    for (const each of padded) expect(paddedIn({ ...known, [name]: each })).toEqual([name]);
});
