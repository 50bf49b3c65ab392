import { beforeAll, describe, expect, it } from 'vitest';
import { type KindBench, runningBench } from '../../../test/support/kind-bench.ts';
import { addressOf } from '../../../test/support/simulator.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { DATABASE_CLUSTERS } from '../databasecluster/resource.ts';
import { admitIt } from '../namespaces.ts';
import { type ServerWorld, serverAccess } from './access.ts';
import { Servers } from './servers.ts';

type Fields = Readonly<Record<string, unknown>>;

let bench: KindBench;
let running: KubeObject;

beforeAll(async () => {
  bench = await runningBench();
  running = bench.kube.all(DATABASE_CLUSTERS)[0] as unknown as KubeObject;
});

interface Case {
  /** What is different about the cluster that runs; undefined: there is none. */
  readonly cluster?:
    | {
        readonly spec?: Fields;
        readonly status?: Fields;
        readonly annotations?: Readonly<Record<string, string>>;
        readonly leaves?: boolean;
        /** Only finalizers of others keep it. */
        readonly isLetGo?: boolean;
      }
    | undefined;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly unwatched?: string;
  /** Keys of DatabaseClusters of other names. */
  readonly others?: readonly ObjectKey[];
  /** The other DatabaseCluster that its cluster belongs to. */
  readonly owner?: ObjectKey;
  readonly spaceIs?: 'connected' | 'not connected' | 'gone';
}

function look(given: Case) {
  const { namespace = 'shop', labels, spaceIs = 'connected' } = given;
  const { connections, clock, secrets } = bench.world();
  const change = 'cluster' in given ? given.cluster : {};
  const object = change && {
    ...running,
    metadata: {
      ...running.metadata,
      annotations: change.annotations ?? {},
      ...(change.leaves ? { deletionTimestamp: '2026-11-20T12:00:00Z' } : {}),
      ...(change.isLetGo ? { finalizers: ['foregroundDeletion'] } : {}),
    },
    spec: { ...(running.spec as Fields), ...change.spec },
    status: { ...(running.status as Fields), ...change.status },
  };
  const none = { get: () => undefined } as unknown as typeof connections;
  const world: ServerWorld = {
    connections: spaceIs === 'connected' ? connections : none,
    cluster: (key) => (key === 'shop/orders' ? object : undefined),
    clusterKeys: () => given.others ?? [],
    sharedWith: () => given.owner,
    hasSpace: () => spaceIs !== 'gone',
    watches: (name) => name !== given.unwatched,
    namespaceLabels: async () => labels,
    servers: new Servers({ clock, secrets, onLoginRefused: () => {} }),
  };
  const metadata = { name: 'app', namespace, uid: 'u', resourceVersion: '1' };
  const clusterRef = { name: 'orders', ...(namespace === 'shop' ? {} : { namespace: 'shop' }) };
  return serverAccess(world, { metadata, spec: { clusterRef } }, new AbortController().signal);
}

/** No login works, as its Secret is gone; Ready says why the object still exists. */
const telling = (reason: string): Fields => ({
  conditions: [{ type: 'Ready', status: 'False', reason, message: 'Why', lastTransitionTime: '2026-11-20T12:00:00Z' }],
});

const without = (type: string): Fields => ({
  conditions: (running.status as { conditions: readonly { type: string }[] }).conditions.map((condition) =>
    condition.type === type ? { ...condition, status: 'False' } : condition,
  ),
});

