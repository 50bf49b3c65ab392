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

const all = () => true;

test('Store tells what was and what is', () => {
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

test('Store never goes back to an older version, and tells nothing of one it has', async () => {
  const { store, changes, versionOf } = aStore(object('a', 10));
  store.apply(object('a', 9));
  store.apply(object('a', 10));
  await store.replace([object('a', 8)], all);
  expect([changes, versionOf('a')]).toEqual([[], '10']);
});

test('Store compares versions as numbers', () => {
  const { store, versionOf } = aStore(object('a', 99));
  store.apply(object('a', 100));
  expect(versionOf('a')).toBe('100');
});

test('Store takes the last word where versions are no numbers', () => {
  const { store, versionOf } = aStore(object('a', 'x'));
  store.apply(object('a', 'b'));
  expect(versionOf('a')).toBe('b');
});

test('Store shows the answer to a write at once, and the watch then tells nothing new', () => {
  const { store, changes, versionOf } = aStore(object('a', 1));
  store.applyOwnWrite(object('a', 2));
  store.apply(object('a', 2));
  expect([versionOf('a'), changes]).toEqual(['2', [['ns/a', '1', '2']]]);
});

test('Store does not bring back an object by the late answer to a write', () => {
  const { store, changes } = aStore(object('a', 1));
  store.delete(object('a', 3));
  store.applyOwnWrite(object('a', 2));
  expect([store.size, changes.length]).toEqual([0, 1]);
});

test('Store does not take the answer to a write for the object that has come in its place', () => {
  const { store, versionOf } = aStore(object('a', 5, { uid: 'second' }));
  store.applyOwnWrite(object('a', 9, { uid: 'first' }));
  expect(versionOf('a')).toBe('5');
});

test('Store lets an object go when the answer to a write shows that its last finalizer is gone', () => {
  const { store } = aStore(object('a', 5, { finalizers: ['x'], deletionTimestamp: 't' }));
  store.applyOwnWrite(object('a', 5, { finalizers: [], deletionTimestamp: 't' }));
  expect(store.size).toBe(0);
});

test('Store keeps a recreated object when the deletion of the first one arrives late', () => {
  const { store, versionOf } = aStore(object('a', 5, { uid: 'second' }));
  store.delete(object('a', 4, { uid: 'first' }));
  expect(versionOf('a')).toBe('5');
});

test('Store tells of an object that was deleted and created anew in between as one change with two uids', async () => {
  const seen: (string | undefined)[] = [];
  const store = new Store<AnyObject>((_key, before, after) => seen.push(before?.metadata.uid, after?.metadata.uid));
  store.apply(object('a', 1, { uid: 'first' }));
  await store.replace([object('a', 5, { uid: 'second' })], all);
  expect(seen).toEqual([undefined, 'first', 'first', 'second']);
});

test('Store replaces what is in the scope of a list, and nothing else', async () => {
  const { store, changes } = aStore(object('a', 1), object('b', 2), object('c', 3, { namespace: 'other' }));
  await store.replace([object('b', 4), object('d', 5)], ({ metadata }) => metadata.namespace === 'ns');
  expect([...store.values()].map(({ metadata }) => metadata.name).sort()).toEqual(['b', 'c', 'd']);
  expect(changes).toEqual([
    ['ns/a', '1', undefined],
    ['ns/b', '2', '4'],
    ['ns/d', undefined, '5'],
  ]);
});

test('Store goes back with a list that is the newest there is: the server was restored from a backup', async () => {
  const { store, changes, versionOf } = aStore(object('a', 10), object('b', 10));
  await store.replace([object('a', 8), object('b', 10)], all, true);
  expect([changes, versionOf('a')]).toEqual([[['ns/a', '10', '8']], '8']);
});

test('Store tells of thousands of changes in slices, between which others have their turn', async () => {
  const { store, changes } = aStore();
  const objects = Array.from({ length: 2_000 }, (_, index) => object(`name-${index}`, index + 1));
  /** The most changes that were told at once. */
  const most = async (replace: () => Promise<void>) => {
    let [longest, told, over] = [0, changes.length, false];
    void replace().then(() => {
      over = true;
    });
    while (!over) {
      longest = Math.max(longest, changes.length - told);
      told = changes.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return longest;
  };
  expect(await most(() => store.replace(objects, all))).toBeLessThanOrEqual(100);
  expect([store.size, changes.length]).toEqual([2_000, 2_000]);
  expect(await most(() => store.replace([], all))).toBeLessThanOrEqual(100);
  expect([store.size, changes.length]).toEqual([0, 4_000]);
});
