import { describe, expect, it } from 'vitest';
import { aCluster, aSpace, type ClusterBuilder, PLACE } from '../../../../test/support/builders.ts';
import { kindBench } from '../../../../test/support/kind-bench.ts';
import { FOREIGN, listAgain, observe } from '../../../../test/support/observed-cluster.ts';
import { placesOf } from '../../../../test/support/places.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { SpaceSeen } from '../observation.ts';
import type { ClusterWorld } from '../world.ts';

const { signal } = new AbortController();

type Builders = Readonly<Record<string, ClusterBuilder>>;

/** As the API server shows it, under another name. */
function objectOf(name: string, { subject: { metadata, spec, status } }: ClusterBuilder): KubeObject {
  const { namespace = '', generation = 0 } = metadata;
  const own = { ...metadata, namespace, generation, name, uid: `uid-of-${name}` };
  return { apiVersion: '', kind: 'DatabaseCluster', metadata: own, spec, status };
}

/** A space where cluster `source` runs, and what an object sees there as the source of its clone. */
async function aPlace() {
  const bench = await kindBench();
  bench.simulator.deployForeign({ id: 'source', ...FOREIGN });
  const connection = bench.world().connections.get('shop/production');
  await connection?.poller.refresh();
  const createdAt = new Date(bench.clock.now()).toISOString();
  return {
    bench,
    /** The object that has this cluster. */
    its: { clusterID: 'source', createdAt },
    suspend: async () => {
      await connection?.client.suspend('source', signal);
      await bench.clock.advance(600_000);
      await connection?.poller.refresh();
    },
    /** `others`: by `namespace/name`, or by name in the same namespace. */
    seen: async (clone: ClusterBuilder, others: Builders, changes: Partial<ClusterWorld> = {}) => {
      const objects = new Map(
        Object.entries({ orders: clone, ...others }).map(([key, builder]) => {
          const [name = '', namespace = 'shop'] = key.split('/').toReversed();
          const object = objectOf(name, builder);
          return [`${namespace}/${name}`, { ...object, metadata: { ...object.metadata, namespace } }];
        }),
      );
      const keys = [...objects.keys()] as `${string}/${string}`[];
      const known = { cluster: (key: string) => objects.get(key), claimants: () => keys };
      const seen = await observe(bench, clone, { ...known, ...changes });
      return (seen as SpaceSeen).cloneSource;
    },
  };
}

const KEY = 'shop/orders';
const byName = aCluster().with({ cloneFrom: { clusterRef: { name: 'source' } } });
const byID = aCluster().with({ cloneFrom: { clusterID: 'source' } });
const known = { is: 'known', id: 'source' };

