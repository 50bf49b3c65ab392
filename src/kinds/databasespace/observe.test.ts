import { describe, expect, it, vi } from 'vitest';
import { aSpace, type SpaceBuilder } from '../../../test/support/builders.ts';
import { placesOf } from '../../../test/support/places.ts';
import { secretsOf } from '../../../test/support/secrets.ts';
import { RECONCILE_AT } from '../../kube/annotations.ts';
import { SECRETS } from '../../kube/api.ts';
import { FakeKube } from '../../sandbox/fake-kube.ts';
import { virtualClock } from '../../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../simulator/seeded-random.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { Elapsed } from '../elapsed.ts';
import { createSecrets } from '../secrets.ts';
import { SpaceConnections } from './connection/connections.ts';
import { secretFinalizer, secretNames } from './observation.ts';
import { observeSpace } from './observe.ts';
import type { SpaceWorld } from './world.ts';

const { signal } = new AbortController();

async function bench(changes: Partial<SpaceWorld> = {}) {
  const clock = virtualClock();
  const simulator = createSimulator({ clock, random: createSeededRandom(1), dialect: 'document' });
  const kube = new FakeKube({ now: clock.now, random: createSeededRandom(2) });
  const world: SpaceWorld = {
    secrets: createSecrets(kube, secretsOf(kube)),
    connections: new SpaceConnections({
      clock,
      random: createSeededRandom(3),
      urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
      transport: () => simulator.transport,
      onRequest: () => {},
      onClusters: () => {},
      onListed: () => {},
    }),
    places: placesOf({ 'shop/production': aSpace().subject.spec }),
    heldIDs: () => new Set(['orders']),
    neededBy: () => [],
    dependents: () => ({ leaving: [], mayFollow: false }),
    hasDependents: () => false,
    clock,
    going: new Elapsed(),
    connectedWith: new Map(),
    listedFor: new Map(),
    versions: new Map(),
    ...changes,
  };
  const put = (name: string, data: Record<string, string>) => {
    kube.remove(SECRETS, { namespace: 'shop', name });
    return world.secrets.create('shop', name, { labels: {}, data });
  };
  for (const level of ['read', 'write', 'admin'])
    await put(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: `${level}-secret-0123456789` });
  await put('factory-login', { username: 'admin', password: 'password' });
  const observeAny = (given: SpaceBuilder = aSpace()) => observeSpace(world, given.subject, signal);
  /** Of a space whose tokens exist. */
  const observe = async (given?: SpaceBuilder) => {
    const { cloud, ...rest } = await observeAny(given);
    if (cloud !== undefined && 'why' in cloud) throw cloud.why;
    return { ...rest, cloud };
  };
  return { clock, simulator, world, kube, put, observe, observeAny };
}

