import { expect, it } from 'vitest';
import { database, user } from '../../test/support/manifests.ts';
import { aWorldOfOperators, readyIn } from '../../test/support/operators.ts';
import { DATABASES } from '../kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { ROTATE_AT } from '../kube/annotations.ts';
import { EVENTS, NAMESPACES, SECRETS } from '../kube/api.ts';
import { type Condition, findStatusCondition } from '../kube/condition.ts';

const KINDS = [DATABASE_SPACES, DATABASE_CLUSTERS, DATABASE_USERS, DATABASES];
const ELSEWHERE = { spaceID: 'space-1', apiTokens: [{ level: 'admin', secretRef: { name: 'token-space-1' } }] };
const CHANGES = ['createUser', 'updateUser', 'deleteUser', 'createDatabase', 'deleteDatabase', 'destroy'];

/**
 * A namespace whose objects are Ready, and a copy of it with status and Secrets, as a backup restores it into another namespace.
 * `space`: what is different about the copied DatabaseSpace. `renamed`: the id that the original has got since the backup.
 */
async function aWorldWithCopy(space: object = {}, renamed?: string) {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock, simulator } = world;
  await world.addSpace(1);
  await world.addSpace(0);
  await world.addCluster(0, 'orders', { deletionPolicy: 'Delete' });
  const clusterRef = { name: 'orders' };
  await kube.create(DATABASE_USERS, 'shop', user({ clusterRef }, {}, 'app'));
  await kube.create(DATABASES, 'shop', database({ clusterRef, deletionPolicy: 'Delete' }, {}, 'orders'));
  world.replica();
  await clock.advance(60_000);
  const ready = (namespace: string) =>
    KINDS.map((resource) => {
      const found = kube.all(resource).find(({ metadata }) => metadata.namespace === namespace);
      return readyIn(found);
    });
  expect(ready('shop').map((condition) => condition?.status)).toEqual(KINDS.map(() => 'True'));
  const backup = [SECRETS, ...KINDS].map((resource) => ({ resource, objects: kube.all(resource) }));
  if (renamed !== undefined) {
    const ref = { namespace: 'shop', name: 'orders' };
    await kube.patch(DATABASE_CLUSTERS, ref, { spec: { clusterID: renamed } });
    await clock.advance(60_000);
  }
  await kube.create(NAMESPACES, '', { metadata: { name: 'copy' } });
  for (const { resource, objects } of backup)
    for (const { metadata, ...rest } of objects) {
      const { name, labels = {}, annotations = {}, finalizers = [] } = metadata;
      const { spec, status } = rest as { spec?: object; status?: unknown };
      const copied = resource === DATABASE_SPACES ? { ...rest, spec: { ...spec, ...space } } : rest;
      await kube.create(resource, 'copy', { ...copied, metadata: { name, labels, annotations, finalizers } });
      if (status !== undefined)
        await kube.patch(resource, { namespace: 'copy', name }, { status }, { subresource: 'status' });
    }
  const changes = () => CHANGES.map((operation) => simulator.count(operation));
  return { ...world, ready, before: changes(), changes };
}

it('A copied namespace changes nothing on the server of the cluster that it shares, and says whose that is', async () => {
  const { kube, clock, ready, before, changes } = await aWorldWithCopy();
  await clock.advance(60_000);
  const [, cluster, ...onServer] = ready('copy');
  expect(cluster).toMatchObject({ status: 'False', reason: 'ClusterIDClaimed' });
  for (const condition of onServer)
    expect(condition).toMatchObject({
      status: 'Unknown',
      reason: 'WaitingForCluster',
      message: expect.stringMatching(
        /belongs to DatabaseCluster "shop\/orders", and its condition Ready says what to do$/,
      ),
    });
  expect(changes()).toEqual(before);
  // The copy's Secret grows old when the password is replaced: nothing sets the server back to it.
  const annotations = { [ROTATE_AT]: 'now' };
  await kube.patch(DATABASE_USERS, { namespace: 'shop', name: 'app' }, { metadata: { annotations } });
  await clock.advance(1_800_000);
  expect(ready('shop').map((condition) => condition?.status)).toEqual(KINDS.map(() => 'True'));
  const [created, updated = 0, ...others] = before;
  expect(changes()).toEqual([created, updated + 1, ...others]);
});

it('No login of the copied cluster is tried, as it says, and its Secret stays when it goes: that login works', async () => {
  const { kube, clock, simulator, ready } = await aWorldWithCopy({ verifyInterval: '1m' });
  await clock.advance(60_000);
  const signIns = simulator.count('signIn');
  await clock.advance(3_600_000);
  expect(simulator.count('signIn')).toBe(signIns);
  const [copied = expect.unreachable()] = kube.all(DATABASE_CLUSTERS, 'copy');
  const { conditions } = copied['status'] as { conditions: readonly Condition[] };
  for (const type of ['CredentialsSecured', 'Available'])
    expect(findStatusCondition(conditions, type)).toMatchObject({
      status: 'Unknown',
      reason: 'NotVerified',
      message: 'No login is tried, as the cluster belongs to DatabaseCluster "shop/orders"',
    });
  kube.remove(DATABASE_CLUSTERS, { namespace: 'copy', name: 'orders' });
  await clock.advance(60_000);
  expect(ready('copy')[1]).toBeUndefined();
  expect(kube.all(SECRETS, 'copy').map(({ metadata }) => metadata.name)).toContain('orders-admin');
});

