import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { type KubeApi, KubeError } from '../kube/api.ts';
import { LEASES } from '../kube/lease.ts';
import { microTime } from '../kube/object.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { operatorSign, operatorWatch } from './operator-sign.ts';

const NOW = Date.parse('2026-11-21T11:00:00Z');
const { signal } = new AbortController();

type Leases = readonly (readonly [key: string, secondsAgo: number, holder?: string])[];
/** A node is alive, whatever else is: it renews its Lease every 10 s. */
const NODE = ['kube-node-lease/node-1', 0] as const;

/** Leases as `namespace/name`, with how many seconds ago each was renewed; '' holds one that was given back. */
async function kubeWith(leases: Leases) {
  const kube = new FakeKube({ now: () => NOW, random: createSeededRandom(1) });
  for (const [key, secondsAgo, holderIdentity = 'pod-1'] of leases) {
    const [namespace = '', name] = key.split('/');
    const renewTime = new Date(NOW - secondsAgo * 1000).toISOString().replace('Z', '000Z');
    await kube.create(LEASES, namespace, {
      metadata: { name },
      spec: { holderIdentity, leaseDurationSeconds: holderIdentity === '' ? 1 : 15, renewTime },
    });
  }
  return kube;
}

/** As seen by a person whose clock is this many seconds ahead of those in the Kubernetes cluster. */
async function signOf(leases: Leases, aheadSeconds = 0) {
  return operatorSign(
    await kubeWith([NODE, ...leases]),
    { ...systemClock, now: () => NOW + aheadSeconds * 1000 },
    signal,
  );
}

describe('operatorSign()', () => {
  it('says since when nobody has renewed the Lease of the operator', async () => {
    expect(await signOf([['mooring-system/mooring', 300]])).toBe(
      'No operator seems to be running: Lease mooring-system/mooring was last renewed 5m ago, and nobody has held it since (an operator without --leader-elect has no Lease)',
    );
    expect(await signOf([['mooring-system/mooring', 300, '']])).toContain('was released 5m ago');
  });

  it.each<[string, Leases]>([
    ['there is no Lease: an operator may run without', []],
    ['it was renewed recently', [['mooring-system/mooring', 14]]],
    ['it was not renewed for a time within which clocks may differ', [['mooring-system/mooring', 59]]],
    [
      'another operator runs, and may watch these namespaces',
      [
        ['team-a/mooring', 3_000],
        ['team-b/mooring', 2],
      ],
    ],
    ['replicas share the work, and hold the Lease together', [['mooring-system/mooring', 14, 'replicas']]],
    ['a Lease with a similar name belongs to something else', [['kube-system/mooring-of-boats', 3_000]]],
  ])('says nothing if %s', async (_why, leases) => {
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

  it("goes by the Kubernetes cluster's time: a person's clock may be ahead of it, or behind", async () => {
    for (const aheadSeconds of [-50, 0, 65, 3_600]) {
      expect(await signOf([['mooring-system/mooring', 14]], aheadSeconds)).toBeUndefined();
      expect(await signOf([['mooring-system/mooring', 302]], aheadSeconds)).toMatch(/ was last renewed [45]m ago/);
    }
  });

  it('says nothing if no other Lease shows what time it is', async () => {
    const kube = await kubeWith([['mooring-system/mooring', 300]]);
    expect(await operatorSign(kube, virtualClock(NOW), signal)).toBeUndefined();
  });

  it('says nothing if it may not look, or there is no answer', async () => {
    for (const error of [new KubeError('No', { status: 403, reason: 'Forbidden' }), new Error('lost')]) {
      const api: Pick<KubeApi, 'list'> = { list: () => Promise.reject(error) };
      expect(await operatorSign(api, virtualClock(NOW), signal)).toBeUndefined();
    }
  });

  it('says nothing if there is no answer for five seconds', async () => {
    const clock = virtualClock(NOW);
    const api: Pick<KubeApi, 'list'> = { list: () => new Promise(() => {}) };
    const sign = operatorSign(api, clock, signal);
    await clock.advance(5_000);
    expect(await sign).toBeUndefined();
  });

  it('ends when it is told to', async () => {
    const stop = new AbortController();
    stop.abort();
    const api: Pick<KubeApi, 'list'> = { list: () => Promise.reject(new Error('aborted')) };
    await expect(operatorSign(api, virtualClock(NOW), stop.signal)).rejects.toThrow('aborted');
  });
});

describe('operatorWatch()', () => {
  /** Looks every two seconds for a minute, as `status --watch` does; returns what it asked for and said. */
  async function watching(leases: Leases) {
    const kube = await kubeWith([NODE, ...leases]);
    const clock = virtualClock(NOW);
    const asked = { leaders: 0, all: 0 };
    const api: Pick<KubeApi, 'list'> = {
      list: (resource, options) => {
        asked[options.name === undefined ? 'all' : 'leaders']++;
        return kube.list(resource, options);
      },
    };
    const look = operatorWatch({ api, clock, signal });
    const said = new Set<string | undefined>();
    for (let seconds = 0; seconds < 60; seconds += 2) {
      said.add(await look());
      await clock.advance(2_000);
    }
    return { asked, said, kube, clock, look };
  }

  it('reads the Leases of the operator every 10 s, and all Leases, of which each node has one, every 30 s', async () => {
    const { asked, said } = await watching([['mooring-system/mooring', 300]]);
    expect([...said]).toEqual([expect.stringContaining('No operator seems to be running')]);
    expect(asked).toEqual({ leaders: 6, all: 2 });
  });

  it('reads no others while an operator runs, and says within 10 s that one runs', async () => {
    const { asked, said, kube, clock, look } = await watching([['mooring-system/mooring', 5]]);
    expect({ asked, said: [...said] }).toEqual({ asked: { leaders: 6, all: 0 }, said: [undefined] });
    const renew = (name: string, namespace: string) =>
      kube.patch(LEASES, { namespace, name }, { spec: { renewTime: microTime(clock.now()) } });
    await clock.advance(60_000);
    await renew('node-1', 'kube-node-lease');
    expect(await look()).toContain('No operator seems to be running');
    await renew('mooring', 'mooring-system');
    await clock.advance(10_000);
    expect(await look()).toBeUndefined();
  });

  it('never fails', async () => {
    const stop = new AbortController();
    stop.abort();
    const api: Pick<KubeApi, 'list'> = { list: () => Promise.reject(new Error('aborted')) };
    expect(await operatorWatch({ api, clock: virtualClock(NOW), signal: stop.signal })()).toBeUndefined();
  });
});
