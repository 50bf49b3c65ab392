import { expect, test } from 'vitest';
import { aUser } from '../../../test/support/user-builders.ts';
import { databaseUserKind } from './index.ts';
import { UserMemory, type UserWorld } from './world.ts';

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

test('databaseUserKind() remembers what a restored API server has forgotten, until the object is gone', () => {
  const memory = new UserMemory(() => 0);
  const { forget } = databaseUserKind({ memory } as UserWorld);
  memory.wroteSecret('shop/app', 'app-connection');
  forget?.('shop/app', 'wentBack');
  expect(memory.secretsWritten('shop/app')).toEqual(['app-connection']);
  forget?.('shop/app', 'deleted');
  expect(memory.secretsWritten('shop/app')).toEqual([]);
});
