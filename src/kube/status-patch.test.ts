import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergePatch } from '../sandbox/merge-patch.ts';
import { statusPatch } from './status-patch.ts';

const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean());
const field = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 3 }),
  fc.array(fc.dictionary(fc.constantFrom('p', 'q'), leaf), { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('p', 'q', 'r'), leaf),
);
const names = fc.constantFrom('a', 'b', 'c', 'd');
const status = fc.dictionary(names, field, { noNullPrototype: true });
const changes = fc.dictionary(names, fc.oneof(field, fc.constant(null), fc.constant(undefined)), {
  noNullPrototype: true,
});

/** Field by field: null removes, undefined leaves, anything else is what the field becomes. */
function wanted(before: object, change: Readonly<Record<string, unknown>>): unknown {
  const result = new Map<string, unknown>(Object.entries(before));
  for (const [name, value] of Object.entries(change)) {
    if (value === null) result.delete(name);
    else if (value !== undefined) result.set(name, value);
  }
  return JSON.parse(JSON.stringify(Object.fromEntries(result)));
}

test('statusPatch() returns what a merge turns into the wanted status, and nothing if nothing differs', () => {
  fc.assert(
    fc.property(status, changes, (before, change) => {
      const patch = statusPatch(before, change);
      const goal = wanted(before, change);
      const same = JSON.stringify(sorted(goal)) === JSON.stringify(sorted(before));
      expect(patch === undefined).toBe(same);
      expect(mergePatch(before, JSON.parse(JSON.stringify(patch ?? {})))).toEqual(goal);
    }),
    { seed: 1, numRuns: 2_000 },
  );
});

test('statusPatch() removes a key that a nested object has lost', () => {
  expect(statusPatch({ operation: { type: 'Deploy', target: 'x' } }, { operation: { type: 'Deploy' } })).toEqual({
    operation: { type: 'Deploy', target: null },
  });
});

test('statusPatch() treats an undefined key as absent', () => {
  expect(statusPatch({ conditions: [{ type: 'Ready' }] }, { conditions: [{ type: 'Ready', note: undefined }] })).toBe(
    undefined,
  );
});

test('statusPatch() names only the fields that differ', () => {
  expect(statusPatch({ a: 1, b: [1] }, { a: 1, b: [1, 2], c: null })).toEqual({ b: [1, 2] });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([name, inner]) => [name, sorted(inner)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
