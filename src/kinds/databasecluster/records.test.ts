import { describe, expect, it } from 'vitest';
import { aCluster, type ClusterBuilder, PLACE } from '../../../test/support/builders.ts';
import { type KubeObject, keyOf } from '../../kube/object.ts';
import type { Place } from '../databasespace/place.ts';
import { claims } from './existence/claimants.ts';
import { neededSpace, SpaceMembers } from './records.ts';
import { CLUSTER_FINALIZER } from './resource.ts';

function objectOf({ subject }: ClusterBuilder, held = true): KubeObject {
  const { metadata, spec, status } = subject;
  const finalizers = held ? [CLUSTER_FINALIZER] : [];
  return {
    apiVersion: 'mooring.dev/v1alpha1',
    kind: 'DatabaseCluster',
    metadata: { ...metadata, finalizers },
    spec,
    status,
  };
}

const SPACE = 'shop/production';
const ours = aCluster().with({ deletionPolicy: 'Delete' });
const renamed = ours.owned().with({ clusterID: 'orders-eu' });
const refused = ours.withCondition('Ready', 'False', 'SpaceNotAllowed');

function membersWith(...objects: readonly KubeObject[]): SpaceMembers {
  const members = new SpaceMembers();
  for (const object of objects) members.changed(keyOf(object), undefined, object);
  return members;
}

describe('SpaceMembers.neededBy() and neededSpace()', () => {
  it.each([
    ['whose cluster exists', ours.owned(), true],
    ['that is about to create one', ours.announced(), true],
    ['that has nothing in the cloud, whatever its finalizers', refused, false],
    ['that is no longer admitted after its cluster was created', refused.owned(), true],
    ['whose cluster stays', ours.owned().with({ deletionPolicy: 'Retain' }), false],
  ])('name an object %s, or not', (_, builder, needs) => {
    const object = objectOf(builder);
    expect(membersWith(object).neededBy(SPACE)).toEqual(needs ? ['shop/orders'] : []);
    expect([neededSpace(object, false), neededSpace(object, true)]).toEqual([needs ? SPACE : undefined, SPACE]);
    expect(membersWith(objectOf(builder, false)).neededBy(SPACE)).toEqual([]);
  });
});

describe('A DatabaseCluster whose spec cannot be read any more', () => {
  const unreadable = (builder: ClusterBuilder, fields: object, held = true): KubeObject => {
    const object = objectOf(builder, held);
    return { ...object, spec: { ...(object.spec as object), ...fields } };
  };
  const LOTS = { storageSizeGB: 'lots' };
  const retained = ours.owned().with({ deletionPolicy: 'Retain' });
  const renaming = ours.owned().with({ clusterID: 'orders-eu' });

  it.each([
    ['destroys its cluster when it can be read again', unreadable(ours.owned(), LOTS), true],
    ['keeps its cluster', unreadable(retained, LOTS), false],
    ['may do either', unreadable(retained, { deletionPolicy: 7 }), true],
    ['may manage a cluster or only observe it', unreadable(ours.owned(), { managementPolicy: 'Perhaps' }), true],
    ['was released', unreadable(ours.owned(), LOTS, false), false],
    ['has nothing in the cloud', unreadable(ours, LOTS), false],
    ['says nothing of its space', unreadable(ours.owned(), { spaceRef: 'production' }), false],
  ])('needs its space if it %s, or not', (_, object, needs) => {
    expect(membersWith(object).neededBy(SPACE)).toEqual(needs ? ['shop/orders'] : []);
    expect(neededSpace(object, false)).toBe(needs ? SPACE : undefined);
  });

  it.each([
    ['that it has', unreadable(ours.owned(), LOTS), ['orders']],
    ['that it has, even if it should get another', unreadable(renaming, LOTS), ['orders']],
    ['that it has, whatever its spec says', unreadable(ours.owned(), { clusterID: 7 }), ['orders']],
    ['of none if it has nothing', unreadable(ours, LOTS), []],
  ])('stands for the id %s', (_, object, ids) => {
    expect([...membersWith(object).claimedIDs(SPACE)]).toEqual(ids);
  });
});

describe('SpaceMembers.heldIDs()', () => {
  it.each([
    ['has', ours.owned(), ['orders']],
    ['may have', ours.announced(), ['orders']],
    ['has, not the one it should get', renamed, ['orders']],
    ["only wants, as it may be somebody else's", ours, []],
  ])('has the id that an object %s', (_, builder, ids) => {
    expect([...membersWith(objectOf(builder)).heldIDs(SPACE, PLACE)]).toEqual(ids);
  });

  it('leaves out an object that has let go of its cluster, though a finalizer of somebody else keeps it', () => {
    const object = objectOf(ours.owned());
    const goes = (...finalizers: readonly string[]) => ({
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: '2026-11-21T10:00:00Z', finalizers },
    });
    const idsOf = (given: KubeObject) => [...membersWith(given).heldIDs(SPACE, PLACE)];
    expect(idsOf(goes(CLUSTER_FINALIZER, 'example.com/theirs'))).toEqual(['orders']);
    expect(idsOf(goes('example.com/theirs'))).toEqual([]);
  });

  it('leaves out what is in a place other than where its space is now', () => {
    const elsewhere = { ...PLACE, baseURL: 'https://before.example.com' };
    const idsOf = (given: ClusterBuilder) => [...membersWith(objectOf(given)).heldIDs(SPACE, PLACE)];
    expect(idsOf(ours.owned().withStatus({ place: elsewhere }))).toEqual([]);
    expect(idsOf(ours.owned().withStatus({ place: PLACE }))).toEqual(['orders']);
    expect(idsOf(ours.owned())).toEqual(['orders']);
  });
});

