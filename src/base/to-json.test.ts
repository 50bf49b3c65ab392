import { expect, test } from 'vitest';
import { toJson } from './to-json.ts';

test('toJson() writes bigints as integers', () => {
  expect(toJson({ a: [9007199254740993n, -1n, 1.5, '1'] })).toBe('{"a":[9007199254740993,-1,1.5,"1"]}');
});
