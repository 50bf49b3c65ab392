import { expect, test } from 'vitest';
import { Recent } from './recent.ts';

test('Recent makes a value only once while it is among those requested last', () => {
  const recent = new Recent<string, { readonly key: string }>(2);
  const made: string[] = [];
  const get = (key: string) =>
    recent.get(key, () => {
      made.push(key);
      return { key };
    });
  const first = get('a');
  get('b');
  expect(get('a')).toBe(first);
  get('c');
  expect(get('a')).toBe(first);
  expect(made).toEqual(['a', 'b', 'c']);
  get('b');
  expect(made).toEqual(['a', 'b', 'c', 'b']);
});

test('Recent keeps what was set last, and reading it through peek does not count as a request', () => {
  const recent = new Recent<string, number>(2);
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
  ] as const)
    recent.set(key, value);
  expect(recent.peek('b')).toBe(2);
  recent.set('c', 4);
  expect(['a', 'b', 'c'].map((key) => recent.peek(key))).toEqual([3, undefined, 4]);
});

test('Recent forgets what is deleted, which makes room for another value', () => {
  const recent = new Recent<string, number>(2);
  for (const key of ['a', 'b']) recent.set(key, 1);
  recent.delete('b');
  recent.delete('never there');
  recent.set('c', 2);
  expect(['a', 'b', 'c'].map((key) => recent.peek(key))).toEqual([1, undefined, 2]);
});
