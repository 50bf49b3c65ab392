import { expect, test } from 'vitest';
import { aUser } from '../../../test/support/user-builders.ts';
import { databaseUserKind } from './index.ts';
import type { UserWorld } from './world.ts';

test('databaseUserKind() looks again when anything changes that the object names, now or before', () => {
  const { references } = databaseUserKind({} as UserWorld);
  const user = aUser()
    .owned()
    .with({
      clusterRef: { name: 'orders', namespace: 'platform' },
      connectionSecret: { name: 'new' },
      passwordSecretRef: { name: 'own' },
    });
  const status = { ...user.subject.status, binding: { name: 'bound' } };
  expect(new Set(references({ ...user.subject, status }))).toEqual(
    new Set([
      'databaseclusters/platform/orders',
      'users/platform/orders/app',
      ...['new', 'own', 'bound', 'app-connection'].map((name) => `secrets/shop/${name}`),
    ]),
  );
  expect(references(aUser().subject)).toEqual([
    'databaseclusters/shop/orders',
    'users/shop/orders/app',
    'secrets/shop/app-connection',
  ]);
});
