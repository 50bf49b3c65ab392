import { describe, expect, it } from 'vitest';
import { readyUserBench, type UserBench } from '../../../../test/support/user-bench.ts';
import { KubeError, SECRETS } from '../../../kube/api.ts';
import { DATABASE_USERS } from '../resource.ts';

const HOUR_MS = 3_600_000;
const REF = { namespace: 'shop', name: 'app' };

const replacements = (bench: UserBench) => bench.takeCalls().filter((call) => call === 'updateUser');

/** Runs passes for ten minutes, whether or not they fail, and meanwhile another process begins. Returns the replacements. */
async function tenMinutes(bench: UserBench): Promise<readonly string[]> {
  const found: string[] = [];
  for (let pass = 0; pass < 60; pass++) {
    if (pass === 30) await bench.restart();
    await bench.pass().catch(() => {});
    found.push(...replacements(bench));
    await bench.cluster.clock.advance(10_000);
  }
  return found;
}

describe('A password that was replaced, though the status cannot say so', () => {
  it.each([
    ['that was asked for', {}, '1', async (bench: UserBench) => bench.annotate('mooring.dev/rotate-at', '1')],
    [
      'on schedule',
      { rotateEvery: '2h' },
      undefined,
      async (bench: UserBench) => bench.cluster.clock.advance(2 * HOUR_MS),
    ],
  ])(
    'is replaced once, in a rotation %s, and the status says so as soon as it can',
    async (_, user, handled, rotate) => {
      const bench = await readyUserBench({ user });
      const { kube } = bench.cluster;
      const patch = kube.patch.bind(kube);
      await rotate(bench);
      kube.patch = (resource, ref, body, options) =>
        resource === DATABASE_USERS && options?.subresource === 'status'
          ? Promise.reject(new KubeError('No', { status: 403, reason: 'Forbidden' }))
          : patch(resource, ref, body, options);
      const { lastRotation: before } = bench.status();
      expect(await tenMinutes(bench)).toHaveLength(1);
      expect(bench.works(bench.secret()?.['password'])).toBe(true);
      expect(bench.status().lastRotation).toBe(before);
      kube.patch = patch;
      await bench.settle();
      expect(replacements(bench)).toEqual([]);
      expect(Date.parse(bench.status().lastRotation ?? '')).toBeGreaterThan(Date.parse(before ?? ''));
      expect(bench.status().lastHandledRotateAt).toBe(handled);
    },
  );

  it('is replaced once if the status does not keep what is written', async () => {
    const bench = await readyUserBench();
    const { kube } = bench.cluster;
    await bench.annotate('mooring.dev/rotate-at', '1');
    for (let pass = 0; pass < 30; pass++) {
      await bench.pass();
      await kube.patch(DATABASE_USERS, REF, { status: { lastHandledRotateAt: null } }, { subresource: 'status' });
    }
    expect(replacements(bench)).toHaveLength(1);
  });

  it('is replaced once for a request that is longer than annotations may be together with a copy', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', 'x'.repeat(200_000));
    await bench.settle();
    expect(bench.status().lastHandledRotateAt).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(replacements(bench)).toHaveLength(1);
    expect(JSON.stringify(bench.cluster.kube.all(SECRETS)).length).toBeLessThan(10_000);
  });

  it('is replaced again when that is asked for again', async () => {
    const bench = await readyUserBench();
    for (const value of ['1', '2', '1']) {
      await bench.annotate('mooring.dev/rotate-at', value);
      await bench.settle();
      expect(bench.status().lastHandledRotateAt).toBe(value);
    }
    expect(replacements(bench)).toHaveLength(3);
  });
});
