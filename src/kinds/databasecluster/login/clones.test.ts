import { describe, expect, it } from 'vitest';
import { aCluster, type ClusterBuilder, NOW_MS } from '../../../../test/support/builders.ts';
import { type KindBench, kindBench } from '../../../../test/support/kind-bench.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { SpaceSeen } from '../observation.ts';
import { observeCluster } from '../observe.ts';

const agoMs = (ms: number) => new Date(NOW_MS - ms).toISOString();
const operation = (startedAt: string) => ({ type: 'Clone' as const, target: 'copy', startedAt });

const due = aCluster()
  .healthy()
  .withStatus({ lastRotation: agoMs(0) })
  .annotated('rotate-at', 'now');
const moved = due.withStatus({ lastHandledRotateAt: 'now' }).with({ adminCredentials: { secretName: 'other' } });
const named = aCluster().with({ cloneFrom: { clusterRef: { name: 'orders' } } });
const made = named.withStatus({ clusterID: 'copy', createdAt: agoMs(60_000) });
const byID = (name: string, clusterID = 'orders') =>
  aCluster()
    .with({ cloneFrom: { clusterID }, adminCredentials: { existingSecretRef: { name } } })
    .withStatus({ createdAt: agoMs(60_000) });

/** What a new password of the source waits for, when a clone of it looks like that. */
async function clonesOf(source: ClusterBuilder, clone: ClusterBuilder, given?: KindBench) {
  const bench = given ?? (await kindBench());
  const { metadata, ...rest } = clone.subject;
  const object = { apiVersion: '', kind: 'DatabaseCluster', ...rest, metadata: { ...metadata, name: 'copy' } };
  const world = {
    ...bench.world(),
    clock: { ...bench.clock, now: () => NOW_MS, monotonic: bench.clock.monotonic },
    clones: (key: string, secretName: string) =>
      key === 'shop/orders' && secretName === 'orders-admin' ? (['shop/copy'] as const) : [],
    cluster: () => object as unknown as KubeObject,
  };
  return ((await observeCluster(world, source.subject, new AbortController().signal)) as SpaceSeen).clones;
}

describe('The end of a cluster', () => {
  const destroyed = aCluster().healthy().with({ deletionPolicy: 'Delete' }).deleting();

  it('waits for a clone as long as it takes, and not if the cluster stays', async () => {
    const bench = await kindBench();
    for (const ms of [0, 3_600_000, 86_400_000]) {
      await bench.clock.advance(ms);
      expect(await clonesOf(destroyed, made, bench)).toEqual(['copy']);
    }
    const stalled = made.withCondition('Stalled', 'True', 'SecretNotOurs');
    expect(await clonesOf(destroyed, stalled, bench)).toEqual(['copy']);
    for (const clone of [made.deleting(), made.annotated('paused', 'true')])
      expect(await clonesOf(destroyed, clone, bench)).toEqual([]);
    expect(await clonesOf(destroyed.with({ deletionProtection: true }), made, bench)).toEqual([]);
    expect(await clonesOf(destroyed.with({ managementPolicy: 'Observe' }), made, bench)).toBeUndefined();
  });
});

describe('A new password of a cluster', () => {
  it.each<[string, ClusterBuilder, ClusterBuilder?]>([
    ['was made a minute ago', made],
    ['is being asked for', named.withStatus({ operation: operation(agoMs(1_000)) })],
    ['names its id and Secret', byID('orders-admin')],
    [
      'is made when one is due by schedule',
      made,
      due
        .annotated('rotate-at', 'before')
        .with({ adminCredentials: { rotateEvery: '10m' } })
        .withStatus({ lastHandledRotateAt: 'before', lastRotation: agoMs(600_000) }),
    ],
    ['is made when the login is to move to another Secret', made, moved],
    ['cannot be changed as its spec says', made.withCondition('Stalled', 'True', 'RefusedByCloud')],
    ['names the Secret that the login is to leave', byID('orders-admin'), moved],
  ])('waits for a clone that %s', async (_what, clone, source = due) => {
    expect(await clonesOf(source, clone)).toEqual(['copy']);
  });

  it.each<[string, ClusterBuilder, ClusterBuilder?]>([
    ['is not begun', named],
    ['has its own login', made.withStatus({ credentials: aCluster().healthy().subject.status.credentials })],
    ['was never recorded', made.withStatus({ createdAt: undefined })],
    ['is going', made.deleting()],
    ['is paused', made.annotated('paused', 'true')],
    ['is observed only', made.with({ managementPolicy: 'Observe' })],
    ['needs a person', made.withCondition('Stalled', 'True', 'DefaultLoginRefused')],
    ['is of another cluster', made.with({ cloneFrom: { clusterRef: { name: 'other' } } })],
    ['names another Secret', byID('legacy')],
    ['names the Secret that the login is to move to', byID('other'), moved],
    ['names another id', byID('orders-admin', 'other')],
    ['is none', aCluster().withStatus({ createdAt: agoMs(60_000) })],
    ['is made when none is due', made, due.withStatus({ lastHandledRotateAt: 'now' })],
  ])('does not wait for a clone that %s', async (_what, clone, source = due) => {
    expect(await clonesOf(source, clone)).toEqual([]);
  });

  it('waits for an hour at most, for each clone', async () => {
    const bench = await kindBench();
    const atMs = async (ms: number, clone = made) => {
      await bench.clock.advance(ms - bench.clock.monotonic());
      return (await clonesOf(due, clone, bench))?.length;
    };
    expect([await atMs(0), await atMs(3_599_000), await atMs(3_600_000), await atMs(9_000_000)]).toEqual([1, 1, 0, 0]);
    bench.world().memory.forget('shop/copy', 'deleted');
    expect(await atMs(9_100_000)).toBe(1);
    // It has its own login, and is then made anew.
    expect(await atMs(9_200_000, made.withStatus({ credentials: due.subject.status.credentials }))).toBe(0);
    expect(await atMs(19_000_000)).toBe(1);
  });
});
