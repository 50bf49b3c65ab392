import { expect, test } from 'vitest';
import { Recent } from './recent.ts';

test('Recent makes a value once while it is among those that were asked for last', () => {
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
