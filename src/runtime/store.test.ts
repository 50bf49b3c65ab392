import { expect, test } from 'vitest';
import type { AnyObject } from '../kube/api.ts';
import { Store } from './store.ts';

const object = (
  name: string,
  resourceVersion: number | string,
  more: Partial<AnyObject['metadata']> = {},
): AnyObject => ({
  metadata: { namespace: 'ns', name, uid: `uid-of-${name}`, resourceVersion: String(resourceVersion), ...more },
});

function aStore(...objects: AnyObject[]) {
  const changes: [string, string | undefined, string | undefined][] = [];
  const store = new Store<AnyObject>((key, before, after) =>
    changes.push([key, before?.metadata.resourceVersion, after?.metadata.resourceVersion]),
  );
  for (const each of objects) store.apply(each);
  changes.length = 0;
  const versionOf = (name: string) => store.get(`ns/${name}`)?.metadata.resourceVersion;
  return { store, changes, versionOf };
}

test('Store reports objects before and after each change', () => {
  const { store, changes } = aStore();
  store.apply(object('a', 1));
  store.apply(object('a', 2));
  store.delete(object('a', 3));
  expect(changes).toEqual([
    ['ns/a', undefined, '1'],
    ['ns/a', '1', '2'],
    ['ns/a', '2', undefined],
  ]);
  expect(store.size).toBe(0);
});

test('Store never goes back to an older version, and does not report one that it has', () => {
  const { store, changes, versionOf } = aStore(object('a', 10));
  store.apply(object('a', 9));
  store.apply(object('a', 10));
  expect([changes, versionOf('a')]).toEqual([[], '10']);
});

test('Store parses an object once for repeated reads, until it changes', () => {
  const { store } = aStore(object('a', 1));
  const first = store.get('ns/a');
  expect(store.get('ns/a')).toBe(first);
  store.apply(object('a', 2));
  expect([first?.metadata.resourceVersion, store.get('ns/a')?.metadata.resourceVersion]).toEqual(['1', '2']);
});

test('Store compares versions as numbers', () => {
  const { store, versionOf } = aStore(object('a', 99));
  store.apply(object('a', 100));
  expect(versionOf('a')).toBe('100');
});

test('Store compares versions too large for an exact number, as some API servers have them', () => {
  const { store, versionOf } = aStore(object('a', '1756825932012063017'));
  store.apply(object('a', '1756825932012063018'));
  expect(versionOf('a')).toBe('1756825932012063018');
  store.apply(object('a', '1756825932012063017'));
  store.delete(object('a', '1756825932012063017'));
  expect(versionOf('a')).toBe('1756825932012063018');
});

test('Store takes the last one if versions are not numbers', () => {
  const { store, versionOf } = aStore(object('a', 'x'));
  store.apply(object('a', 'b'));
  expect(versionOf('a')).toBe('b');
});

test('Store shows the answer to a write at once, and the watch then reports nothing new', () => {
  const { store, changes, versionOf } = aStore(object('a', 1));
  store.applyOwnWrite(object('a', 2));
  expect([versionOf('a'), changes]).toEqual(['2', [['ns/a', '1', '2']]]);
  store.apply(object('a', 2));
  expect([versionOf('a'), changes]).toEqual(['2', [['ns/a', '1', '2']]]);
});

test('Store does not bring back an object because of a late answer to a write', () => {
  const { store, changes } = aStore(object('a', 1));
  store.delete(object('a', 3));
  store.applyOwnWrite(object('a', 2));
  expect([store.size, changes.length]).toEqual([0, 1]);
});

test('Store does not apply the answer to a write to an object that has replaced the written one', () => {
  const { store, versionOf } = aStore(object('a', 5, { uid: 'second' }));
  store.applyOwnWrite(object('a', 9, { uid: 'first' }));
  expect(versionOf('a')).toBe('5');
});

test('Store drops an object when the answer to a write shows that its last finalizer is gone', () => {
  const { store } = aStore(object('a', 5, { finalizers: ['x'], deletionTimestamp: 't' }));
  store.applyOwnWrite(object('a', 5, { finalizers: [], deletionTimestamp: 't' }));
  expect(store.size).toBe(0);
});

test('Store keeps an object that is being deleted while the answer to a write shows the finalizer of somebody else', () => {
  const { store, versionOf } = aStore(object('a', 5, { finalizers: ['x', 'y'], deletionTimestamp: 't' }));
  store.applyOwnWrite(object('a', 6, { finalizers: ['y'], deletionTimestamp: 't' }));
  expect(versionOf('a')).toBe('6');
});

