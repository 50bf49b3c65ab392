import { describe, expect, it } from 'vitest';
import { expectOneWorkingLogin, type KindBench, kindBench, runningBench } from '../../../../test/support/kind-bench.ts';

const FACTORY_PASSWORD = 'password';
const VERIFY_SOON = { space: { verifyInterval: '1m' } };

const puts = (bench: KindBench) => bench.calls.filter((call) => call === 'server updateUser').length;
const gets = (bench: KindBench) => bench.calls.filter((call) => call === 'get').length;

/** Somebody has destroyed the cluster and created it again, at the same address, and no List shows it. */
async function replaceUnseen(bench: KindBench): Promise<void> {
  const { simulator } = bench;
  simulator.faults.add({ match: { operation: 'list' }, effect: 'errorBefore', status: 503 });
  for (const cluster of simulator.clusters())
    Object.assign(cluster, { createdAt: cluster.createdAt + 60_001, rendered: undefined });
  simulator.setPassword('orders', 'admin', FACTORY_PASSWORD);
  bench.forgetCalls();
  // The login should be verified again.
  await bench.clock.advance(80_000);
}

const isFactorys = ({ simulator }: KindBench) => simulator.passwordIs('orders', 'admin', FACTORY_PASSWORD);

describe('The login that new clusters come with, when another one worked before,', () => {
  it('does not show whose cluster is there now: it is given no password, and the Secret stays', async () => {
    const bench = await runningBench(VERIFY_SOON);
    const before = bench.secret();
    await replaceUnseen(bench);
    await bench.until('False IdentityChanged');
    expect([puts(bench), gets(bench), isFactorys(bench)]).toEqual([0, 1, true]);
    expect(bench.secret()).toEqual(before);
  });

  it('is not used while the cloud does not say which cluster is there', async () => {
    const bench = await runningBench(VERIFY_SOON);
    const before = bench.secret();
    const outage = bench.simulator.faults.add({ match: { operation: 'get' }, effect: 'errorBefore', status: 503 });
    await replaceUnseen(bench);
    for (let n = 0; n < 3; n++) await bench.pass();
    expect([bench.ready(), gets(bench) > 0]).toEqual(['Unknown CloudUnreachable', true]);
    expect(bench.status().conditions).toContainEqual(
      expect.objectContaining({ type: 'CredentialsSecured', status: 'False', reason: 'SecuringCredentials' }),
    );
    bench.simulator.faults.remove(outage);
    await bench.until('False IdentityChanged');
    expect([puts(bench), isFactorys(bench)]).toEqual([0, true]);
    expect(bench.secret()).toEqual(before);
  });

  it('is not used if the cluster was replaced after the coming password was recorded', async () => {
    const bench = await runningBench(VERIFY_SOON);
    bench.simulator.setPassword('orders', 'admin', FACTORY_PASSWORD);
    await bench.clock.advance(80_000);
    while (bench.secret()?.['nextPassword'] === undefined) await bench.pass();
    await replaceUnseen(bench);
    await bench.until('False IdentityChanged');
    expect([puts(bench), isFactorys(bench)]).toEqual([0, true]);
  });

  it.each([
    ['does not accept another password', 500],
    ['says that it accepted another password, which does not sign in', 200],
  ])('is reported as long as the server %s', async (_what, status) => {
    const bench = await runningBench(VERIFY_SOON);
    bench.simulator.setPassword('orders', 'admin', FACTORY_PASSWORD);
    bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status });
    await bench.clock.advance(80_000);
    for (let n = 0; n < 4; n++) await bench.pass();
    const secured = bench.status().conditions?.find(({ type }) => type === 'CredentialsSecured');
    expect([puts(bench), isFactorys(bench), secured?.reason]).toEqual([
      status === 200 ? 1 : 3,
      true,
      'SecuringCredentials',
    ]);
    expect(bench.ready()).not.toMatch(/^True/);
  });

  it('is replaced if the cluster is the same, as the cloud says', async () => {
    const bench = await runningBench(VERIFY_SOON);
    bench.simulator.setPassword('orders', 'admin', FACTORY_PASSWORD);
    await bench.clock.advance(80_000);
    while (puts(bench) === 0) await bench.pass();
    await bench.until('True Running');
    expect(gets(bench)).toBe(2);
    expectOneWorkingLogin(bench);
  });

  it.each([
    { also: 'nothing else', data: {} },
    { also: 'a coming one', data: { nextPassword: 'was-to-come' } },
  ])(
    "is not replaced on somebody else's cluster if only the Secret shows another login, with $also",
    async ({ data }) => {
      const bench = await kindBench({ ...VERIFY_SOON, spec: { adoptionPolicy: 'IfExists' } });
      bench.simulator.deployForeign({ id: 'orders', version: '3.5.0' });
      await bench.world().connections.get('shop/production')?.poller.refresh();
      await bench.putSecret(
        'orders-admin',
        { username: 'admin', password: 'once-worked', ...data },
        { 'mooring.dev/cluster': 'orders', 'app.kubernetes.io/managed-by': 'mooring' },
      );
      while (bench.status().createdAt === undefined) await bench.pass();
      await replaceUnseen(bench);
      await bench.until('False IdentityChanged');
      expect(bench.secret()).toMatchObject({ password: 'once-worked', ...data });
      expect(puts(bench)).toBe(0);
    },
  );

  it('is replaced without asking if the cluster is new', async () => {
    const bench = await runningBench();
    await bench.restart();
    expect([gets(bench), bench.simulator.count('get')]).toEqual([0, 0]);
  });
});