describe('SpaceMembers.claimedIDs() and claims()', () => {
  it.each([
    ['new', ours, true],
    ['not admitted', refused, false],
    ['no longer admitted, but has a cluster', refused.owned(), true],
  ])('ask of an object that is %s whether its id counts', (_, builder, counts) => {
    const object = objectOf(builder);
    expect([...membersWith(object).claimedIDs(SPACE)]).toEqual(counts ? ['orders'] : []);
    expect(claims(builder.subject)).toBe(counts);
  });
});

describe('SpaceMembers', () => {
  it('tells where clusters are recorded, once for each, and not where one is only wanted', () => {
    const told: unknown[] = [];
    const places = { recorded: (space: string, { spaceID }: Place, more: number) => told.push([space, spaceID, more]) };
    const members = new SpaceMembers(() => {}, places);
    const [wanted, settled] = [objectOf(aCluster()), objectOf(aCluster().healthy().withStatus({ place: PLACE }))];
    members.changed('shop/orders', undefined, wanted);
    expect(told.splice(0)).toEqual([]);
    members.changed('shop/orders', wanted, settled);
    members.changed('shop/sales', undefined, settled);
    expect(told.splice(0)).toEqual(Array(2).fill(['shop/production', 'production', 1]));
    members.changed('shop/orders', settled, undefined);
    expect(told.splice(0)).toEqual([['shop/production', 'production', -1]]);
  });

  it('tells which ids objects start and stop to have, so that spaces count anew, and nothing else', () => {
    const told: (readonly [string, string])[] = [];
    const members = new SpaceMembers((space, id) => told.push([space, id]));
    const owned = objectOf(ours.owned());
    const moved = objectOf(ours.owned().with({ spaceRef: { name: 'staging' } }));
    const other = objectOf(ours.owned().withStatus({ clusterID: 'orders-eu' }));
    const steps: readonly (readonly [KubeObject | undefined, readonly (readonly [string, string])[]])[] = [
      [objectOf(ours), []],
      [owned, [[SPACE, 'orders']]],
      [objectOf(ours.owned().with({ storageSizeGB: 200 })), []],
      [
        moved,
        [
          [SPACE, 'orders'],
          ['shop/staging', 'orders'],
        ],
      ],
      [
        other,
        [
          ['shop/staging', 'orders'],
          [SPACE, 'orders-eu'],
        ],
      ],
      [
        owned,
        [
          [SPACE, 'orders-eu'],
          [SPACE, 'orders'],
        ],
      ],
      [undefined, [[SPACE, 'orders']]],
    ];
    let before: KubeObject | undefined;
    for (const [after, ids] of steps) {
      members.changed('shop/orders', before, after);
      expect(told.splice(0)).toEqual(ids);
      before = after;
    }
  });

  const named = (name: string, space: string, place = PLACE) => {
    const object = objectOf(
      ours
        .owned()
        .with({ spaceRef: { name: space } })
        .withStatus({ place }),
    );
    return {
      ...object,
      metadata: { ...object.metadata, name },
      status: { ...(object.status as object), clusterID: name },
    };
  };
  const seen = (members: SpaceMembers, space: string) => [[...members.of(space)], [...members.claimedIDs(space)]];

  it('follows objects that come, move to another space, and go', () => {
    const members = membersWith(named('a', 'production'), named('b', 'production'));
    expect(seen(members, 'shop/production')[0]).toEqual(['shop/a', 'shop/b']);
    members.changed('shop/a', named('a', 'production'), named('a', 'staging'));
    expect([[...members.of('shop/production')], [...members.of('shop/staging')]]).toEqual([['shop/b'], ['shop/a']]);
    members.changed('shop/b', named('b', 'production'), undefined);
    expect(seen(members, 'shop/production')).toEqual([[], []]);
  });

  it('decides again about the ids of a space only after a change', () => {
    const members = membersWith(named('a', 'production'), named('b', 'staging'));
    const ids = () => members.heldIDs('shop/production', PLACE);
    const first = ids();
    members.changed('shop/b', named('b', 'staging'), undefined);
    expect(ids()).toBe(first);
    members.changed('shop/c', undefined, named('c', 'production'));
    expect([...ids()]).toContain('c');
    members.changed('shop/a', named('a', 'production'), undefined);
    expect([...ids()]).not.toContain('a');
    expect([...members.heldIDs('shop/production', { ...PLACE, spaceID: 'elsewhere' })]).toEqual([]);
    expect([...ids()]).toContain('c');
  });

  it('leaves out an object whose spec names no space', () => {
    const members = membersWith(named('a', 'production'));
    members.changed('shop/a', named('a', 'production'), { ...named('a', 'production'), spec: {} });
    expect(seen(members, 'shop/production')).toEqual([[], []]);
  });

  it('distinguishes places, even if most clusters are in one', () => {
    const elsewhere = { ...PLACE, spaceID: 'elsewhere' };
    const members = membersWith(
      named('a', 'production'),
      named('b', 'production', elsewhere),
      named('c', 'production'),
    );
    const idsIn = (place: typeof PLACE) => [...members.heldIDs('shop/production', place)];
    expect([idsIn(PLACE), idsIn(elsewhere)].map((ids) => ids.filter((id) => id.length === 1))).toEqual([
      ['a', 'c'],
      ['b'],
    ]);
  });
});