describe('observeSpace()', () => {
  it('lists the space, and which of its clusters no object stands for', async () => {
    const { simulator, observe } = await bench();
    for (const id of ['zoo', 'orders', 'attic']) simulator.deployForeign({ id });
    const { cloud } = await observe();
    expect(cloud).toMatchObject({
      place: 'space "production" of team "acme"',
      refused: [],
      exchanged: true,
      canDestroy: true,
      inventory: { total: 3, managed: 1, own: 1, unmanaged: [{ clusterID: 'attic' }, { clusterID: 'zoo' }] },
    });
    expect(cloud?.versions).toContain('3.5.0');
  });

  it('does not call a cluster unmanaged that another DatabaseSpace for the same place manages, connected or not', async () => {
    const { spec } = aSpace().subject;
    const { simulator, observe } = await bench({
      places: placesOf({ 'shop/production': spec, 'ops/same': { ...spec, apiTokens: [] } }),
      heldIDs: (space) => new Set([space === 'shop/production' ? 'orders' : 'attic']),
    });
    for (const id of ['zoo', 'orders', 'attic']) simulator.deployForeign({ id });
    const { cloud } = await observe();
    expect(cloud?.inventory).toMatchObject({ total: 3, managed: 2, unmanaged: [{ clusterID: 'zoo' }] });
  });

  it.each([
    [['orders', 'zoo'], 2],
    [['absent'], 0],
  ])('counts those of its own among the clusters that are managed in its place: with %j %d', async (ids, own) => {
    const { spec } = aSpace().subject;
    const { simulator, observe } = await bench({
      places: placesOf({ 'ops/same': spec, 'shop/production': spec }),
      heldIDs: (space) => new Set(space === 'shop/production' ? ids : ['orders', 'zoo', 'attic']),
    });
    for (const id of ['zoo', 'orders', 'attic']) simulator.deployForeign({ id });
    expect((await observe()).cloud?.inventory).toMatchObject({ total: 3, managed: 3, own });
  });

  it('shows no more than fifty clusters that no object stands for', async () => {
    const { simulator, observe } = await bench();
    for (let index = 0; index < 60; index++) simulator.deployForeign({ id: `c${index}` });
    const { cloud } = await observe();
    expect(cloud?.inventory).toMatchObject({ total: 60, managed: 0 });
    expect(cloud?.inventory?.unmanaged).toHaveLength(50);
  });

  it('asks for nothing twice', async () => {
    const { simulator, observe } = await bench();
    const { cloud } = await observe();
    const known = aSpace().but({
      status: { observedGeneration: 1, availableVersions: [...(cloud?.versions ?? [])] },
    });
    simulator.resetCounters();
    await observe(known);
    expect(['exchangeToken', 'list', 'listVersions'].map((operation) => simulator.count(operation))).toEqual([0, 0, 0]);
  });

  it('lists at once when a person asks, and once only, as each List leads to another look', async () => {
    const { simulator, observe } = await bench();
    const { metadata } = aSpace().subject;
    const asked = (value: string) =>
      aSpace().but({ lookNow: true, metadata: { ...metadata, annotations: { [RECONCILE_AT]: value } } });
    await observe();
    simulator.resetCounters();
    const counts: number[] = [];
    for (const value of ['1', '1', '2']) {
      await observe(asked(value));
      counts.push(simulator.count('list'));
    }
    expect(counts).toEqual([1, 1, 2]);
  });

  it('says which tokens are refused, and goes on with those that are not', async () => {
    const { simulator, put, observe } = await bench();
    for (const level of ['read', 'write'])
      await put(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: 'wrong-secret-value' });
    const { cloud } = await observe();
    expect(
      cloud?.refused.map(({ secretName, error }) => [secretName, /of level \w+/.exec(error.message)?.[0]]),
    ).toEqual([
      ['cloud-read', 'of level read'],
      ['cloud-write', 'of level write'],
    ]);
    expect(JSON.stringify(cloud)).not.toContain('wrong-secret-value');
    expect(cloud).toMatchObject({ exchanged: false, inventory: { total: 0 } });
    expect(cloud?.versions).toContain('3.5.0');
    expect(simulator.count('list')).toBe(1);

    // A token that was refused is not tried again at each pass, but when a person asks.
    simulator.resetCounters();
    expect((await observe()).cloud?.refused).toHaveLength(2);
    expect(simulator.count('exchangeToken')).toBe(0);
    await observe(aSpace().but({ lookNow: true }));
    expect(simulator.count('exchangeToken')).toBe(2);
  });

  it('lists nothing when every token is refused', async () => {
    const { simulator, put, observe } = await bench();
    for (const level of ['read', 'write', 'admin'])
      await put(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: 'wrong-secret-value' });
    const { cloud } = await observe();
    expect(cloud?.refused).toHaveLength(3);
    expect(cloud?.inventory).toBeUndefined();
    expect(simulator.count('list')).toBe(0);
  });

  it('does not delay the List because one token is refused and the cloud does not answer for the next', async () => {
    const { simulator, put, observe } = await bench();
    await put('cloud-read', { clientID: 'read-id', clientSecret: 'wrong-secret-value' });
    simulator.faults.add({ match: { operation: 'exchangeToken' }, effect: '5xx', skip: 1, times: 1 });
    const { cloud } = await observe();
    expect(cloud?.refused.map(({ secretName }) => secretName)).toEqual(['cloud-read']);
    expect(cloud).toMatchObject({ exchanged: false, inventory: { total: 0 } });
  });

  it('is complete even if the versions cannot be listed', async () => {
    const { simulator, observe } = await bench();
    simulator.faults.add({ match: { operation: 'listVersions' }, effect: '5xx' });
    const { cloud } = await observe(aSpace().but({ status: { observedGeneration: 0, availableVersions: ['3.4.0'] } }));
    expect(cloud).toMatchObject({ inventory: { total: 0 }, listError: undefined, versions: ['3.4.0'] });
  });

  it('reads the versions of a changed space as soon as it can, as those that are known may be of another cloud', async () => {
    const { clock, simulator, put, kube, observeAny } = await bench();
    const versionsSeen = async (observedGeneration: number) => {
      const { cloud } = await observeAny(
        aSpace().but({ status: { observedGeneration, availableVersions: ['3.4.0'] } }),
      );
      return cloud !== undefined && 'versions' in cloud ? cloud.versions : 'not connected';
    };
    kube.remove(SECRETS, { namespace: 'shop', name: 'cloud-read' });
    expect(await versionsSeen(0)).toBe('not connected');
    await put('cloud-read', { clientID: 'read-id', clientSecret: 'read-secret-0123456789' });
    simulator.faults.add({ match: { operation: 'listVersions' }, effect: 'errorBefore', status: 404, times: 1 });
    expect(await versionsSeen(1)).toEqual(['3.4.0']);
    await clock.advance(60_000);
    expect(await versionsSeen(1)).toContain('3.5.0');
    simulator.resetCounters();
    // The status may not have them yet: somebody else was faster, or the API server failed.
    expect(await versionsSeen(1)).toContain('3.5.0');
    expect(simulator.count('listVersions')).toBe(0);
  });

  it('asks once for versions that the status does not keep, as with definitions of an older version', async () => {
    const { clock, simulator, observe } = await bench();
    for (let pass = 0; pass < 3; pass++) {
      const { cloud } = await observe(aSpace().but({ status: { observedGeneration: 1 } }));
      expect(cloud?.versions).toContain('3.5.0');
      await clock.advance(60_000);
    }
    expect(simulator.count('listVersions')).toBe(1);
  });

  it('asks ever less often for versions that the cloud does not tell, until a person asks', async () => {
    const { clock, simulator, observe } = await bench();
    simulator.faults.add({ match: { operation: 'listVersions' }, effect: 'errorBefore', status: 404 });
    const unchanged = aSpace().but({ status: { observedGeneration: 1 } });
    const askedWithin = async (minutes: number) => {
      simulator.resetCounters();
      for (let minute = 0; minute < minutes; minute++) {
        await observe(unchanged);
        await clock.advance(60_000);
      }
      return simulator.count('listVersions');
    };
    expect(await askedWithin(60)).toBe(6);
    expect(await askedWithin(60)).toBe(2);
    simulator.resetCounters();
    await observe(unchanged.but({ lookNow: true }));
    expect(simulator.count('listVersions')).toBe(1);
  });

  it('says why the cloud cannot be reached, not that it was not tried', async () => {
    const { simulator, observe } = await bench();
    simulator.faults.add({ match: { api: 'cloud' }, effect: 'outage' });
    for (let pass = 0; pass < 3; pass++) {
      const { cloud } = await observe();
      if (pass === 0) expect(String(cloud?.listError)).not.toContain('not tried');
    }
  });

  it('connects again when a Secret has changed', async () => {
    const { put, observe } = await bench();
    await put('cloud-admin', { clientID: 'admin-id', clientSecret: 'wrong-secret-value' });
    expect((await observe()).cloud?.refused).toHaveLength(1);
    await put('cloud-admin', { clientID: 'admin-id', clientSecret: 'admin-secret-0123456789' });
    expect((await observe()).cloud?.refused).toEqual([]);
  });

  it('connects again when the spec has changed', async () => {
    const { world, observe } = await bench();
    await observe();
    const { metadata } = aSpace().subject;
    const changed = aSpace()
      .with({ verifyInterval: '1h' })
      .but({ metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 } });
    await observe(changed);
    expect(world.connections.get('shop/production')?.verifyIntervalMs).toBe(3_600_000);
  });

  it('reads an API token and the factory login under the keys that the spec names', async () => {
    const { put, observe, world } = await bench();
    await put('token', { id: 'admin-id', secret: 'admin-secret-0123456789' });
    await put('login', { user: 'admin', word: 'password' });
    const space = aSpace().with({
      apiTokens: [{ level: 'admin', secretRef: { name: 'token', clientIDKey: 'id', clientSecretKey: 'secret' } }],
      defaultCredentialsSecretRef: { name: 'login', usernameKey: 'user', passwordKey: 'word' },
    });
    expect((await observe(space)).cloud).toMatchObject({ refused: [], exchanged: true });
    const factoryLogin = { username: 'admin', password: 'password' };
    expect(world.connections.get('shop/production')).toMatchObject({ factoryLogin });
  });

  it('tries a refused token again when its Secret is written again, as the cloud may accept it by now', async () => {
    const { clock, simulator, put, observe } = await bench();
    const right = { clientID: 'admin-id', clientSecret: 'admin-secret-0123456789' };
    simulator.faults.add({
      match: { operation: 'exchangeToken' },
      effect: 'errorBefore',
      status: 400,
      skip: 2,
      times: 1,
    });
    expect((await observe()).cloud?.refused).toHaveLength(1);
    expect((await observe()).cloud?.refused).toHaveLength(1);
    await clock.advance(10_000);
    await put('cloud-admin', right);
    expect((await observe()).cloud?.refused).toEqual([]);
  });

  it('tries a token that is wrong once, however many spaces share the Secret that was written', async () => {
    const { clock, simulator, put, observe } = await bench();
    const spaces = ['shop/one', 'shop/two', 'shop/three'].map((key) => aSpace().but({ key }));
    for (const space of spaces) expect((await observe(space)).cloud?.refused).toEqual([]);
    await clock.advance(600_000);
    simulator.resetCounters();
    await put('cloud-admin', { clientID: 'admin-id', clientSecret: 'wrong-secret-value' });
    for (const space of spaces) expect((await observe(space)).cloud?.refused).toHaveLength(1);
    expect(simulator.count('exchangeToken')).toBe(1);
  });

  it('does not try a refused token again, nor read a Secret, because it looks once more and nothing has changed', async () => {
    const { clock, simulator, world, put, observe } = await bench();
    await put('cloud-admin', { clientID: 'admin-id', clientSecret: 'wrong-secret-value' });
    expect((await observe()).cloud?.refused).toHaveLength(1);
    simulator.resetCounters();
    const read = vi.spyOn(world.secrets, 'read');
    await clock.advance(20_000);
    expect((await observe()).cloud?.refused).toHaveLength(1);
    expect([simulator.count('exchangeToken'), read.mock.calls]).toEqual([0, []]);
  });

  it('does not try a refused token again because it keeps the Secret from being deleted', async () => {
    const { simulator, world, put, observe } = await bench();
    await put('cloud-admin', { clientID: 'admin-id', clientSecret: 'wrong-secret-value' });
    expect((await observe()).cloud?.refused).toHaveLength(1);
    simulator.resetCounters();
    await world.secrets.keep('shop', 'cloud-admin', secretFinalizer(aSpace().subject), true);
    expect((await observe()).cloud?.refused).toHaveLength(1);
    expect(simulator.count('exchangeToken')).toBe(0);
  });

  it('does not treat a cloud that cannot be reached as one that refuses', async () => {
    const { simulator, observe } = await bench();
    simulator.faults.add({ match: { api: 'cloud' }, effect: 'outage' });
    const { cloud } = await observe();
    expect(cloud).toMatchObject({ refused: [], exchanged: false, inventory: undefined });
    expect(cloud?.listError).toBeDefined();
  });

  it('names a Secret or key of an API token that is missing, even if the space was connected', async () => {
    const { kube, put, observeAny: observe } = await bench();
    await observe();
    await put('cloud-read', { clientID: 'read-id' });
    expect((await observe()).cloud).toMatchObject({ why: { reason: 'SecretKeyMissing' }, lacksToken: true });
    kube.remove(SECRETS, { namespace: 'shop', name: 'cloud-read' });
    expect((await observe()).cloud).toMatchObject({ why: { reason: 'SecretNotFound' }, lacksToken: true });
    await put('cloud-read', { clientID: 'read-id', clientSecret: 'read-secret-0123456789' });
    expect((await observe()).cloud).toMatchObject({ exchanged: true });
  });

  it('connects to servers, and asks nothing of the cloud, if a token was missing from the start', async () => {
    const { simulator, world, kube, put, observeAny: observe } = await bench();
    const connection = () => world.connections.get(aSpace().subject.key);
    kube.remove(SECRETS, { namespace: 'shop', name: 'cloud-read' });
    expect((await observe()).cloud).toMatchObject({ why: { reason: 'SecretNotFound' }, lacksToken: true });
    expect(connection()?.factoryLogin.username).toBe('admin');
    expect(simulator.inspect().requests).toEqual([]);
    await put('cloud-read', { clientID: 'read-id', clientSecret: 'read-secret-0123456789' });
    expect((await observe()).cloud).toMatchObject({ exchanged: true, inventory: { total: 0 } });
    // From then on it keeps what it had.
    const before = connection();
    kube.remove(SECRETS, { namespace: 'shop', name: 'cloud-read' });
    await observe();
    expect(connection()).toBe(before);
  });

  it('names all Secrets that are missing at once, with their keys', async () => {
    const { kube, put, observeAny: observe } = await bench();
    kube.remove(SECRETS, { namespace: 'shop', name: 'cloud-read' });
    kube.remove(SECRETS, { namespace: 'shop', name: 'factory-login' });
    expect((await observe()).cloud).toMatchObject({
      why: {
        reason: 'SecretNotFound',
        message:
          'Secrets "cloud-read" (keys clientID, clientSecret) and "factory-login" (keys username, password) do not exist: create them in namespace "shop"',
      },
      lacksToken: true,
    });
    await put('cloud-read', { clientID: 'read-id', clientSecret: 'read-secret-0123456789' });
    expect((await observe()).cloud).toMatchObject({
      why: {
        message: expect.stringMatching(/^Secret "factory-login" does not exist: create it in namespace "shop", with/),
      },
      lacksToken: false,
    });
  });

  it('names a missing Secret of the factory login', async () => {
    const { kube, observeAny: observe } = await bench();
    kube.remove(SECRETS, { namespace: 'shop', name: 'factory-login' });
    expect((await observe()).cloud).toMatchObject({ why: { reason: 'SecretNotFound' }, lacksToken: false });
  });

  it('reports a URL that is not allowed', async () => {
    const { observeAny: observe } = await bench();
    const { cloud } = await observe(aSpace().with({ baseURL: 'http://cloud.example.com' }));
    expect(cloud).toMatchObject({ why: { reason: 'BaseURLNotAllowed' }, lacksToken: false });
  });

  it('reports a serverURL that works for no server, and asks nothing', async () => {
    const { simulator, observeAny: observe } = await bench();
    const { cloud } = await observe(aSpace().with({ serverURL: 'http://gateway.example.com/{host}' }));
    expect(cloud).toMatchObject({
      why: {
        reason: 'ServerURLNotAllowed',
        message:
          'serverURL of the DatabaseSpace: "http://gateway.example.com/db.example.com" is not https: use https, or start the operator with --allow-http. Here db.example.com:443 stands for the address of any server',
      },
      lacksToken: false,
    });
    expect(simulator.count('exchangeToken')).toBe(0);
  });

  it('asks an address that exchanges no token only once, not for both the tokens and the List', async () => {
    const { simulator, world, observe } = await bench();
    simulator.faults.add({ match: { operation: 'exchangeToken' }, effect: 'errorBefore', status: 404 });
    const { cloud } = await observe();
    expect(cloud).toMatchObject({ listError: { kind: 'badAnswer', operation: 'authenticate' } });
    await world.connections.get(aSpace().subject.key)?.poller.refresh();
    await observe();
    expect(simulator.count('exchangeToken')).toBe(1);
  });

  it('accepts no Secret that Mooring wrote as the factory login', async () => {
    const { kube, put, observe } = await bench();
    await put('orders-admin', { username: 'admin', password: 'a-published-password' });
    const labels = { 'app.kubernetes.io/managed-by': 'mooring', 'mooring.dev/cluster': 'orders' };
    await kube.patch(SECRETS, { namespace: 'shop', name: 'orders-admin' }, { metadata: { labels } });
    const space = aSpace().with({ defaultCredentialsSecretRef: { name: 'orders-admin' } });
    await expect(observe(space)).rejects.toMatchObject({ reason: 'DefaultLoginMistaken' });
  });

  it('does not look at the cloud when it goes and nothing needs it', async () => {
    const { simulator, observe } = await bench();
    expect((await observe(aSpace().but({ deleting: true }))).cloud).toBeUndefined();
    expect(simulator.inspect().requests).toEqual([]);
  });

  it('says which Secrets are kept for those who need it', async () => {
    const { world, observe } = await bench({ neededBy: () => ['shop/orders'] });
    await world.secrets.keep('shop', 'cloud-admin', secretFinalizer(aSpace().subject), true);
    expect(await observe()).toMatchObject({
      neededBy: ['shop/orders'],
      keptSecrets: ['cloud-admin'],
      staleSecrets: [],
      freeSecrets: ['cloud-read', 'cloud-write', 'factory-login'],
    });
  });

  it('says which Secrets are kept even if the spec names others now', async () => {
    const { world, put, observe } = await bench({ neededBy: () => ['shop/orders'] });
    await put('cloud-old', {});
    await world.secrets.keep('shop', 'cloud-old', secretFinalizer(aSpace().subject), true);
    expect(await observe()).toMatchObject({ keptSecrets: [], staleSecrets: ['cloud-old'] });
  });

  it('reports a Secret that its status names as kept, even if the cache has not seen that it is', async () => {
    const { world, kube } = await bench();
    await world.secrets.keep('shop', 'cloud-admin', secretFinalizer(aSpace().subject), true);
    const behind = createSecrets(kube, { ...secretsOf(kube), withFinalizer: () => [] });
    const space = aSpace().but({ deleting: true, status: { observedGeneration: 1, keptSecrets: ['cloud-admin'] } });
    const { keptSecrets } = await observeSpace({ ...world, secrets: behind }, space.subject, signal);
    expect(keptSecrets).toEqual(['cloud-admin']);
  });

  it.each([
    [{ leaving: ['DatabaseUser shop/app'], mayFollow: true }, 120_000],
    [{ leaving: [], mayFollow: true }, 30_000],
    [{ leaving: [], mayFollow: false }, 0],
  ])('waits for %j for %i ms at most when it is being deleted', async (dependents, atMostMs) => {
    let nowMs = 7_000;
    const clock = { monotonic: () => nowMs };
    const { observeAny } = await bench({ clock, dependents: () => dependents });
    expect((await observeAny()).goesAfter).toBeUndefined();
    const deleting = aSpace().but({ deleting: true });
    expect((await observeAny(deleting)).goesAfter?.forMs ?? 0).toBe(atMostMs);
    nowMs += atMostMs;
    expect(await observeAny(deleting)).toMatchObject({ goesAfter: undefined, cloud: undefined });
  });

  it('does not try to keep a Secret that is being deleted already', async () => {
    const { world, kube, observe } = await bench({ neededBy: () => ['shop/orders'] });
    await world.secrets.keep('shop', 'cloud-admin', 'example.com/other', true);
    kube.remove(SECRETS, { namespace: 'shop', name: 'cloud-admin' });
    expect(await observe()).toMatchObject({
      freeSecrets: ['cloud-read', 'cloud-write', 'factory-login'],
      leavingSecrets: ['cloud-admin'],
    });
  });
});

describe('secretNames()', () => {
  it('names each Secret once', () => {
    const secretRef = { name: 'cloud' };
    const { spec } = aSpace().with({
      apiTokens: [
        { level: 'read', secretRef },
        { level: 'admin', secretRef },
      ],
    }).subject;
    expect(secretNames(spec)).toEqual(['cloud', 'factory-login']);
  });
});
