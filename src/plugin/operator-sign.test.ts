import { describe, expect, it } from 'vitest';
import { type KubeApi, KubeError } from '../kube/api.ts';
import { LEASES } from '../kube/lease.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { operatorSign } from './operator-sign.ts';

const NOW = Date.parse('2026-11-21T11:00:00Z');
const { signal } = new AbortController();

/** Leases as `namespace/name`, with how many seconds ago each was renewed; '' holds one that was given back. */
async function signOf(leases: readonly (readonly [key: string, secondsAgo: number, holder?: string])[]) {
  const kube = new FakeKube({ now: () => NOW, random: createSeededRandom(1) });
  for (const [key, secondsAgo, holderIdentity = 'pod-1'] of leases) {
    const [namespace = '', name] = key.split('/');
    const renewTime = new Date(NOW - secondsAgo * 1000).toISOString().replace('Z', '000Z');
    await kube.create(LEASES, namespace, {
      metadata: { name },
      spec: { holderIdentity, leaseDurationSeconds: holderIdentity === '' ? 1 : 15, renewTime },
    });
  }
  return operatorSign(kube, { now: () => NOW }, signal);
}

describe('operatorSign()', () => {
  it('says since when nobody has renewed the Lease of the operator', async () => {
    expect(await signOf([['mooring-system/mooring', 300]])).toBe(
      'No operator seems to be running: Lease mooring-system/mooring was last renewed 5m ago, and nobody holds it since (an operator without --leader-elect has none)',
    );
    expect(await signOf([['mooring-system/mooring', 300, '']])).toContain('was given back 5m ago');
  });

  it.each<[string, Parameters<typeof signOf>[0]]>([
    ['there is no Lease: an operator may run without', []],
    ['it was renewed lately', [['mooring-system/mooring', 14]]],
    ['it was not renewed for a while in which clocks may differ', [['mooring-system/mooring', 59]]],
    [
      'another operator runs, and may watch these namespaces',
      [
        ['team-a/mooring', 3_000],
        ['team-b/mooring', 2],
      ],
    ],
    [
      'replicas share the work, and the Lease is of a time before',
      [
        ['mooring-system/mooring', 3_000],
        ['mooring-system/mooring-replica-pod-1', 3_000],
        ['mooring-system/mooring-replica-pod-2', 2],
      ],
    ],
    ['what is called like it is of something else', [['kube-system/mooring-of-boats', 3_000]]],
  ])('says nothing where %s', async (_why, leases) => {
    expect(await signOf(leases)).toBeUndefined();
  });

  it('names the one that was renewed last', async () => {
    const sign = await signOf([
      ['team-a/mooring', 3_000],
      ['team-b/mooring', 300],
      ['team-b/mooring-replica-pod-2', 3_000],
    ]);
    expect(sign).toContain('Lease team-b/mooring was last renewed 5m ago');
  });

  it('says nothing where it may not look, and where there is no answer', async () => {
    for (const error of [new KubeError('No', { status: 403, reason: 'Forbidden' }), new Error('lost')]) {
      const api: Pick<KubeApi, 'list'> = { list: () => Promise.reject(error) };
      expect(await operatorSign(api, { now: () => NOW }, signal)).toBeUndefined();
    }
  });

  it('ends where it is told to', async () => {
    const stop = new AbortController();
    stop.abort();
    const api: Pick<KubeApi, 'list'> = { list: () => Promise.reject(new Error('aborted')) };
    await expect(operatorSign(api, { now: () => NOW }, stop.signal)).rejects.toThrow('aborted');
  });
});
