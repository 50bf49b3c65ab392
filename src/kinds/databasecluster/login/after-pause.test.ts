import { describe, expect, it } from 'vitest';
import { type KindBench, type KindBenchOptions, runningBench } from '../../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../../test/support/simulator.ts';

const signIns = (bench: KindBench) => bench.calls.filter((call) => call === 'server signIn').length;

const suspended = async (bench: KindBench, meanwhile: () => unknown) => {
  await bench.edit({ state: 'Suspended' });
  await bench.until('True Suspended');
  meanwhile();
  bench.forgetCalls();
  await bench.edit({ state: 'Running' });
};

/** The look that finds the outage is a person's: none comes by itself. */
const down = async (bench: KindBench, meanwhile: () => unknown) => {
  const outage = bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: 'reset' });
  await bench.annotate('mooring.dev/reconcile-at', '1');
  await bench.until('False ServerUnreachable');
  bench.simulator.faults.remove(outage);
  meanwhile();
  bench.forgetCalls();
};

/** The server stops answering between the two sign-ins of one look. */
const downAmidst = async (bench: KindBench, meanwhile: () => unknown) => {
  await down(bench, () => {});
  const outage = bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: 'reset', skip: 1 });
  await bench.pass();
  bench.simulator.faults.remove(outage);
  expect(bench.ready()).not.toMatch(/^True/);
  meanwhile();
  bench.forgetCalls();
};

const onlyObserved = async (bench: KindBench, meanwhile: () => unknown) => {
  await bench.edit({ managementPolicy: 'Observe' });
  await bench.until('True Observed');
  meanwhile();
  bench.forgetCalls();
  await bench.edit({ managementPolicy: 'Manage' });
};

/** Several servers: the one that it works with is down for a moment, and so is the other one after that. */
const switched = async (bench: KindBench, meanwhile: () => unknown) => {
  const [one = '', ...others] = clusterNamed(bench.simulator, 'orders')?.servers.map(({ address }) => address) ?? [];
  const show = async (isRunning: (address: string) => boolean) => {
    const states = [one, ...others].map((address) => ({
      address,
      isPrimary: address === one,
      status: isRunning(address) ? ('running' as const) : ('pending' as const),
    }));
    bench.simulator.arrangeServers('orders', states);
    await bench.world().connections.get('shop/production')?.poller.refresh();
  };
  await show((address) => address !== one);
  await bench.until('True Running');
  expect(bench.status().endpoint).not.toBe(`https://${one}`);
  meanwhile();
  bench.forgetCalls();
  await show((address) => address === one);
};

const PAUSES: readonly [
  string,
  (bench: KindBench, meanwhile: () => unknown) => Promise<void>,
  KindBenchOptions['spec']?,
][] = [
  ['it was suspended', suspended],
  ['its server was down', down],
  ['its server went down in the middle of a look', downAmidst],
  ['it was only observed', onlyObserved],
  ['it worked with another server', switched, { serverCount: 3, version: '2.29.1' }],
];

describe.each(PAUSES)('After %s, a DatabaseCluster', (_what, pause, spec = {}) => {
  const bench = () => runningBench({ spec, space: { verifyInterval: '0s' } });

  it('is not Ready if its password was changed meanwhile, however lately that signed in', async () => {
    const found = await bench();
    await pause(found, () => found.simulator.setPassword('orders', 'admin', 'changed-in-the-console'));
    await found.until('False AdminLoginRefused');
    expect(found.told.filter((line) => line.startsWith('Running'))).toEqual([]);
  });

  it('is Ready after one sign-in, besides that of the login that must not work', async () => {
    const found = await bench();
    await pause(found, () => {});
    await found.until('True Running');
    expect(signIns(found)).toBe(2);
  });
});

it('A DatabaseCluster whose server asks for fewer calls is not signed in to more often for that', async () => {
  const bench = await runningBench({ space: { verifyInterval: '0s' } });
  const fault = bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: '429', retryAfterSeconds: 1 });
  await bench.putSecret('orders-admin', { ...bench.secret() }, { 'mooring.dev/cluster': 'orders' });
  await bench.pass();
  bench.simulator.faults.remove(fault);
  await bench.clock.advance(60_000);
  bench.forgetCalls();
  await bench.until('True Running');
  expect(signIns(bench)).toBe(1);
});
