import { describe, expect, it } from 'vitest';
import { aCluster, aSpace, type ClusterBuilder } from '../../../test/support/builders.ts';
import { type KindBench, kindBench } from '../../../test/support/kind-bench.ts';
import { placesOf } from '../../../test/support/places.ts';
import type { DatabaseSpaceSpec } from '../databasespace/schema.ts';
import { admitIt } from '../namespaces.ts';
import type { SpaceSeen } from './observation.ts';
import { observeCluster } from './observe.ts';
import type { DatabaseClusterStatus } from './schema.ts';
import { ClusterMemory, type ClusterWorld } from './world.ts';

const { signal } = new AbortController();
const FOREIGN = { provider: 'gcp', region: 'europe-west2', storageSizeGB: 100, version: '3.5.0' } as const;

async function observe(bench: KindBench, given: ClusterBuilder, changes: Partial<ClusterWorld> = {}) {
  return observeCluster({ ...bench.world(), ...changes }, given.subject, signal);
}

async function listAgain(bench: KindBench) {
  await bench.world().connections.get('shop/production')?.poller.refresh();
}

describe('observeCluster() looks for the space and', () => {
  const elsewhere = aCluster().with({ spaceRef: { name: 'production', namespace: 'platform' } });
  const spaceWith = (spec: Partial<DatabaseSpaceSpec>) => ({
    space: () => ({
      spec: { ...aSpace().subject.spec, ...spec },
      ready: { status: 'True', reason: 'Observed', message: '' },
    }),
  });

  it('says when there is none', async () => {
    const seen = await observe(await kindBench(), aCluster(), { space: () => undefined, spaceKeys: () => [] });
    expect(seen).toMatchObject({
      space: 'waiting',
      reason: 'SpaceNotFound',
      message: expect.stringMatching(/: create it, or check spaceRef$/),
    });
  });

  it('says which one may be meant if none has that name', async () => {
    const given = aCluster().with({ spaceRef: { name: 'prodution' } });
    const seen = await observe(await kindBench(), given, { space: () => undefined });
    expect(seen).toMatchObject({ message: expect.stringContaining('check spaceRef (did you mean "production"?)') });
  });

  it('says so if it may be in a namespace that is not watched', async () => {
    const watches = (namespace: string) => namespace !== 'platform';
    const seen = await observe(await kindBench(), elsewhere, { space: () => undefined, watches });
    expect(seen).toMatchObject({ message: expect.stringContaining('this operator does not watch that namespace') });
  });

  it('waits until it is listed', async () => {
    const seen = await observe(await kindBench(), elsewhere, spaceWith({ allowedNamespaces: { from: 'All' } }));
    expect(seen).toMatchObject({ space: 'waiting', reason: 'WaitingForSpace' });
  });

  describe('while it waits for its first look', () => {
    const unseen = { spec: aSpace().subject.spec, ready: undefined };
    const observed = { ...unseen, ready: { status: 'True', reason: 'Observed', message: '' } };
    const refused = { ...unseen, ready: { status: 'False', reason: 'CredentialsInvalid', message: '' } };
    const putOff = { ...unseen, ready: { status: 'Unknown', reason: 'CloudThrottled', message: '' } };
    const looking = { ...unseen, ready: { status: 'Unknown', reason: 'Observing', message: '' } };
    const told = aCluster().withCondition('Ready', 'Unknown', 'SpaceNotFound');
    const looked = aCluster().withCondition('Ready', 'Unknown', 'Observing');

    it.each([
      ['keeps quiet for a minute', aCluster(), unseen, 60_000],
      ['keeps quiet in a new process, too', aCluster(), observed, 60_000],
      ['keeps quiet when the cloud has put it off, too', aCluster(), putOff, 60_000],
      ['keeps quiet while that look takes long, too', aCluster(), looking, 60_000],
      ['keeps quiet if its own first look took long, too', looked, looking, 60_000],
      ['says what is wrong with the space', aCluster(), refused, undefined],
      ['says so at once if it said something else before', told, unseen, undefined],
    ])('%s', async (_what, given, space, untoldMs) => {
      const bench = await kindBench();
      bench.world().connections.disconnect('shop/production');
      expect(await observe(bench, given, { space: () => space })).toMatchObject({ space: 'waiting', untoldMs });
    });

    it('says so after that minute, and keeps quiet again when it waits another time', async () => {
      const bench = await kindBench();
      const world = { ...bench.world(), space: () => unseen, connections: { get: () => undefined } as never };
      const left = async () => await observe(bench, aCluster(), world);
      await left();
      await bench.clock.advance(59_000);
      expect(await left()).toMatchObject({ untoldMs: 1_000 });
      await bench.clock.advance(1_000);
      expect(await left()).toMatchObject({ untoldMs: undefined });
      expect(await observe(bench, aCluster())).toMatchObject({ space: 'seen' });
      expect(await left()).toMatchObject({ untoldMs: 60_000 });
    });

    it('says so after ten seconds of a look that goes on', async () => {
      const bench = await kindBench();
      const connection = { ...bench.world().connections.get('shop/production'), poller: { has: () => false } };
      const looked = { space: () => unseen, connections: { get: () => connection } as never };
      expect(await observe(bench, aCluster(), looked)).toMatchObject({ untoldMs: 10_000 });
      await bench.clock.advance(10_000);
      expect(await observe(bench, aCluster(), looked)).toMatchObject({ untoldMs: undefined });
    });
  });

  it('begins nothing new while something is wrong with it, and goes on with what has begun', async () => {
    const bench = await kindBench();
    const amiss = {
      space: () => ({
        spec: aSpace().subject.spec,
        ready: { status: 'False', reason: 'CredentialsInvalid', message: '' },
      }),
    };
    expect(await observe(bench, aCluster(), amiss)).toMatchObject({ space: 'waiting', reason: 'WaitingForSpace' });
    for (const begun of [
      aCluster().announced(),
      aCluster().owned(),
      aCluster().with({ deletionPolicy: 'Delete' }).deleting(),
    ])
      expect(await observe(bench, begun, amiss)).toMatchObject({ space: 'seen' });
  });

  it.each([
    ['True', 'Observed', 'it has just been changed'],
    ['Unknown', 'SecretNotFound', 'it was changed to name another place, and its condition Ready says SecretNotFound'],
  ] as const)('is not worked in where it is no longer: its Ready is %s', async (status, reason, why) => {
    const spec = { ...aSpace().subject.spec, spaceID: 'preview' };
    const elsewhere = (told: DatabaseSpaceSpec | undefined) => ({
      places: placesOf({ 'shop/production': spec }),
      space: () => ({ spec: told, ready: { status, reason, message: '' } }),
    });
    const message = `Waiting for DatabaseSpace "production" in namespace "shop": ${why}`;
    // Nor if the rest of its spec makes no sense: which objects have a cluster there goes by the place that it names.
    for (const told of [spec, undefined]) {
      const seen = await observe(await kindBench(), aCluster(), elsewhere(told));
      expect(seen).toMatchObject({ space: 'waiting', reason: 'WaitingForSpace', message });
    }
  });

  it.each<[string, DatabaseSpaceSpec['allowedNamespaces'], string]>([
    ['no other namespace by default', undefined, 'SpaceNotAllowed'],
    ['no other namespace with Same', { from: 'Same' }, 'SpaceNotAllowed'],
    ['any with All', { from: 'All' }, 'WaitingForSpace'],
    ['those that match', { from: 'Selector', selector: { matchLabels: { team: 'shop' } } }, 'WaitingForSpace'],
    ['none that do not match', { from: 'Selector', selector: { matchLabels: { team: 'x' } } }, 'SpaceNotAllowed'],
  ])('is admitted to: %s', async (_what, allowedNamespaces, reason) => {
    const seen = await observe(await kindBench(), elsewhere, {
      ...spaceWith({ allowedNamespaces }),
      namespaceLabels: async () => ({ team: 'shop' }),
    });
    expect(seen).toMatchObject({ reason });
    if (seen.space === 'refused') expect(seen.message).toContain(admitIt(allowedNamespaces, "the space's"));
  });
});