describe('the server of a cluster', () => {
  it('is waited for, and why is said, if its namespace is not watched', async () => {
    const message = expect.stringContaining('this operator does not watch that namespace');
    expect(await look({ cluster: undefined, unwatched: 'shop' })).toMatchObject({ reason: 'ClusterNotFound', message });
  });

  it.each([
    ['of its namespace', ['shop/order', 'shop/payments'], 'create it, or check clusterRef (did you mean "order"?)'],
    ['of none that is similar', ['shop/payments'], 'create it, or check clusterRef'],
    ['of no other namespace', ['bank/order'], 'create it, or check clusterRef'],
    ['of none of very many', Array.from({ length: 51 }, (_, at) => `shop/order${at}`), 'or check clusterRef'],
  ])('is waited for, and a name that may be meant is suggested %s', async (_what, others, end) => {
    const seen = await look({ cluster: undefined, others });
    expect('message' in seen && seen.message.endsWith(end) ? end : seen).toBe(end);
  });

  it('suggests no other cluster to a namespace that may not see it', async () => {
    const seen = await look({ cluster: undefined, namespace: 'web', others: ['shop/order'] });
    expect(seen).toMatchObject({ message: expect.stringMatching(/ create it, or check clusterRef$/) });
  });

  it('is open once its login is secured and it answers', async () => {
    const address = addressOf(bench.simulator, 'orders');
    expect(await look({})).toMatchObject({
      server: 'open',
      clusterKey: 'shop/orders',
      clusterName: 'orders',
      identity: bench.status().createdAt,
      leaving: false,
      endpoint: `https://${address}`,
      addresses: [address],
      verifyIntervalMs: 600_000,
      adminSecretName: 'orders-admin',
      factoryUsername: 'admin',
    });
    expect(await look({ cluster: { leaves: true } })).toMatchObject({ server: 'open', leaving: true });
  });

  it('names first the server that is worked with, then others that run, and none without an address', async () => {
    const own = addressOf(bench.simulator, 'orders');
    const servers = [
      { address: 'a.test:1', status: 'stopped' },
      { address: 'b.test:1', status: 'running' },
      { address: 'no address', status: 'running' },
    ];
    const withOwn = [...servers, { address: own, status: 'running' }];
    const status = { servers: withOwn };
    expect(await look({ cluster: { status } })).toMatchObject({ addresses: [own, 'b.test:1', 'a.test:1'] });
  });

  it('is not worked on at an address that is not one of its servers in the space', async () => {
    const servers = [{ address: 'b.test:1', status: 'running' }];
    const elsewhere = await look({ cluster: { status: { servers } } });
    expect(elsewhere).toMatchObject({ server: 'waiting', reason: 'WaitingForCluster', starting: true });
    expect(elsewhere).toMatchObject({ message: expect.stringMatching(/its login is tried at another address now$/) });
    const unknown = await look({ cluster: { status: { servers: [] } } });
    expect(unknown).toMatchObject({ message: expect.stringMatching(/its status lacks servers/) });
  });

  it('is not worked on for a copy of the object that it belongs to, whatever the status of the copy says', async () => {
    const message =
      'Waiting for DatabaseCluster "orders" in namespace "shop": its cluster belongs to DatabaseCluster "old/orders", and its condition Ready says what to do';
    const shared = { server: 'waiting', why: 'shared', reason: 'WaitingForCluster', message, owner: 'old/orders' };
    expect(await look({ owner: 'old/orders' })).toMatchObject(shared);
    expect(await look({ owner: 'old/orders', cluster: { leaves: true } })).toMatchObject(shared);
  });

  it('is not worked on at a server where its login was not verified', async () => {
    const { credentials, servers } = running.status as { credentials: Fields; servers: readonly Fields[] };
    const status = { endpoint: 'https://b.test:1', servers: [{ address: 'b.test:1', status: 'running' }, ...servers] };
    expect(await look({ cluster: { status } })).toMatchObject({ server: 'waiting', why: 'notReady' });
    const verified = { ...status, credentials: { ...credentials, endpoint: status.endpoint } };
    expect(await look({ cluster: { status: verified } })).toMatchObject({ server: 'open', endpoint: status.endpoint });
  });

  const cases: readonly (readonly [string, () => Case, Fields])[] = [
    ['without a cluster', () => ({ cluster: undefined }), { why: 'missing', reason: 'ClusterNotFound' }],
    [
      'before the login is secured',
      () => ({ cluster: { status: without('CredentialsSecured') } }),
      { why: 'notReady' },
    ],
    [
      'while its status lacks its login, which an earlier CustomResourceDefinition drops',
      () => ({ cluster: { status: { credentials: undefined } } }),
      { why: 'notReady', message: expect.stringContaining('it is Ready, but its status lacks credentials: ') },
    ],
    ['while no server answers', () => ({ cluster: { status: without('Available') } }), { why: 'notReady' }],
    [
      'while it has an address at which nothing was verified',
      () => ({ cluster: { status: { endpoint: 'https://elsewhere.test' } } }),
      { why: 'notReady', reason: 'WaitingForCluster' },
    ],
    [
      'while it should be suspended',
      () => ({ cluster: { spec: { state: 'Suspended' }, status: { ...without('Available'), state: 'suspending' } } }),
      {
        why: 'suspended',
        reason: 'ClusterSuspended',
        rests: true,
        message: expect.stringContaining('is being suspended'),
      },
    ],
    [
      'while it should be suspended, and the cloud has not begun, or somebody resumed it and differences are only reported',
      () => ({ cluster: { spec: { state: 'Suspended' }, status: { ...without('Available'), state: 'running' } } }),
      {
        why: 'suspended',
        reason: 'ClusterSuspended',
        rests: true,
        message: expect.stringMatching(/should be suspended: this goes on when its state should be Running$/),
      },
    ],
    [
      'while it is suspended, as its spec says',
      () => ({ cluster: { spec: { state: 'Suspended' }, status: { ...without('Available'), state: 'suspended' } } }),
      { why: 'suspended', reason: 'ClusterSuspended', rests: true, message: expect.stringContaining('is suspended') },
    ],
    [
      'while somebody has suspended it',
      () => ({ cluster: { status: { ...without('Available'), state: 'suspended' } } }),
      { why: 'suspended', rests: false },
    ],
    [
      'while it is only observed',
      () => ({ cluster: { spec: { managementPolicy: 'Observe' }, status: without('CredentialsSecured') } }),
      { why: 'notReady', message: expect.stringContaining('set managementPolicy: Manage') },
    ],
    ['with a spec that is not valid', () => ({ cluster: { spec: { spaceRef: 7 } } }), { why: 'notReady' }],
    [
      'with a spec that is not valid, but admits the other namespace',
      () => ({ namespace: 'billing', cluster: { spec: { state: 'Asleep', allowedNamespaces: { from: 'All' } } } }),
      { why: 'notReady', message: expect.stringContaining('whose spec is not valid') },
    ],
    [
      'while it is being deleted, but is protected',
      () => ({
        cluster: {
          leaves: true,
          spec: { deletionPolicy: 'Delete', deletionProtection: true },
          status: telling('DeletionProtected'),
        },
      }),
      { why: 'notReady', message: expect.stringContaining('its condition Ready says DeletionProtected') },
    ],
    [
      'while it is being deleted, but is paused',
      () => ({ cluster: { leaves: true, annotations: { 'mooring.dev/paused': 'true' }, status: telling('Paused') } }),
      { why: 'notReady', message: expect.stringContaining('its condition Ready says Paused') },
    ],
    [
      'while it is being deleted, but cannot go',
      () => ({
        cluster: { leaves: true, spec: { deletionPolicy: 'Delete' }, status: telling('DeletionBlocked') },
      }),
      { why: 'notReady', message: expect.stringContaining('its condition Ready says DeletionBlocked') },
    ],
    [
      'while it is to be suspended and let go, but cannot be',
      () => ({
        cluster: { leaves: true, spec: { deletionPolicy: 'Suspend' }, status: telling('DeletionBlocked') },
      }),
      { why: 'notReady', message: expect.stringContaining('its condition Ready says DeletionBlocked') },
    ],
    [
      'while it is being deleted, is protected, and does not say so yet',
      () => ({ cluster: { leaves: true, spec: { deletionProtection: true }, status: without('Available') } }),
      { why: 'notReady' },
    ],
    [
      'while it was protected a moment ago',
      () => ({ cluster: { leaves: true, status: telling('DeletionProtected') } }),
      { why: 'notReady', message: expect.stringContaining('its condition Ready says DeletionProtected') },
    ],
    [
      'while it is being deleted and destroyed',
      () => ({ cluster: { leaves: true, spec: { deletionPolicy: 'Delete' }, status: telling('Destroying') } }),
      { why: 'leaving', reason: 'ClusterDeleting', destroyed: true },
    ],
    [
      'while it should be destroyed, and nobody has looked yet whether it can be',
      () => ({ cluster: { leaves: true, spec: { deletionPolicy: 'Delete' }, status: without('Available') } }),
      { why: 'notReady', destroyed: false },
    ],
    [
      'while it is being deleted and stays in the cloud',
      () => ({ cluster: { leaves: true, status: without('Available') } }),
      { why: 'leaving', destroyed: false },
    ],
    [
      'once it was destroyed and its object let go, while others keep that',
      () => ({
        cluster: { leaves: true, isLetGo: true, spec: { deletionPolicy: 'Delete' }, status: telling('Released') },
      }),
      { why: 'leaving', reason: 'ClusterDeleting', destroyed: true },
    ],
    [
      'once its protected object was abandoned, while others keep that',
      () => ({
        cluster: {
          leaves: true,
          isLetGo: true,
          annotations: { 'mooring.dev/abandon': 'true' },
          spec: { deletionPolicy: 'Delete', deletionProtection: true },
          status: telling('Released'),
        },
      }),
      { why: 'leaving', destroyed: false },
    ],
    [
      'while its object goes after that of its space',
      () => ({ cluster: { leaves: true }, spaceIs: 'gone' }),
      { why: 'leaving', destroyed: false },
    ],
    [
      'before its space is connected, when this process has begun',
      () => ({ spaceIs: 'not connected' }),
      { why: 'notReady', starting: true },
    ],
    [
      'before its space is connected, when it was not Ready either',
      () => ({ spaceIs: 'not connected', cluster: { status: without('Ready') } }),
      {
        why: 'notReady',
        starting: false,
        message: expect.stringMatching(
          /its DatabaseSpace "production" is not connected: its condition Ready says why$/,
        ),
      },
    ],
    [
      'as its space is gone, whoever took that away',
      () => ({ spaceIs: 'gone' }),
      {
        why: 'notReady',
        message: expect.stringMatching(
          /its DatabaseSpace "production" does not exist: the cluster's condition Ready says what to do$/,
        ),
      },
    ],
  ];
  it.each(cases)('is waited for %s', async (_when, given, expected) => {
    expect(await look(given())).toMatchObject({ server: 'waiting', ...expected });
  });

  it.each([
    ['Same', { from: 'Same' }, {}, 'refused'],
    ['nothing', undefined, {}, 'refused'],
    ['a selector of others', { from: 'Selector', selector: { matchLabels: { team: 'a' } } }, { team: 'b' }, 'refused'],
    ['a selector of this one', { from: 'Selector', selector: { matchLabels: { team: 'a' } } }, { team: 'a' }, 'open'],
    ['All', { from: 'All' }, {}, 'open'],
  ] as const)('admits another namespace by its own rule: %s', async (_what, allowedNamespaces, labels, expected) => {
    const spec = allowedNamespaces === undefined ? {} : { allowedNamespaces };
    const seen = await look({ namespace: 'elsewhere', labels, cluster: { spec } });
    expect(seen.server).toBe(expected);
    if (seen.server === 'refused') expect(seen.message).toContain(admitIt(allowedNamespaces, "the cluster's"));
  });

  it('reveals nothing of itself to a namespace that it does not admit', async () => {
    const status = { ...without('Available'), state: 'suspended' };
    for (const cluster of [
      {},
      { status },
      { leaves: true },
      { spec: { spaceRef: 7 } },
      { spec: { state: 'Asleep' } },
    ]) {
      expect(await look({ namespace: 'elsewhere', cluster })).toEqual({
        server: 'refused',
        reason: 'ClusterNotAllowed',
        message:
          'DatabaseCluster "orders" in namespace "shop" does not admit namespace "elsewhere": have it added to the cluster\'s allowedNamespaces',
      });
    }
  });
});
