import { describe, expect, it } from 'vitest';
import { NOW_MS } from '../../../../test/support/builders.ts';
import { FOUND, SOURCES } from '../../../../test/support/database-builders.ts';
import { hashOf } from './schema-digest.ts';
import { appliedAfter, planSchema } from './schema-plan.ts';

const EARLIER = '2026-11-20T10:00:00.000Z';
const applied = SOURCES.map((source) => ({ ...source, appliedAt: EARLIER }));
const status = { appliedSchema: applied, schemaHash: FOUND };

describe('planSchema()', () => {
  it('runs nothing twice because its position changed, or because one before it was removed', () => {
    const [first, second] = SOURCES;
    if (first === undefined || second === undefined) throw new Error('Two sources are needed');
    const inserted = { source: 'inline/0', hash: hashOf('inserted') };
    const sources = [inserted, first, { ...second, source: 'inline/2' }];
    expect(planSchema(status, sources, FOUND)?.run).toEqual([0]);
    expect(planSchema(status, [{ ...second, source: 'inline/0' }], FOUND)).toBeUndefined();
    expect(planSchema(status, [second, first], FOUND)).toBeUndefined();
  });

  it('runs a text again that is there once more, after one that may undefine it', () => {
    const [define, undefine] = ['define entity person;', 'undefine person;'].map(hashOf);
    const inline = (...hashes: readonly (string | undefined)[]) =>
      hashes.map((hash = '', position) => ({ source: `inline/${position}`, hash }));
    const sources = inline(define, undefine, define);
    const runAfter = (...before: readonly (string | undefined)[]) =>
      planSchema({ ...status, appliedSchema: appliedAfter(undefined, inline(...before), [], NOW_MS) }, sources, FOUND);
    expect(runAfter(define, undefine)?.run).toEqual([2]);
    expect(runAfter(define)?.run).toEqual([1, 2]);
    expect(runAfter(define, undefine, define)).toBeUndefined();
  });

  it('treats a text as new if it moved to another ConfigMap or key', () => {
    const sources = [{ source: 'configmap/other/base', hash: hashOf('one') }];
    expect(planSchema(status, sources, FOUND)?.run).toEqual([0]);
  });

  it('gives the same try the same digest, and another try another digest', () => {
    const digest = (found: string, hash: string) =>
      planSchema(status, [{ source: 'inline/0', hash: hashOf(hash) }], found)?.digest;
    expect(digest(FOUND, 'new')).toBe(digest(FOUND, 'new'));
    expect(digest(FOUND, 'new')).not.toBe(digest(FOUND, 'newer'));
    expect(digest(FOUND, 'new')).not.toBe(digest('another schema', 'new'));
  });
});

describe('appliedAfter()', () => {
  it('keeps the time of what was not run', () => {
    const after = appliedAfter(applied, SOURCES, [1], NOW_MS);
    expect(after.map(({ appliedAt }) => appliedAt)).toEqual([EARLIER, '2026-11-20T12:00:00.000Z']);
  });
});
