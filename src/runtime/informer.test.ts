import { expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import { type AnyObject, KubeError, SECRETS } from '../kube/api.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { Informer } from './informer.ts';

function anInformer(namespaces?: readonly string[]) {
  const clock = virtualClock();
  const api = new FakeKube({ now: clock.now, random: createSeededRandom(1) });
  const failures: unknown[] = [];
  const informer = new Informer<AnyObject>({
    api,
    resource: SECRETS,
    namespaces,
    metadataOnly: true,
    transform: (object) => object,
    clock,
    random: noChance,
    onFailure: (error) => failures.push(error),
  });
  const names = () => [...informer.store.keys()].sort();
  const add = (namespace: string, name: string) =>
    api.create(SECRETS, namespace, { metadata: { name }, data: { password: 'canary' } });
  return { clock, api, informer, names, add, failures, stop: new AbortController() };
}

test('An Informer has synced after the first list, even of an empty collection', async () => {
  const { informer, clock, stop } = anInformer();
  expect(informer.hasSynced()).toBe(false);
  void informer.run(stop.signal);
  await informer.synced;
  expect(informer.hasSynced()).toBe(true);
  await clock.settle();
  stop.abort();
});

test('An Informer follows all changes and tells every handler', async () => {
  const { informer, names, add, api, clock, stop } = anInformer();
  await add('one', 'a');
  const told: string[] = [];
  informer.onChange((key, before, after) => told.push(`${key} ${before !== undefined} ${after !== undefined}`));
  informer.onChange((key) => told.push(key));
  const running = informer.run(stop.signal);
  await informer.synced;
  await add('two', 'b');
  await clock.settle();
  api.remove(SECRETS, { namespace: 'one', name: 'a' });
  await clock.settle();
  expect(names()).toEqual(['two/b']);
  expect(told).toEqual(['one/a false true', 'one/a', 'two/b false true', 'two/b', 'one/a true false', 'one/a']);
  stop.abort();
  await running;
});

test('An Informer tells every handler even if one throws, and reports the one that did', async () => {
  const { informer, add, clock, failures, stop } = anInformer();
  const told: string[] = [];
  informer.onChange(() => {
    throw new Error('a bug');
  });
  informer.onChange((key) => told.push(key));
  void informer.run(stop.signal);
  await informer.synced;
  await add('one', 'a');
  await add('one', 'b');
  await clock.advance(60_000);
  stop.abort();
  expect(told).toEqual(['one/a', 'one/b']);
  expect(failures.map(String)).toEqual(['Error: a bug', 'Error: a bug']);
});

test('An Informer keeps the same parts of the answer to a write as of any object', async () => {
  const clock = virtualClock();
  const api = new FakeKube({ now: clock.now, random: createSeededRandom(1) });
  const informer = new Informer<AnyObject>({
    api,
    resource: SECRETS,
    namespaces: undefined,
    transform: ({ metadata: { name, namespace = '', uid, resourceVersion } }) => ({
      metadata: { name, namespace, uid, resourceVersion },
    }),
    clock,
    random: noChance,
    onFailure: () => expect.unreachable(),
  });
  await api.create(SECRETS, 'ns', { metadata: { name: 'a' } });
  const stop = new AbortController();
  void informer.run(stop.signal);
  await informer.synced;
  stop.abort();
  const answer = await api.patch(SECRETS, { namespace: 'ns', name: 'a' }, { metadata: { labels: { x: 'y' } } });
  informer.applyOwnWrite(answer);
  expect(Object.keys(informer.store.get('ns/a')?.metadata ?? {})).toEqual([
    'name',
    'namespace',
    'uid',
    'resourceVersion',
  ]);
  expect(informer.store.get('ns/a')?.metadata.resourceVersion).toBe(answer.metadata.resourceVersion);
});

test('An Informer catches up with what happened while it was cut off and history was forgotten, including deletions', async () => {
  const { informer, names, add, api, clock, stop } = anInformer();
  await add('one', 'a');
  void informer.run(stop.signal);
  await informer.synced;
  await clock.settle();
  api.closeWatches();
  // The watch has ended before anything happens, so it reports nothing.
  await clock.settle();
  api.remove(SECRETS, { namespace: 'one', name: 'a' });
  await add('one', 'b');
  api.compact();
  await clock.advance(60_000);
  expect(names()).toEqual(['one/b']);
  stop.abort();
});

test('An Informer keeps its own write although a list without a version that was requested before says otherwise', async () => {
  const { informer, add, api, clock, stop } = anInformer();
  await add('one', 'a');
  const pages = Promise.withResolvers<void>();
  const list = api.list.bind(api);
  void informer.run(stop.signal);
  await informer.synced;
  await clock.settle();
  // The server was restored: it knows no version as new as this, and answers slowly.
  let notOlderThan: string | undefined = '';
  knowsNoVersion(api);
  api.list = async (resource, options) => {
    notOlderThan = options.notOlderThan;
    const page = await list(resource, options);
    await pages.promise;
    return page;
  };
  api.closeWatches();
  await clock.settle();
  await api.create(SECRETS, 'two', { metadata: { name: 'b' } });
  api.compact();
  await clock.runUntil(() => notOlderThan === undefined, 'it lists without a version');
  const written = await api.patch(SECRETS, { namespace: 'one', name: 'a' }, { metadata: { labels: { x: 'y' } } });
  informer.applyOwnWrite(written);
  const told: unknown[] = [];
  informer.onChange((key) => told.push(key));
  pages.resolve();
  await clock.settle();
  expect(informer.store.get('one/a')?.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  expect(told).toEqual(['two/b']);
  stop.abort();
});

test('An Informer keeps its own write although a list that follows a refused watch does not know it yet', async () => {
  const { informer, add, api, clock, stop } = anInformer();
  await add('one', 'a');
  void informer.run(stop.signal);
  await informer.synced;
  await clock.settle();
  api.lag();
  const watch = api.watch.bind(api);
  api.watch = (resource, options, signal) => {
    if (!options.sendInitialEvents) throw new KubeError('forbidden', { status: 403 });
    return watch(resource, options, signal);
  };
  api.closeWatches();
  await clock.settle();
  const written = await api.patch(SECRETS, { namespace: 'one', name: 'a' }, { metadata: { labels: { x: 'y' } } });
  informer.applyOwnWrite(written);
  const told: unknown[] = [];
  informer.onChange((key) => told.push(key));
  await clock.advance(2_000);
  expect(told).toEqual([]);
  expect(informer.store.get('one/a')?.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  stop.abort();
});

test('An Informer goes back to what a list without a version says, even behind its own earlier writes', async () => {
  const { informer, api, clock, stop } = anInformer();
  await api.create(SECRETS, 'one', { metadata: { name: 'a' } });
  void informer.run(stop.signal);
  await informer.synced;
  await clock.settle();
  const { metadata } = await api.patch(SECRETS, { namespace: 'one', name: 'a' }, { metadata: { labels: { x: 'y' } } });
  informer.applyOwnWrite({ metadata: { ...metadata, resourceVersion: '1000' } });
  knowsNoVersion(api);
  api.list = async () => ({
    items: [{ metadata }],
    resourceVersion: metadata.resourceVersion,
    continueToken: undefined,
  });
  api.closeWatches();
  await clock.settle();
  await api.create(SECRETS, 'two', { metadata: { name: 'b' } });
  api.compact();
  await clock.advance(60_000);
  expect(informer.store.get('one/a')?.metadata.resourceVersion).toBe(metadata.resourceVersion);
  stop.abort();
});

test('An Informer goes back to what a list of a later version says: the server was restored, and its versions were bumped', async () => {
  const { informer, names, add, api, clock, stop } = anInformer();
  await add('one', 'kept');
  await add('one', 'changed');
  const { version } = api;
  const ref = { namespace: 'one', name: 'changed' };
  const before = (await api.get(SECRETS, ref))?.metadata.resourceVersion;
  await add('one', 'later');
  await api.patch(SECRETS, ref, { metadata: { labels: { x: 'y' } } });
  void informer.run(stop.signal);
  await informer.synced;
  await clock.settle();
  const told: unknown[] = [];
  informer.onChange((key, was, is) => told.push([key, was?.metadata.labels, is?.metadata.labels]));
  api.restore(version);
  api.initialized();
  await clock.advance(60_000);
  expect(names()).toEqual(['one/changed', 'one/kept']);
  expect(informer.store.get('one/changed')?.metadata.resourceVersion).toBe(before);
  expect(told).toEqual([
    ['one/changed', { x: 'y' }, undefined],
    ['one/later', undefined, undefined],
  ]);
  // From here on it goes on as usual.
  const written = await api.patch(SECRETS, ref, { metadata: { labels: { x: 'z' } } });
  await clock.settle();
  expect(informer.store.get('one/changed')?.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  stop.abort();
});

/** Makes the API refuse every list that must be at least as new as some version. */
function knowsNoVersion(api: FakeKube): void {
  const watch = api.watch.bind(api);
  api.watch = (resource, options, signal) => {
    if (options.sendInitialEvents) throw new KubeError('Too large resource version', { status: 504 });
    return watch(resource, options, signal);
  };
}

test('An Informer of some namespaces has synced when all of them are listed, and keeps nothing of others', async () => {
  const { informer, names, add, api, clock, stop } = anInformer(['one', 'two']);
  await add('one', 'a');
  await add('two', 'a');
  await add('three', 'a');
  void informer.run(stop.signal);
  await informer.synced;
  await clock.settle();
  await add('two', 'b');
  await add('three', 'b');
  api.remove(SECRETS, { namespace: 'one', name: 'a' });
  await clock.settle();
  expect([names(), api.watches]).toEqual([['two/a', 'two/b'], 2]);
  stop.abort();
});

test('An Informer of some namespaces treats as gone only objects in the namespace that was listed', async () => {
  const { informer, names, add, api, clock, stop } = anInformer(['one', 'two']);
  let synced = false;
  void informer.synced.then(() => {
    synced = true;
  });
  const two = Promise.withResolvers<void>();
  const watch = api.watch.bind(api);
  api.watch = async function* (resource, options, signal) {
    if (options.namespace === 'two') await two.promise;
    yield* watch(resource, options, signal);
  };
  for (const namespace of ['one', 'two']) await add(namespace, 'a');
  const running = informer.run(stop.signal);
  await clock.settle();
  expect([names(), synced, informer.hasSynced()]).toEqual([['one/a'], false, false]);
  two.resolve();
  await clock.settle();
  expect([names(), synced, informer.hasSynced()]).toEqual([['one/a', 'two/a'], true, true]);
  stop.abort();
  await running;
});

test('An Informer of some namespaces catches up with deletions while it was cut off', async () => {
  const { informer, names, add, api, clock, stop } = anInformer(['one', 'two']);
  for (const namespace of ['one', 'two']) for (const name of ['a', 'b']) await add(namespace, name);
  void informer.run(stop.signal);
  await informer.synced;
  await clock.settle();
  api.closeWatches();
  await clock.settle();
  api.remove(SECRETS, { namespace: 'one', name: 'a' });
  await add('one', 'c');
  api.compact();
  await clock.advance(60_000);
  expect(names()).toEqual(['one/b', 'one/c', 'two/a', 'two/b']);
  stop.abort();
});

test('An Informer runs until it is told to stop', async () => {
  const { informer, clock, stop } = anInformer();
  const log: string[] = [];
  void informer.run(stop.signal).then(() => log.push('ended'));
  await informer.synced;
  await clock.advance(600_000);
  log.push('stop');
  stop.abort();
  await clock.settle();
  expect(log).toEqual(['stop', 'ended']);
});

test('An Informer has synced only after handlers were told what the list lacks', async () => {
  const { informer, add, clock, stop } = anInformer();
  const [retain, retained] = [informer.store.retain.bind(informer.store), Promise.withResolvers<void>()];
  informer.store.retain = async (...given) => {
    await retained.promise;
    await retain(...given);
  };
  await add('one', 'a');
  void informer.run(stop.signal);
  await clock.settle();
  expect(informer.hasSynced()).toBe(false);
  retained.resolve();
  await clock.settle();
  expect(informer.hasSynced()).toBe(true);
  stop.abort();
});

test('An Informer of metadata never holds contents', async () => {
  const { informer, add, clock, stop } = anInformer();
  await add('one', 'a');
  void informer.run(stop.signal);
  await informer.synced;
  await add('one', 'b');
  await clock.settle();
  expect(informer.store.size).toBe(2);
  expect(JSON.stringify([...informer.store.keys()].map((key) => informer.store.get(key)))).not.toContain('canary');
  stop.abort();
});
