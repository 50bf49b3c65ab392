import { expect, it } from 'vitest';
import { aCluster, type ClusterBuilder, CREATED_AT, PLACE } from '../../../../test/support/builders.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { ClusterSubject } from '../observation.ts';
import type { ClusterWorld } from '../world.ts';
import { firstClaimant } from './claimants.ts';

const older = aCluster().subject;
const former = { clusterID: 'orders', createdAt: CREATED_AT };

/** A world with one other object, of another name. `through`: the DatabaseSpace that it names, and what that one's Ready says. */
function withOther(
  metadata: Partial<KubeObject['metadata']>,
  spec: object,
  status: Pick<ClusterSubject['status'], 'createdAt' | 'former' | 'place'>,
  through: { readonly space: string; readonly ready?: string } = { space: 'shop/production' },
  poller: { readonly lists?: number; readonly shown?: string } = {},
): (subject: ClusterSubject) => Parameters<typeof firstClaimant>[0] {
  const other: KubeObject = {
    apiVersion: '',
    kind: 'DatabaseCluster',
    metadata: { ...older.metadata, namespace: 'shop', generation: 1, name: 'older', uid: 'older', ...metadata },
    spec: { ...older.spec, clusterID: 'orders', ...spec },
    status: { ...older.status, ...status },
  };
  const world = {
    places: { get: () => PLACE, same: (space: string) => new Set([space, through.space]) },
    claimants: (space: string) => (space === through.space ? ['shop/older'] : []),
    recorders: (createdAt: string) =>
      createdAt === (status.createdAt ?? status.former?.createdAt) ? ['shop/older'] : [],
    cluster: () => other,
    space: () => through.ready && { ready: { status: through.ready } },
  } as unknown as ClusterWorld;
  const shown = poller.shown === undefined ? undefined : ({ createdAt: Date.parse(poller.shown) } as Cluster);
  const connection = {
    place: PLACE,
    poller: { get: () => shown, listsBeside: (id: string) => (id === 'before' ? (poller.lists ?? 0) : 0) },
  };
  return (subject) => ({ world, subject, connection });
}

it.each([
  ['whose cluster has vanished, after the cloud refused another one', aCluster().withStatus({ former }), undefined],
  ['that has announced it', aCluster().announced(), undefined],
  ['that has nothing yet', aCluster(), 'shop/older'],
])('Which object comes first of an older one that wants an id, and one %s', (_what, given, first) => {
  const lookOf = withOther({ creationTimestamp: '2026-11-20T08:00:00Z' }, {}, {});
  expect(firstClaimant(lookOf(given.subject), 'orders', undefined)).toBe(first);
});

it.each<[string, ClusterBuilder, string, string | undefined]>([
  [
    'belongs to the object that has just renamed it, whatever its status still says',
    aCluster(),
    CREATED_AT,
    'shop/older',
  ],
  ['of another time is free', aCluster(), '2026-11-20T08:00:00.123Z', undefined],
  [
    'stays with the object that has it, if two were created at the same time',
    aCluster().owned(),
    CREATED_AT,
    undefined,
  ],
])('A cluster under an id that another object wants %s', (_what, given, createdAt, first) => {
  const renaming = { clusterID: 'before', createdAt: CREATED_AT };
  const lookOf = withOther({ creationTimestamp: '2026-11-20T08:00:00Z' }, {}, renaming);
  const cluster = { id: 'orders', createdAt: Date.parse(createdAt) } as Cluster;
  expect(firstClaimant(lookOf(given.subject), 'orders', cluster)).toBe(first);
});

it('A cluster that another object has stays its own while a look goes on whose DatabaseSpace is gone by now', () => {
  const lookOf = withOther({}, {}, { createdAt: CREATED_AT, place: PLACE });
  const look = lookOf(aCluster().subject);
  const asked: unknown[] = [];
  const places = {
    get: () => undefined,
    same: (space: string, place: unknown) => {
      asked.push(place);
      return place === undefined ? [] : [space];
    },
  };
  const cluster = { id: 'orders', createdAt: Date.parse(CREATED_AT) } as Cluster;
  const world = { ...look.world, places } as unknown as ClusterWorld;
  expect([firstClaimant({ ...look, world }, 'orders', cluster), asked]).toEqual(['shop/older', [PLACE]]);
});

