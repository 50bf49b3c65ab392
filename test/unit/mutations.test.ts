import { expect, it } from 'vitest';
import { mutated } from '../sim/mutate.ts';
import { MUTATIONS } from '../sim/mutations.ts';

it('There are at least thirty mutations of the operator', () => {
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(30);
});

it.each(MUTATIONS)('mutation $name fits the source', (mutation) => {
  for (const [file, before, after] of mutation.changes) {
    expect(after).not.toBe(before);
    expect(mutated(mutation, file)).toContain(after);
  }
});
