import { expect, test } from 'vitest';
import { aDatabase } from '../../../test/support/database-builders.ts';
import { databaseKind } from './index.ts';
import type { DatabaseWorld } from './world.ts';

test('databaseKind() looks again when anything changes that the object names', () => {
  const { references } = databaseKind({} as DatabaseWorld);
  const inMap = (name: string, key: string) => ({ configMapKeyRef: { name, key } });
  const { subject } = aDatabase().with({
    clusterRef: { name: 'orders', namespace: 'platform' },
    schema: [inMap('base', 'one'), inMap('base', 'two'), { inline: 'three' }, inMap('more', 'four')],
  });
  expect(references(subject)).toEqual([
    'databaseclusters/platform/orders',
    'databases/platform/orders/orders',
    'configmaps/shop/base',
    'configmaps/shop/more',
  ]);
});
