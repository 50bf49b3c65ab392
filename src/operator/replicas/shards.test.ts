import { expect, test } from 'vitest';
import { aCluster } from '../../../test/support/builders.ts';
import { aUser } from '../../../test/support/user-builders.ts';
import type { KubeObject } from '../../kube/object.ts';
import { Shards } from './shards.ts';

const objectOf = ({ subject: { metadata, spec } }: { readonly subject: Pick<KubeObject, 'metadata' | 'spec'> }) => ({
  apiVersion: 'mooring.dev/v1alpha1',
  kind: '',
  metadata,
  spec,
});

test('Shards knows the shard of an object until it is gone, and says which one it has left', () => {
  const shards = new Shards(undefined);
  expect(shards.see('clusters', 'shop/orders', objectOf(aCluster()))).toBeUndefined();
  expect(shards.see('users', 'shop/app', objectOf(aUser()))).toBeUndefined();
  expect([shards.of('users', 'shop/app'), shards.unseen('users', 'shop/app')]).toEqual([
    'shop/production',
    { kind: 'spaces', key: 'shop/production' },
  ]);
  const moved = objectOf(aCluster().with({ spaceRef: { name: 'staging' } }));
  expect(shards.see('clusters', 'shop/orders', moved)).toBe('shop/production');
  expect(shards.of('users', 'shop/app')).toBe('shop/staging');

  expect(shards.see('clusters', 'shop/orders', undefined)).toBe('shop/staging');
  expect([shards.has('clusters', 'shop/orders'), shards.keys('clusters')]).toEqual([false, []]);
  expect(shards.unseen('users', 'shop/app')).toEqual({ kind: 'clusters', key: 'shop/orders' });
});
