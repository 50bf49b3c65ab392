import { expect, it } from 'vitest';
import { aCluster, CREATED_AT, PLACE } from '../../../../test/support/builders.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { ClusterWorld } from '../world.ts';
import { firstClaimant } from './claimants.ts';

const older = aCluster().subject;
const former = { clusterID: 'orders', createdAt: CREATED_AT };

it.each([
  ['whose cluster has vanished, after the cloud refused another one', aCluster().withStatus({ former }), undefined],
  ['that has announced it', aCluster().announced(), undefined],
  ['that has nothing yet', aCluster(), 'shop/older'],
])('Which object comes first of an older one that wants an id, and one %s', (_what, given, first) => {
  const metadata = { ...older.metadata, name: 'older', uid: 'older', creationTimestamp: '2026-11-20T08:00:00Z' };
  const spec = { ...older.spec, clusterID: 'orders' };
  const other: KubeObject = { apiVersion: '', kind: 'DatabaseCluster', metadata, spec, status: older.status };
  const world = {
    places: { get: () => PLACE, same: (space: string) => [space] },
    claimants: () => ['shop/older'],
    cluster: () => other,
    space: () => undefined,
  } as unknown as ClusterWorld;
  expect(firstClaimant(world, given.subject, 'orders')).toBe(first);
});