describe('A clone of a cluster whose login is about to change', () => {
  const taken = aCluster().owned().withCondition('CredentialsSecured', 'False', 'NotYet');
  const secured = aCluster()
    .healthy()
    .with({ adminCredentials: { secretName: 'orders-admin' } });

  it('waits for that, and says so', async () => {
    const { seen, its } = await aPlace();
    expect(await seen(byName, { source: taken.withStatus(its) })).toEqual({
      is: 'waiting',
      message:
        'Waiting for DatabaseCluster "source", which is to be cloned, to have its login secured: a clone made meanwhile may have a password that nobody knows. Mooring waits ten minutes at most. If it takes long, look at that DatabaseCluster',
    });
    expect(await seen(byName, { source: secured.withStatus(its) })).toMatchObject(known);
  });

  it('waits ten minutes at most, each time anew', async () => {
    const { seen, its, bench } = await aPlace();
    const source = taken.withStatus(its);
    const atMs = async (ms: number) => {
      const now = bench.clock.monotonic();
      const clock = { ...bench.clock, now: bench.clock.now, monotonic: () => now + ms };
      return (await seen(byName, { source }, { clock }))?.is;
    };
    const told = [await atMs(0), await atMs(599_000), await atMs(600_000), await atMs(700_000)];
    expect(told).toEqual(['waiting', 'waiting', 'known', 'known']);
    await seen(byName, { source: secured.withStatus(its) });
    expect(await atMs(800_000)).toBe('waiting');
    bench.world().memory.forget('shop/orders', 'deleted');
    expect(await atMs(1_400_000)).toBe('waiting');
  });

  it('does not wait for a new password that waits for the clone itself, as it was asked for before that was due', async () => {
    const { seen, its, bench } = await aPlace();
    const due = secured.withStatus({ ...its, lastRotation: '2020-01-01T00:00:00.000Z' }).annotated('rotate-at', 'now');
    const announced = byName.announced('Clone');
    const clone = { ...objectOf('orders', announced), metadata: { ...announced.subject.metadata, generation: 1 } };
    const lookAtSource = async (ms: number) => {
      const clock = { ...bench.clock, now: bench.clock.now, monotonic: () => ms };
      const known = {
        clock,
        cluster: () => clone as KubeObject,
        clones: (key: string) => (key === 'shop/source' ? [KEY] : []),
      };
      const { metadata } = objectOf('source', due);
      const subject = {
        ...due.subject,
        key: 'shop/source' as const,
        metadata: { ...due.subject.metadata, ...metadata },
      };
      const { clones } = (await observe(bench, { subject }, known)) as SpaceSeen;
      return [clones?.length, (await seen(announced, { source: due }, { clock }))?.is];
    };
    expect(await seen(announced, { source: due })).toMatchObject({ is: 'waiting' });
    expect([await lookAtSource(1_000), await lookAtSource(3_600_000)]).toEqual([
      [1, 'known'],
      [1, 'known'],
    ]);
    expect(await lookAtSource(3_601_000)).toEqual([0, 'waiting']);
  });

  it.each([
    ['by its object', byName],
    ['by its id', byID],
  ])('waits until what it names %s runs or is suspended, as the cloud clones nothing else', async (_, clone) => {
    const { seen, its, bench } = await aPlace();
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const cluster = poller.get('source') ?? expect.unreachable();
    for (const [status, is] of [
      ['starting', 'waiting'],
      ['resuming', 'waiting'],
      ['running', 'known'],
    ]) {
      poller.learn('source', { ...cluster, status: status ?? '' }, bench.clock.monotonic() + 1);
      await bench.clock.advance(2);
      expect(await seen(clone, { source: secured.withStatus(its) }), status).toMatchObject({ is });
    }
  });

  it('does not wait for one that is suspended, as its login stays until it runs', async () => {
    const { seen, its, suspend } = await aPlace();
    await suspend();
    expect(await seen(byName, { source: taken.withStatus(its) })).toMatchObject(known);
  });

  it('waits likewise if it is named by its id, and the clone is signed in to with the Secret of its object', async () => {
    const { seen, its } = await aPlace();
    const source = taken.withStatus(its).with({ adminCredentials: { secretName: 'source-admin' } });
    const named = (name: string) => byID.with({ adminCredentials: { existingSecretRef: { name } } });
    expect(await seen(named('source-admin'), { source })).toMatchObject({ is: 'waiting' });
    // The login that the source has now, or another object's.
    expect(await seen(named('legacy'), { source })).toMatchObject(known);
    expect(await seen(byID, { source })).toMatchObject(known);
    const theirs = source.with({ allowedNamespaces: { from: 'All' } });
    expect(await seen(named('source-admin'), { 'bank/source': theirs })).toMatchObject(known);
    for (const status of [{ clusterID: 'other' }, { createdAt: '2020-01-01T00:00:00.000Z' }, { createdAt: undefined }])
      expect(await seen(named('source-admin'), { source: source.withStatus(status) })).toMatchObject(known);
  });
});

