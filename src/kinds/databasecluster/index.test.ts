import { expect, test } from 'vitest';
import { aCluster } from '../../../test/support/builders.ts';
import { databaseClusterKind } from './index.ts';
import type { ClusterWorld } from './world.ts';

test('databaseClusterKind() groups clusters by their space, whose limit they share', () => {
  const kind = databaseClusterKind({} as ClusterWorld);
  const groupOf = (spaceRef: object) => kind.group?.(aCluster().with({ spaceRef }).subject);
  expect(groupOf({ name: 'production' })).toBe('shop/production');
  expect(groupOf({ name: 'production', namespace: 'platform' })).toBe('platform/production');
});
