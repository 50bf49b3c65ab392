import { expect, it } from 'vitest';
import { aCluster, CREATED_AT, PLACE } from '../../../../test/support/builders.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { DatabaseClusterStatus } from '../schema.ts';
import { createdReference, type SharingWorld, sharedWith } from './sharing.ts';

const ENDPOINT = 'https://orders.example.test:8000';
const { subject } = aCluster().owned().withStatus({ place: PLACE, endpoint: ENDPOINT });
const OLDER = '2026-11-20T08:00:00Z';
const NEWER = '2026-11-27T08:00:00Z';

const SPACES = ['shop/production', 'copy/production'];

/** A world with the subject and another object, which records what it records except for this. */
function sharedWithOther(
  creationTimestamp: string,
  status: object,
  /** The ids that the cloud shows. */
  shown: readonly string[] = ['orders', 'other'],
  /** The DatabaseSpaces that are connected: the subject's, the other's. */
  connected: readonly string[] = SPACES,
  shownCreatedAt = CREATED_AT,
) {
  const other: KubeObject = {
    apiVersion: '',
    kind: 'DatabaseCluster',
    metadata: { ...subject.metadata, namespace: 'copy', uid: 'other', creationTimestamp },
    spec: subject.spec,
    status: { ...subject.status, ...status },
  };
  const get = (id: string) =>
    shown.includes(id) ? ({ id, createdAt: Date.parse(shownCreatedAt) } as Cluster) : undefined;
  return sharedWith(
    {
      places: { get: () => PLACE },
      connections: {
        get: (space: string) => (connected.includes(space) ? { place: PLACE, poller: { get } } : undefined),
      },
      referring: () => ['shop/orders', 'copy/orders'],
      cluster: (key: string) => (key === 'copy/orders' ? other : undefined),
    } as unknown as SharingWorld,
    { ...subject, metadata: { ...subject.metadata, creationTimestamp: '2026-11-25T08:00:00Z' } },
  );
}

it.each<[string, string, object, readonly string[] | undefined, string | undefined]>([
  ['belongs to the older one', OLDER, {}, undefined, 'copy/orders'],
  ['belongs to this one, if it is older', NEWER, {}, undefined, undefined],
  [
    'belongs to the one that knows its id, even if it is newer',
    NEWER,
    { clusterID: 'other' },
    ['other'],
    'copy/orders',
  ],
  ['belongs to this one, if it knows its id', OLDER, { clusterID: 'other' }, ['orders'], undefined],
  ['belongs to the older one while nobody knows the id', OLDER, { clusterID: 'other' }, [], 'copy/orders'],
  [
    'of another server is another one',
    OLDER,
    { clusterID: 'other', endpoint: 'https://other.example.test:8000' },
    [],
    undefined,
  ],
  ['without a server is another one', OLDER, { clusterID: 'other', endpoint: undefined }, [], undefined],
  ['in another place is another one', OLDER, { place: { ...PLACE, spaceID: 'else' } }, undefined, undefined],
  ['of another time is another one', OLDER, { createdAt: '2026-11-20T08:00:00.124Z' }, [], undefined],
])('A cluster that another object records, too, %s', (_what, creationTimestamp, status, shown, first) => {
  expect(sharedWithOther(creationTimestamp, status, shown)).toBe(first);
});

it.each(SPACES)('The one that knows its id is found with the List of either DatabaseSpace (%s)', (space) => {
  expect(sharedWithOther(NEWER, { clusterID: 'other' }, ['other'], [space])).toBe('copy/orders');
});

it('Another cluster under its id does not show that an object knows the id', () => {
  const status = { clusterID: 'other' };
  expect(sharedWithOther(NEWER, status, ['other'], SPACES, '2026-11-27T08:00:00.124Z')).toBeUndefined();
});

it('Objects without a cluster share none', () => {
  const nothing = aCluster().subject;
  expect(createdReference(nothing)).toBeUndefined();
  const older = {
    ...nothing,
    metadata: { ...nothing.metadata, namespace: 'copy', uid: 'other', creationTimestamp: OLDER },
  };
  const world = {
    places: { get: () => PLACE },
    connections: { get: () => undefined },
    referring: () => ['copy/orders'],
    cluster: () => older,
  } as unknown as SharingWorld;
  expect(sharedWith(world, nothing)).toBeUndefined();
});

it('Where clusters have no creation time, only objects that record the same id are compared', () => {
  const referenceOf = (status: Partial<DatabaseClusterStatus>) =>
    createdReference(aCluster().withStatus(status).subject);
  expect(referenceOf({ createdAt: 'unknown', clusterID: 'a' })).not.toBe(
    referenceOf({ createdAt: 'unknown', clusterID: 'b' }),
  );
  expect(referenceOf({ createdAt: CREATED_AT, clusterID: 'a' })).toBe(
    referenceOf({ createdAt: CREATED_AT, clusterID: 'b' }),
  );
});