const WHOLE = '2026-11-20T09:00:00.000Z';
const PRECISE = '2026-11-20T09:00:00.123Z';
it.each<[string, string, Parameters<typeof withOther>[4], string | undefined]>([
  ['is shown only here', PRECISE, {}, 'shop/older'],
  ['was in one List under both', PRECISE, { lists: 1, shown: PRECISE }, 'shop/older'],
  ['was in three Lists beside this one', PRECISE, { lists: 3, shown: PRECISE }, undefined],
  ['is shown there, if the time is in whole seconds', WHOLE, { lists: 1, shown: WHOLE }, undefined],
  ['is not shown there, and the time is in whole seconds', WHOLE, {}, 'shop/older'],
  ['is another one there by now, and the time is in whole seconds', WHOLE, { shown: CREATED_AT }, 'shop/older'],
])('A cluster that an older object knows under another id %s', (_what, createdAt, poller, first) => {
  const known = { clusterID: 'before', createdAt };
  const metadata = { creationTimestamp: '2026-11-20T08:00:00Z' };
  const lookOf = withOther(metadata, { clusterID: 'before' }, known, undefined, poller);
  const cluster = { id: 'orders', createdAt: Date.parse(createdAt) } as Cluster;
  expect(firstClaimant(lookOf(aCluster().subject), 'orders', cluster)).toBe(first);
});

it('A cluster that was created at the very moment at which that of an object elsewhere was is free', () => {
  const known = { clusterID: 'before', createdAt: PRECISE, place: { ...PLACE, spaceID: 'else' } };
  const lookOf = withOther({ creationTimestamp: '2026-11-20T08:00:00Z' }, { clusterID: 'before' }, known);
  const cluster = { id: 'orders', createdAt: Date.parse(PRECISE) } as Cluster;
  expect(firstClaimant(lookOf(aCluster().subject), 'orders', cluster)).toBeUndefined();
});

it.each<[string, number, string | undefined]>([
  ['belongs to it while the last List may be older than the rename', 0, 'shop/older'],
  ['is free once three Lists have shown both', 3, undefined],
])(
  'A cluster that has the id to which an older object renames its own, created in the same second, %s',
  (_what, lists, first) => {
    const known = { clusterID: 'before', createdAt: WHOLE };
    const metadata = { creationTimestamp: '2026-11-20T08:00:00Z' };
    const lookOf = withOther(metadata, {}, known, undefined, { lists, shown: WHOLE });
    const cluster = { id: 'orders', createdAt: Date.parse(WHOLE) } as Cluster;
    expect(firstClaimant(lookOf(aCluster().subject), 'orders', cluster)).toBe(first);
  },
);

it.each<[string, number, string | undefined]>([
  ['is still its own when it comes back under another id', 0, 'shop/older'],
  ['is not one that three Lists showed beside it', 3, undefined],
])('A cluster that has vanished, and that its object creates another one for, %s', (_what, lists, first) => {
  const vanished = { former: { clusterID: 'before', createdAt: PRECISE }, place: PLACE };
  const metadata = { creationTimestamp: '2026-11-20T10:00:00Z' };
  const lookOf = withOther(metadata, { clusterID: 'before' }, vanished, undefined, { lists });
  const cluster = { id: 'orders', createdAt: Date.parse(PRECISE) } as Cluster;
  expect(firstClaimant(lookOf(aCluster().subject), 'orders', cluster)).toBe(first);
});

it('A cluster that an older object knows under another id belongs to it even if the DatabaseSpace is gone during the look', () => {
  const known = { clusterID: 'before', createdAt: PRECISE, place: PLACE };
  const lookOf = withOther({ creationTimestamp: '2026-11-20T08:00:00Z' }, { clusterID: 'before' }, known);
  const look = lookOf(aCluster().subject);
  const gone = { get: () => undefined, same: () => new Set([]) };
  const world = { ...look.world, places: gone, connections: gone } as unknown as ClusterWorld;
  const cluster = { id: 'orders', createdAt: Date.parse(PRECISE) } as Cluster;
  expect(firstClaimant({ ...look, world }, 'orders', cluster)).toBe('shop/older');
});

const elsewhere = { spaceRef: { name: 'beside' } };
it.each<[string, object, string | undefined, string | undefined]>([
  ['wants it, does not count while that one is not there', {}, undefined, undefined],
  ['wants it, does not count while that one is not Ready', {}, 'False', undefined],
  ['wants it, counts while that one is Ready', {}, 'True', 'shop/older'],
  ['has it, counts though that one is not there', { createdAt: CREATED_AT, place: PLACE }, undefined, 'shop/older'],
])('An older object that names the same place through another DatabaseSpace, and %s', (_what, status, ready, first) => {
  const through = { space: 'shop/beside', ...(ready === undefined ? {} : { ready }) };
  const lookOf = withOther({ creationTimestamp: '2026-11-20T08:00:00Z' }, elsewhere, status, through);
  expect(firstClaimant(lookOf(aCluster().subject), 'orders', undefined)).toBe(first);
});