describe('Clones that wait for one another', () => {
  const cloneOf = (name: string) => aCluster().with({ cloneFrom: { clusterRef: { name } } });
  const cloneOfID = (clusterID: string) => aCluster().with({ cloneFrom: { clusterID } });
  const circle = (links: string) => ({
    is: 'unusable',
    reason: 'InvalidSpec',
    message: `spec.cloneFrom is part of a circle, so nothing can be cloned: DatabaseCluster ${links}. Delete one of these objects, and apply it again with another source or without cloneFrom`,
  });

  it.each<[string, ClusterBuilder, Builders, string]>([
    ['two', cloneOf('y4'), { y4: cloneOf('orders') }, '"orders" from "y4", "y4" from "orders"'],
    [
      'three',
      cloneOf('a'),
      { a: cloneOf('b'), b: cloneOf('orders') },
      '"orders" from "a", "a" from "b", "b" from "orders"',
    ],
    ['by id', cloneOfID('y4'), { y4: cloneOfID('orders') }, '"orders" from "y4", "y4" from "orders"'],
    [
      'by an id other than the name',
      cloneOfID('y-4').with({ clusterID: 'o-1' }),
      { y4: cloneOfID('o-1').with({ clusterID: 'y-4' }) },
      '"orders" from "y4", "y4" from "orders"',
    ],
    [
      'many',
      cloneOf('a'),
      { a: cloneOf('b'), b: cloneOf('c'), c: cloneOf('d'), d: cloneOf('e'), e: cloneOf('orders') },
      '"orders" from "a", "a" from "b", "b" from "c", "c" from "d", "d" from "e" and 1 more',
    ],
  ])('are told so: %s', async (_what, clone, others, links) => {
    const { seen } = await aPlace();
    expect(await seen(clone, others)).toEqual(circle(links));
  });

  it.each<[string, Builders]>([
    ['the other has a cluster', { y4: cloneOf('orders').owned() }],
    ['the other may have one', { y4: cloneOf('orders').announced('Clone') }],
    ['the other is deleted', { y4: cloneOf('orders').deleting() }],
    ['the other waits for a cluster of somebody else', { y4: cloneOf('orders').with({ adoptionPolicy: 'MustExist' }) }],
    ['the other is about to take over one that exists', { y4: cloneOf('orders').with({ clusterID: 'source' }) }],
    ['the other is no clone', { y4: aCluster() }],
    ['the others make a circle without it', { y4: cloneOf('b'), b: cloneOf('y4') }],
    ['the other is in another namespace', { 'bank/y4': cloneOf('orders') }],
    ['there is no other', {}],
  ])('go on waiting if %s', async (_why, others) => {
    const { seen } = await aPlace();
    expect(await seen(cloneOf('y4'), others)).toMatchObject({ is: 'waiting' });
  });

  it('go on waiting for an id that an object in another namespace wants', async () => {
    const { seen } = await aPlace();
    expect(await seen(cloneOfID('y4'), { 'bank/y4': cloneOfID('orders') })).toMatchObject({ is: 'waiting' });
  });
});

describe('A clone whose source has other properties than its spec, which never change', () => {
  it.each([
    ['servers, also if its spec does not say how many', {}, 'serverCount is 3, the spec says 1'],
    [
      'servers and a region',
      { region: 'us-east1', provider: 'aws' },
      'provider is gcp, the spec says aws; region is europe-west2, the spec says us-east1; serverCount is 3',
    ],
  ])('is not made, and says so: %s', async (_, spec, what) => {
    const cloned = { cloneFrom: { clusterID: 'source' }, provider: 'gcp', version: undefined, ...spec };
    const bench = await kindBench({ spec: cloned });
    bench.simulator.deployForeign({ id: 'source', ...FOREIGN, version: '2.29.1', serverCount: 3 });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False InvalidSpec');
    expect(bench.calls).not.toContain('clone');
    const { conditions = [], operation } = bench.status();
    expect(conditions[0]?.message).toContain(what);
    expect(conditions[0]?.message).toContain('delete this object, and create it again with what the source has');
    expect(operation).toBeUndefined();
  });

  it('is made if its spec says the same, or nothing', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' }, serverCount: 3, version: undefined } });
    bench.simulator.deployForeign({ id: 'source', ...FOREIGN, version: '2.29.1', serverCount: 3 });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('True Running');
    expect(bench.calls).toContain('clone');
  });
});

