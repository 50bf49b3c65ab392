import { expect, test, vi } from 'vitest';
import { aCluster } from '../../../test/support/builders.ts';
import { databaseClusterKind } from './index.ts';
import type { ClusterStep } from './observation.ts';
import type { ClusterWorld } from './world.ts';

test('databaseClusterKind() groups clusters by their space, whose limit they share', () => {
  const kind = databaseClusterKind({} as ClusterWorld);
  const groupOf = (spaceRef: object) => kind.group?.(aCluster().with({ spaceRef }).subject);
  expect(groupOf({ name: 'production' })).toBe('shop/production');
  expect(groupOf({ name: 'production', namespace: 'platform' })).toBe('platform/production');
});

test('databaseClusterKind() looks again when anything changes that the object names', () => {
  const { subject } = aCluster().with({
    clusterID: 'renamed',
    spaceRef: { name: 'production', namespace: 'platform' },
    adminCredentials: { existingSecretRef: { name: 'old-login' } },
    cloneFrom: { clusterRef: { name: 'source' } },
  });
  const { references } = databaseClusterKind({} as ClusterWorld);
  expect(references({ ...subject, status: { ...subject.status, clusterID: 'orders' } })).toEqual([
    'databasespaces/platform/production',
    'leaving/shop/orders',
    'clusters/platform/production/orders',
    'clusters/platform/production/renamed',
    'secrets/shop/orders-admin',
    'secrets/shop/old-login',
    'databaseclusters/shop/source',
  ]);
});

test('databaseClusterKind() refers to the cluster that it has, and to one that vanished', () => {
  const { references } = databaseClusterKind({} as ClusterWorld);
  const created = ({ subject }: ReturnType<typeof aCluster>) =>
    references(subject).filter((reference) => reference.startsWith('created/'));
  const createdAt = '2026-11-20T09:00:00.123Z';
  expect(created(aCluster().withStatus({ clusterID: 'orders', createdAt }))).toEqual([`created/${createdAt}`]);
  expect(created(aCluster().withStatus({ former: { clusterID: 'orders', createdAt } }))).toEqual([
    `created/${createdAt}`,
  ]);
});

test.each([
  [
    'that may come up, with the login that new clusters come with',
    aCluster().announced(),
    /"orders" was asked for, and stays if it comes up/,
  ],
  [
    'whose first login may work',
    aCluster().owned(),
    /"orders" .*stays, and the login that new clusters come with may work/,
  ],
  ['whose first login was retired', aCluster().healthy(), undefined],
  ['that it has only observed', aCluster().owned().observedBefore(), undefined],
  ['that is nowhere', aCluster(), undefined],
])(
  'databaseClusterKind() says at most once what is left of an abandoned cluster %s',
  async (_, { subject }, message) => {
    const onLeft = vi.fn<ClusterWorld['onLeft']>();
    await databaseClusterKind({ onLeft } as Partial<ClusterWorld> as ClusterWorld).abandon?.(subject);
    expect(onLeft.mock.calls).toEqual(message === undefined ? [] : [['shop/orders', expect.stringMatching(message)]]);
  },
);

test.each([
  ['its URL was refused, as that may be allowed by now', 'ServerURLNotAllowed', aCluster().owned(), true],
  ['there was no cluster, as the List shows one that comes', 'ClusterNotFound', aCluster(), true],
  ["there was somebody else's cluster, as the List shows when it goes", 'ClusterIDInUse', aCluster(), true],
  ['its cluster cannot be renamed, as that costs a request', 'ClusterIDInUse', aCluster().owned(), false],
  ['a person must act', 'SecretNotOurs', aCluster(), false],
])(
  'databaseClusterKind() looks at once, or not, at an object that is found stalled: %s',
  (_, reason, given, isAtOnce) => {
    const { restless } = databaseClusterKind({} as ClusterWorld);
    expect(restless?.(given.withCondition('Ready', 'False', reason).subject.status)).toBe(isAtOnce);
  },
);

test('databaseClusterKind() looks again when the cluster changes that is to be cloned, until there is a clone', () => {
  const { references } = databaseClusterKind({} as ClusterWorld);
  const clone = aCluster().with({ cloneFrom: { clusterID: 'source' } });
  expect(references(clone.subject)).toContain('clusters/shop/production/source');
  expect(references(clone.owned().subject)).not.toContain('clusters/shop/production/source');
});

test.each<[ClusterStep, string]>([
  [{ do: 'Deploy', id: 'a' }, 'deploy cluster "a"'],
  [{ do: 'Clone', id: 'a', source: 'b' }, 'clone cluster "b" to "a"'],
  [{ do: 'Destroy', id: 'a' }, 'destroy cluster "a" and its data'],
  [{ do: 'Suspend', id: 'a' }, 'suspend cluster "a"'],
  [{ do: 'Resume', id: 'a' }, 'resume cluster "a"'],
  [{ do: 'Rename', id: 'a', to: 'b' }, 'rename cluster "a" to "b"'],
  [
    { do: 'Update', id: 'a', changes: { storageSizeGB: 1, machineType: 'm' } },
    'update cluster "a": storageSizeGB, machineType',
  ],
  [{ do: 'PreparePassword', from: 'factory' }, 'write a new password to the admin Secret'],
  [{ do: 'PreparePassword', from: 'current' }, 'write a new password to the admin Secret, beside the one that works'],
  [{ do: 'PutPassword', id: 'a', as: 'current' }, 'replace the password of the admin user of cluster "a"'],
  [{ do: 'PromotePassword' }, 'make the new password the one in the admin Secret'],
  [{ do: 'DeleteSecret' }, 'delete the admin Secret, if there is one, as this object has no cluster'],
  [{ do: 'TellLeft', id: 'a', message: '' }, 'let go of cluster "a", which may still be there'],
  [
    { do: 'TellFactoryLogin', id: 'a', message: '' },
    'let go of cluster "a", with the login that new clusters come with',
  ],
  [{ do: 'RetireSecret', names: ['a', 'b'] }, 'delete the former admin Secret "a" and "b"'],
])('databaseClusterKind() says what it is going to do: $do', (step, words) => {
  expect(databaseClusterKind({} as ClusterWorld).describe(step)).toBe(words);
});