it('A copied namespace goes without anything of the original', async () => {
  const { kube, clock, ready, before, changes } = await aWorldWithCopy();
  await clock.advance(60_000);
  for (const resource of KINDS)
    for (const { metadata } of kube.all(resource))
      if (metadata.namespace === 'copy') kube.remove(resource, { namespace: 'copy', name: metadata.name });
  await clock.advance(60_000);
  expect(ready('copy')).toEqual(KINDS.map(() => undefined));
  expect(changes()).toEqual(before);
  const left = kube.all(EVENTS).filter(({ reason }) => reason === 'UserLeft' || reason === 'DatabaseLeft');
  expect(left).toHaveLength(2);
  for (const { note } of left) expect(note).toMatch(/, as the cluster belongs to DatabaseCluster "shop\/orders"[.:]/);
});

/** Deletes the original objects in Kubernetes only. */
async function letGo(kube: Awaited<ReturnType<typeof aWorldWithCopy>>['kube']): Promise<void> {
  for (const resource of [DATABASES, DATABASE_USERS, DATABASE_CLUSTERS])
    for (const { metadata } of kube.all(resource)) {
      if (metadata.namespace !== 'shop') continue;
      const ref = { namespace: 'shop', name: metadata.name };
      await kube.patch(resource, ref, { spec: { deletionPolicy: 'Retain' } });
      kube.remove(resource, ref);
    }
}

it('The copy takes over what the original lets go of', async () => {
  const { kube, clock, ready } = await aWorldWithCopy();
  await clock.advance(60_000);
  await letGo(kube);
  await clock.advance(60_000);
  expect(ready('copy').map((condition) => condition?.status)).toEqual(KINDS.map(() => 'True'));
});

it.each([
  ['of the same id', undefined],
  ['from before the original was renamed', 'renamed'],
])(
  'A copy %s whose DatabaseSpace names another space changes nothing on the server of the original',
  async (_, renamed) => {
    const { kube, clock, ready, before, changes } = await aWorldWithCopy(ELSEWHERE, renamed);
    await clock.advance(60_000);
    const [, cluster, user] = ready('copy');
    expect([cluster?.reason, user?.reason]).toEqual(['SpaceMoved', 'WaitingForCluster']);
    kube.remove(DATABASE_USERS, { namespace: 'copy', name: 'app' });
    kube.remove(DATABASES, { namespace: 'copy', name: 'orders' });
    await clock.advance(60_000);
    expect(ready('copy').slice(2)).toEqual([undefined, undefined]);
    expect(changes()).toEqual(before);
  },
);

it('What is on the server hears that the original is gone, even if the copy of its cluster has nothing new to say', async () => {
  const { kube, clock, ready } = await aWorldWithCopy(ELSEWHERE);
  await clock.advance(60_000);
  await letGo(kube);
  await clock.advance(60_000);
  const [, cluster, ...onServer] = ready('copy');
  expect(cluster?.reason).toBe('SpaceMoved');
  for (const condition of onServer) expect(condition?.message).not.toMatch(/belongs to/);
});

it('A copy that gets the cluster tries its login before it lets it sleep', async () => {
  const { kube, clock, simulator } = await aWorldWithCopy({ verifyInterval: '1m' });
  const [original, copy] = [
    { namespace: 'shop', name: 'orders' },
    { namespace: 'copy', name: 'orders' },
  ];
  const metadata = { annotations: { [ROTATE_AT]: 'now' } };
  await kube.patch(DATABASE_CLUSTERS, original, { spec: { deletionPolicy: 'Retain' }, metadata });
  await kube.patch(DATABASE_CLUSTERS, copy, { spec: { state: 'Suspended' } });
  await kube.patch(DATABASES, original, { spec: { deletionPolicy: 'Retain' } });
  await clock.advance(120_000);
  kube.remove(DATABASES, original);
  kube.remove(DATABASE_USERS, { namespace: 'shop', name: 'app' });
  await clock.advance(20_000);
  const signIns = simulator.count('signIn');
  kube.remove(DATABASE_CLUSTERS, original);
  await clock.advance(300_000);
  const [{ status } = expect.unreachable()] = kube.all(DATABASE_CLUSTERS, 'copy');
  const { conditions } = status as { conditions: readonly Condition[] };
  expect(findStatusCondition(conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'Suspended' });
  expect(simulator.count('signIn')).toBeGreaterThan(signIns);
});