describe('observeCluster() looks for the cluster and', () => {
  it('believes the List if nothing was asked for', async () => {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    bench.forgetCalls();
    expect(await observe(bench, aCluster())).toMatchObject({ cluster: undefined, mayLandUntilMs: undefined });
    expect(bench.calls).toEqual([]);
  });

  it('asks if a call may have been made', async () => {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    bench.forgetCalls();
    const seen = await observe(bench, aCluster().announced());
    expect(seen).toMatchObject({ cluster: { id: 'orders' }, mayLandUntilMs: expect.any(Number) });
    expect(bench.calls).toEqual(['get']);
  });

  it('asks before it reports that a cluster has vanished', async () => {
    const bench = await kindBench();
    bench.forgetCalls();
    expect(await observe(bench, aCluster().owned())).toMatchObject({ cluster: undefined });
    expect(bench.calls).toEqual(['get']);
  });

  it('finds it under the id that it was renamed to, if it is the very same', async () => {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders-eu', ...FOREIGN });
    await listAgain(bench);
    const createdAt = new Date(bench.clock.now()).toISOString();
    const renamed = aCluster().owned().with({ clusterID: 'orders-eu' });
    expect(await observe(bench, renamed.withStatus({ createdAt }))).toMatchObject({ id: 'orders-eu' });
    expect(await observe(bench, renamed)).toMatchObject({ id: 'orders', cluster: undefined });
  });

  it('says what can be done with it', async () => {
    const bench = await kindBench();
    expect(await observe(bench, aCluster())).toMatchObject({ canDestroy: true, cloneSource: undefined });
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
    const theirs = async (change: (source: ClusterBuilder) => ClusterBuilder = (source) => source) => {
      const { bench, known } = await withSource(change);
      const source = known.cluster();
      const elsewhere = { ...source, metadata: { ...source.metadata, namespace: 'bank', name: 'vault', uid: 'other' } };
      const namespaceLabels = async () => ({ team: 'shop' });
      return observe(bench, byID, { cluster: () => elsewhere, claimants: () => ['bank/vault'], namespaceLabels });
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

describe('observeCluster() of an object that is being deleted', () => {
  it('reads nothing if nothing should be done to the cluster', async () => {
    const bench = await kindBench();
    bench.forgetCalls();
    const given = aCluster().with({ deletionPolicy: 'Retain' }).owned().deleting();
    const broken = { space: () => expect.unreachable('The space does not matter') };
    expect(await observe(bench, given, broken)).toEqual({ space: 'notNeeded' });
    expect(bench.calls).toEqual([]);
  });

  describe('while users and databases on it are going too', () => {
    const leaving = ['DatabaseUser shop/app', 'DatabaseUser shop/b', 'Database shop/c', 'Database shop/d'];
    const dependents = () => ({ leaving, mayFollow: false });
    /** The time since it was first seen that it goes. */
    const afterwards = (ms: number) => {
      const clock = { now: () => Number.NaN, monotonic: () => 5_000_000 + ms, after: () => () => {} };
      return { dependents, clock };
    };
    const kept = aCluster().with({ deletionPolicy: 'Retain' }).healthy().deleting();

    it('is needed for two minutes at most, whatever the clocks say, and says by whom', async () => {
      const bench = await kindBench();
      expect(await observe(bench, kept, afterwards(0))).toMatchObject({ space: 'needed', forMs: 120_000 });
      const needed = { space: 'needed', forMs: 60_000, message: expect.stringContaining('Database shop/c and 1 more') };
      expect(await observe(bench, kept, afterwards(60_000))).toMatchObject(needed);
      expect(await observe(bench, kept, afterwards(120_000))).toEqual({ space: 'notNeeded' });
    });

    it('is needed again when another object has replaced it and goes too', async () => {
      const bench = await kindBench();
      await observe(bench, kept, afterwards(0));
      expect(await observe(bench, kept.another(), afterwards(120_000))).toMatchObject({
        space: 'needed',
        forMs: 120_000,
      });
    });

    it('is needed for some seconds while others on it may follow', async () => {
      const bench = await kindBench();
      const alone = (ms: number) => ({ ...afterwards(ms), dependents: () => ({ leaving: [], mayFollow: true }) });
      expect(await observe(bench, kept, alone(0))).toMatchObject({ space: 'needed', forMs: 5_000 });
      expect(await observe(bench, kept, alone(1_000))).toMatchObject({ space: 'needed', forMs: 4_000 });
      expect(await observe(bench, kept, alone(5_000))).toEqual({ space: 'notNeeded' });
      expect(
        await observe(bench, kept, { ...alone(1_000), dependents: () => ({ leaving: [], mayFollow: false }) }),
      ).toEqual({ space: 'notNeeded' });
    });

    it('is not needed if it is destroyed with them, or no server answers', async () => {
      const bench = await kindBench();
      const destroyed = kept.with({ deletionPolicy: 'Delete' });
      expect(await observe(bench, destroyed, { dependents })).toMatchObject({ space: 'seen' });
      const asleep = aCluster().with({ deletionPolicy: 'Retain' }).owned().deleting();
      expect(await observe(bench, asleep, afterwards(1_000))).not.toMatchObject({ space: 'needed' });
    });
  });

  it('does not mind a server URL that is not allowed', async () => {
    const bench = await kindBench({ space: { serverURL: 'http://{host}:{port}' } });
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    await listAgain(bench);
    await expect(observe(bench, aCluster())).rejects.toThrow('serverURL');
    const given = aCluster().with({ deletionPolicy: 'Delete' }).deleting();
    expect(await observe(bench, given)).toMatchObject({ cluster: { id: 'orders' } });
  });
});

describe('observeCluster() of a call without an answer', () => {
  it.each([
    ['counts from when it was made', '2026-11-20T12:00:00.000Z', [120_000, 60_000, 0]],
    ['counts from now if the clock was ahead then', '2038-01-01T00:00:00.000Z', [120_000, 60_000, 0]],
    ['counts from now again, once', '2026-11-20T12:00:01.000Z', [120_000, 61_000, 1_000]],
  ])('%s', async (_what, startedAt, expected) => {
    const bench = await kindBench();
    const memory = new ClusterMemory('another', () => 0);
    const given = aCluster().withStatus({ operation: { type: 'Deploy', target: 'orders', startedAt } });
    const beganMs = Date.parse('2026-11-20T12:00:00.000Z');
    const left: number[] = [];
    for (const ms of [0, 60_000, 120_000]) {
      const clock = { now: () => beganMs + ms, monotonic: () => ms, after: () => () => {} };
      const seen = await observe(bench, given, { clock, memory });
      left.push(seen.space === 'seen' ? (seen.mayLandUntilMs ?? 0) - clock.now() : Number.NaN);
    }
    expect(left).toEqual(expected);
  });
});

describe('observeCluster() of a cluster with several servers', () => {
  /** A cluster with servers a to c, of which `running` run. */
  async function servers(
    running: string,
    status: Partial<DatabaseClusterStatus>,
    hosts = ['a.test', 'b.test', 'c.test'],
    scheme = 'https',
  ) {
    const bench = await kindBench({ space: { serverURL: `${scheme}://{host}:{port}` } });
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    await listAgain(bench);
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const cluster = poller.get('orders') ?? expect.unreachable();
    const createdAt = new Date(bench.clock.now()).toISOString();
    const addresses = [...'abc'].map((name, index) => ({ name, address: `${hosts[index]}:443` }));
    const shown = addresses.map(({ name, address }) => ({
      address,
      status: running.includes(name) ? 'running' : 'pending',
    }));
    poller.learn('orders', { ...cluster, servers: shown }, bench.clock.monotonic() + 1);
    const given = aCluster().owned().with({ managementPolicy: 'Observe' });
    const seen = await observe(bench, given.withStatus({ createdAt, ...status }));
    return seen.space === 'seen' ? seen.endpoint : undefined;
  }

  it.each<[string, string, Partial<DatabaseClusterStatus>, string | undefined]>([
    ['begins with the first that runs', 'bc', {}, 'https://b.test:443'],
    ['stays with the one it has while that runs', 'abc', { endpoint: 'https://c.test:443' }, 'https://c.test:443'],
    ['leaves one that does not run', 'bc', { endpoint: 'https://a.test:443' }, 'https://b.test:443'],
    ['leaves one that no longer exists', 'bc', { endpoint: 'https://x.test:443' }, 'https://b.test:443'],
    ['has none while none runs', '', { endpoint: 'https://a.test:443' }, undefined],
    [
      'starts over at another cluster of the same id',
      'abc',
      { endpoint: 'https://c.test:443', createdAt: '2020-01-01T00:00:00.000Z' },
      'https://a.test:443',
    ],
  ])('%s', async (_what, running, status, endpoint) => {
    expect(await servers(running, status)).toBe(endpoint);
  });

  it('passes over one that no login may be sent to, unless no other runs', async () => {
    const of = (running: string, endpoint?: string) =>
      // Without TLS, logins are sent to this host only.
      servers(running, { endpoint }, ['a.test', 'localhost', '127.0.0.1'], 'http');
    expect(await of('abc')).toBe('http://localhost:443');
    expect(await of('abc', 'http://127.0.0.1:443')).toBe('http://127.0.0.1:443');
    await expect(of('a')).rejects.toThrow('"http://a.test:443" is not https');
  });
});

describe('observeCluster() leaves the login alone', () => {
  async function loginOf(change: (given: ClusterBuilder) => ClusterBuilder) {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    await listAgain(bench);
    const given = aCluster()
      .owned()
      .withStatus({ createdAt: new Date(bench.clock.now()).toISOString() });
    const seen = await observe(bench, change(given));
    return seen.space === 'seen' ? seen.login.login : undefined;
  }

  it.each<[string, (given: ClusterBuilder) => ClusterBuilder, string]>([
    ['not of a cluster of ours that runs', (given) => given, 'tried'],
    ['with managementPolicy Observe', (given) => given.with({ managementPolicy: 'Observe' }), 'notTried'],
    ['while the object is being deleted', (given) => given.with({ deletionPolicy: 'Delete' }).deleting(), 'notTried'],
    ['of a cluster that is not ours yet', (given) => given.withStatus({ createdAt: undefined }), 'notTried'],
    ['of one that was only observed', (given) => given.observedBefore(), 'notTried'],
    ['of another cluster', (given) => given.withStatus({ createdAt: '2020-01-01T00:00:00.000Z' }), 'notTried'],
    ['not before the first suspension', (given) => given.with({ state: 'Suspended' }), 'tried'],
    ['of one that should be suspended again', (given) => given.healthy().with({ state: 'Suspended' }), 'notTried'],
  ])('%s', async (_when, change, login) => {
    expect(await loginOf(change)).toBe(login);
  });
});