test('Store does not let an older event bring back an object that an own write has ended, but accepts its replacement', async () => {
  const going = { finalizers: ['x'], deletionTimestamp: 't' };
  const { store, versionOf } = aStore(object('a', 5, going));
  store.applyOwnWrite(object('a', 7, { finalizers: [], deletionTimestamp: 't' }));
  store.apply(object('a', 6, going));
  expect(store.size).toBe(0);
  store.delete(object('a', 8, going));
  store.apply(object('a', 9, { uid: 'second' }));
  expect(versionOf('a')).toBe('9');
});

test.each<[string, string | undefined, (store: Store<AnyObject>) => unknown]>([
  ['until its deletion is reported', '9', (store) => store.delete(object('a', 8))],
  ['until a list lacks it', '9', (store) => store.retain(new Set(), () => true)],
  ['while a list names it', undefined, (store) => store.retain(new Set(['ns/a']), () => true)],
  ['while a list for others lacks it', undefined, (store) => store.retain(new Set(), () => false)],
  [
    'while the deletion of another one is reported',
    undefined,
    (store) => store.delete(object('a', 4, { uid: 'former' })),
  ],
])('Store remembers the object that an own write has ended %s', async (_when, version, told) => {
  const { store, versionOf } = aStore(object('a', 5, { finalizers: ['x'], deletionTimestamp: 't' }));
  store.applyOwnWrite(object('a', 7, { deletionTimestamp: 't' }));
  await told(store);
  store.apply(object('a', 9));
  expect(versionOf('a')).toBe(version);
});

test('Store brings back an object that an own write has ended once a server was restored from before that', async () => {
  const going = { finalizers: ['x'], deletionTimestamp: 't' };
  const { store, versionOf } = aStore(object('a', 5, going));
  store.applyOwnWrite(object('a', 7, { finalizers: [], deletionTimestamp: 't' }));
  store.apply(object('a', 3), true);
  store.apply(object('a', 4));
  expect(versionOf('a')).toBe('4');
});

test('Store keeps a recreated object when the deletion of the first one arrives late', () => {
  const { store, versionOf } = aStore(object('a', 5, { uid: 'second' }));
  store.delete(object('a', 4, { uid: 'first' }));
  expect(versionOf('a')).toBe('5');
});

test('Store reports an object that was deleted and created again in between as one change with two uids', () => {
  const seen: (string | undefined)[] = [];
  const store = new Store<AnyObject>((_key, before, after) => seen.push(before?.metadata.uid, after?.metadata.uid));
  store.apply(object('a', 1, { uid: 'first' }));
  store.apply(object('a', 5, { uid: 'second' }));
  expect(seen).toEqual([undefined, 'first', 'first', 'second']);
});

test('Store keeps what a list named, and what is not in its scope', async () => {
  const { store, changes } = aStore(object('a', 1), object('b', 2), object('c', 3, { namespace: 'other' }));
  await store.retain(new Set(['ns/b']), (key) => key.startsWith('ns/'));
  expect([...store.keys()]).toEqual(['ns/b', 'other/c']);
  expect(changes).toEqual([['ns/a', '1', undefined]]);
});

test('Store goes back with the newest possible list: the server was restored from a backup', () => {
  const { store, changes, versionOf } = aStore(object('a', 10), object('b', 10));
  store.apply(object('a', 8), true);
  store.apply(object('b', 10), true);
  expect([changes, versionOf('a')]).toEqual([[['ns/a', '10', '8']], '8']);
});

test('Store reports thousands of deleted objects in slices, between which others have their turn', async () => {
  const objects = Array.from({ length: 2_000 }, (_, index) => object(`name-${index}`, index + 1));
  const { store, changes } = aStore(...objects);
  let [most, told, over] = [0, 0, false];
  void store
    .retain(new Set(), () => true)
    .then(() => {
      over = true;
    });
  while (!over) {
    [most, told] = [Math.max(most, changes.length - told), changes.length];
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(most).toBeLessThanOrEqual(100);
  expect([store.size, changes.length]).toEqual([0, 2_000]);
});

test('Store returns objects that nobody can change', () => {
  const { store } = aStore(object('a', 1, { labels: { team: 'one' } }));
  const labels = store.get('ns/a')?.metadata.labels ?? {};
  expect(() => Object.assign(labels, { team: 'two' })).toThrow(TypeError);
});

test('Store that goes back treats another object of the same version as different', () => {
  const { store } = aStore();
  store.apply(object('a', 5, { uid: 'first' }));
  store.apply(object('a', 5, { uid: 'second' }), true);
  expect(store.get('ns/a')?.metadata.uid).toBe('second');
});