describe('observeCluster() looks for the source of a clone and', () => {
  const clone = aCluster().with({ cloneFrom: { clusterRef: { name: 'source' } } });
  /** The DatabaseCluster `source`, with a cluster in the cloud. */
  async function withSource(change: (source: ClusterBuilder) => ClusterBuilder = (source) => source) {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'source', ...FOREIGN });
    await listAgain(bench);
    const createdAt = new Date(bench.clock.now()).toISOString();
    const { metadata, spec, status } = change(
      aCluster().healthy().withStatus({ clusterID: 'source', createdAt }),
    ).subject;
    const source = { apiVersion: '', kind: 'DatabaseCluster', metadata, spec, status };
    return { bench, known: { cluster: () => source } };
  }

  it('takes the id of one that exists', async () => {
    const { bench } = await withSource();
    const byID = aCluster().with({ cloneFrom: { clusterID: 'source' } });
    expect(await observe(bench, byID)).toMatchObject({ cloneSource: { is: 'known', id: 'source' } });
    bench.simulator.vanish('source');
    await listAgain(bench);
    expect(await observe(bench, byID)).toMatchObject({ cloneSource: { is: 'waiting' } });
  });

  it('takes the cluster of a DatabaseCluster', async () => {
    const { bench, known } = await withSource();
    expect(await observe(bench, clone, known)).toMatchObject({ cloneSource: { is: 'known', id: 'source' } });
  });

  describe('by its id, if the DatabaseCluster that has it is in another namespace,', () => {
    const byID = aCluster().with({ cloneFrom: { clusterID: 'source' } });
    const theirs = async (
      change: (source: ClusterBuilder) => ClusterBuilder = (source) => source,
      given: Parameters<typeof observe>[2] = {},
    ) => {
      const { bench, known } = await withSource(change);
      const source = known.cluster();
      const elsewhere = {
        ...source,
        metadata: { ...source.metadata, namespace: 'bank', name: 'vault', uid: 'other' },
        spec: { ...source.spec, spaceRef: { ...source.spec.spaceRef, namespace: 'shop' } },
      };
      const namespaceLabels = async () => ({ team: 'shop' });
      const claimants = () => ['bank/vault'];
      return observe(bench, byID, { cluster: () => elsewhere, claimants, namespaceLabels, ...given });
    };

    it('takes it only if that DatabaseCluster admits this namespace', async () => {
      expect(await theirs()).toMatchObject({ cloneSource: { is: 'unusable', reason: 'ClusterNotAllowed' } });
      const selector = { matchLabels: { team: 'shop' } };
      for (const allowedNamespaces of [{ from: 'All' }, { from: 'Selector', selector }] as const) {
        const seen = await theirs((source) => source.with({ allowedNamespaces }));
        expect(seen).toMatchObject({ cloneSource: { is: 'known', id: 'source' } });
      }
      const allowedNamespaces = { from: 'Selector', selector: { matchLabels: { team: 'bank' } } } as const;
      const message = expect.stringContaining("have it labelled as that one's allowedNamespaces asks");
      expect(await theirs((source) => source.with({ allowedNamespaces }))).toMatchObject({ cloneSource: { message } });
    });

    it('does not take it either if the DatabaseSpace is deleted while it looks', async () => {
      const places = placesOf({ 'shop/production': aSpace().subject.spec });
      const get = places.get.bind(places);
      places.get = (space) => {
        const place = get(space);
        places.changed(space, undefined);
        return place;
      };
      const seen = await theirs((source) => source.withStatus({ place: PLACE }), { places });
      expect(seen).toMatchObject({ cloneSource: { is: 'unusable', reason: 'ClusterNotAllowed' } });
    });

    it('does not take it if that DatabaseCluster may just have deployed it, and does not admit this namespace', async () => {
      const deploys = (source: ClusterBuilder) => source.with({ clusterID: 'source' }).announced('Deploy', 'source');
      const seen = await theirs((source) => deploys(source.withStatus({ clusterID: undefined, createdAt: undefined })));
      expect(seen).toMatchObject({ cloneSource: { is: 'unusable', reason: 'ClusterNotAllowed' } });
    });

    it('does not ask whether it is admitted once the clone exists', async () => {
      const selector = { matchLabels: { team: 'shop' } };
      const { bench, known } = await withSource((source) =>
        source.with({ allowedNamespaces: { from: 'Selector', selector } }),
      );
      const source = known.cluster();
      const elsewhere = { ...source, metadata: { ...source.metadata, namespace: 'bank', name: 'vault', uid: 'other' } };
      bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
      await bench.world().connections.get('shop/production')?.poller.refresh();
      const seen = observe(bench, byID, {
        cluster: () => elsewhere,
        claimants: (_space, id) => (id === 'source' ? ['bank/vault'] : []),
        namespaceLabels: () => Promise.reject(new Error('Namespaces cannot be read now')),
      });
      expect(await seen).toMatchObject({ cluster: { id: 'orders' }, cloneSource: undefined });
    });

    it('takes it if that DatabaseCluster has another cluster, or only wants this one', async () => {
      for (const createdAt of ['2020-01-01T00:00:00.000Z', undefined]) {
        const seen = await theirs((source) =>
          source.with({ clusterID: 'source' }).withStatus({ clusterID: undefined, createdAt }),
        );
        expect(seen).toMatchObject({ cloneSource: { is: 'known' } });
      }
    });
  });

  it.each([{ clusterRef: { name: 'orders' } }, { clusterID: 'orders' }])(
    'says for %j, which is the object itself, that a cluster cannot be cloned from itself',
    async (cloneFrom) => {
      const { bench } = await withSource();
      expect(await observe(bench, aCluster().with({ cloneFrom }))).toMatchObject({
        cloneSource: { is: 'unusable', reason: 'InvalidSpec', message: expect.stringContaining('another source') },
      });
    },
  );

  it('waits until the DatabaseCluster has a cluster', async () => {
    const { bench, known } = await withSource((source) => source.withStatus({ clusterID: undefined }));
    expect(await observe(bench, clone)).toMatchObject({ cloneSource: { is: 'waiting' } });
    const message = 'Waiting for DatabaseCluster "source", which is to be cloned, to run or to be suspended';
    expect(await observe(bench, clone, known)).toMatchObject({ cloneSource: { is: 'waiting', message } });
  });

  it('says that there is none, and which one may be meant', async () => {
    const { bench } = await withSource();
    const seen = async (cloneFrom: object, others: readonly string[] = []) => {
      const clusterKeys = () => ['shop/orders', ...others];
      const { cloneSource } = (await observe(bench, aCluster().with({ cloneFrom }), { clusterKeys })) as SpaceSeen;
      return cloneSource;
    };
    const byName = { clusterRef: { name: 'order' } };
    const waiting =
      'Waiting for DatabaseCluster "order", which is to be cloned: create it, or check cloneFrom.clusterRef';
    // Never the object itself.
    expect(await seen(byName)).toEqual({ is: 'waiting', message: waiting });
    expect(await seen(byName, ['shop/border'])).toEqual({
      is: 'waiting',
      message: `${waiting} (did you mean "border"?)`,
    });
    expect(await seen({ clusterID: 'sorce' })).toMatchObject({
      message: expect.stringMatching(/, which is to be cloned: create it there, or check cloneFrom.clusterID$/),
    });
  });

  it('waits while the cluster is changing state', async () => {
    const { bench, known } = await withSource();
    bench.simulator.setKnobs({ suspendMs: [60_000, 60_000] });
    await bench.world().connections.get('shop/production')?.client.suspend('source', signal);
    await listAgain(bench);
    expect(await observe(bench, clone, known)).toMatchObject({ cloneSource: { is: 'waiting' } });
  });

  it('accepts no cluster that has replaced that of the DatabaseCluster', async () => {
    const { bench, known } = await withSource((source) => source.withStatus({ createdAt: '2020-01-01T00:00:00.000Z' }));
    expect(await observe(bench, clone, known)).toMatchObject({ cloneSource: { is: 'waiting' } });
  });

  it('accepts no cluster of the same id in another space', async () => {
    const { bench, known } = await withSource((source) => source.with({ spaceRef: { name: 'staging' } }));
    const { spec } = aSpace().subject;
    const places = (spaceID: string) => placesOf({ 'shop/production': spec, 'shop/staging': { ...spec, spaceID } });
    const seen = (there: string) => observe(bench, clone, { ...known, places: places(there) });
    expect(await seen('staging')).toMatchObject({ cloneSource: { is: 'unusable', reason: 'CloneSourceElsewhere' } });
    // Another DatabaseSpace for the same place, which is not connected.
    expect(await seen('production')).toMatchObject({ cloneSource: { is: 'known' } });
  });

  it('waits for one whose DatabaseSpace does not exist, as nobody knows where that is', async () => {
    const { bench, known } = await withSource((source) => source.with({ spaceRef: { name: 'staging' } }));
    expect(await observe(bench, clone, known)).toMatchObject({ cloneSource: { is: 'waiting' } });
  });
});
