import { afterEach, describe, expect, it, vi } from 'vitest';
import { expectOneWorkingLogin, FACTORY, type KindBench, kindBench } from '../../../../test/support/kind-bench.ts';
import { digestOf, Logins } from '../../../database/logins.ts';

const puts = ({ calls }: KindBench) => calls.filter((call) => call === 'server updateUser').length;

describe('A server that accepts the factory login for a moment after it took another password', () => {
  afterEach(() => void vi.restoreAllMocks());

  /** A new cluster, up to the moment when the server has the new password. */
  async function secured(): Promise<{ readonly bench: KindBench; readonly refuseFactory: () => void }> {
    const bench = await kindBench();
    const { attempt } = Logins.prototype;
    let accepts = true;
    vi.spyOn(Logins.prototype, 'attempt').mockImplementation(async function (this: Logins, login, signal) {
      const verdict = await attempt.call(this, login, signal);
      return accepts && digestOf(login) === digestOf(FACTORY) ? 'accepted' : verdict;
    });
    await bench.until('Unknown SecuringCredentials');
    expect([puts(bench), bench.secret()?.['nextPassword']]).toEqual([1, undefined]);
    return {
      bench,
      refuseFactory: () => {
        accepts = false;
      },
    };
  }

  it('is given no other password, and the cluster is Ready once the factory login is refused', async () => {
    const { bench, refuseFactory } = await secured();
    const before = bench.secret()?.['password'];
    bench.forgetCalls();
    for (let n = 0; n < 4; n++) {
      await bench.clock.advance(3_000);
      await bench.pass();
      expect(bench.ready()).toBe('Unknown SecuringCredentials');
    }
    // Each time the password that was set, the factory's, and one that nobody has.
    expect(bench.calls.filter((call) => call === 'server signIn').length).toBeLessThanOrEqual(12);
    refuseFactory();
    await bench.until('True Running');
    expect([puts(bench), bench.secret()?.['password']]).toEqual([0, before]);
    expectOneWorkingLogin(bench);
  });

  it('is to get another one if that goes on for a minute', async () => {
    const { bench, refuseFactory } = await secured();
    const before = bench.secret()?.['password'];
    const beganMs = bench.clock.monotonic();
    while (bench.secret()?.['nextPassword'] === undefined && bench.clock.monotonic() - beganMs < 300_000) {
      await bench.pass();
      await bench.clock.advance(2_000);
      expect(bench.ready()).not.toMatch(/^True/);
    }
    expect(bench.clock.monotonic() - beganMs).toBeGreaterThan(45_000);
    expect(bench.clock.monotonic() - beganMs).toBeLessThan(90_000);
    // What works stays in the Secret until the next one does.
    expect(bench.secret()?.['password']).toBe(before);
    refuseFactory();
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is given another one at once then, even if somebody else has written a coming one', async () => {
    const { bench, refuseFactory } = await secured();
    await bench.editSecret({ nextPassword: 'of somebody else' });
    await bench.clock.advance(90_000);
    while (puts(bench) === 1 && bench.clock.monotonic() < 300_000) {
      await bench.pass();
      await bench.clock.advance(2_000);
    }
    expect(bench.clock.monotonic()).toBeLessThan(300_000);
    refuseFactory();
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });
});
