import { describe, expect, test } from 'vitest';
import { definitions } from '../../src/kinds/definitions.ts';
import { judge } from '../../tools/kstatus/kstatus.ts';
import { fixtures } from './fixtures.ts';
import { meanings } from './meanings.ts';

const BUILD_MS = 10 * 60_000;

describe('kstatus, by which Flux and Helm wait', () => {
  test('judges each fixture as Mooring means it', { timeout: BUILD_MS }, async () => {
    const all = await fixtures();
    const judged = await judge(
      all.map(({ object }) => object),
      { log: console.log },
    );
    const name = (index: number) => `${all[index]?.kind} ${all[index]?.name}`;
    expect(judged.map(({ status }, index) => `${name(index)}: ${status}`)).toEqual(
      all.map(({ kstatus }, index) => `${name(index)}: ${kstatus}`),
    );
  });

  test.each(definitions.map(({ kind }) => kind))('judges every documented reason of %s', async (kind) => {
    const expected = meanings(kind);
    const judged = await judge(expected.map(({ object }) => object));
    expect(judged.map(({ status }, index) => `${expected[index]?.reason}: ${status}`)).toEqual(
      expected.map(({ reason, kstatus }) => `${reason}: ${kstatus}`),
    );
  });
});
