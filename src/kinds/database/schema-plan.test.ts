import { describe, expect, it } from 'vitest';
import { NOW_MS } from '../../../test/support/builders.ts';
import { FOUND, SOURCES } from '../../../test/support/database-builders.ts';
import { appliedAfter, hashOf, planSchema, schemaDigest } from './schema-plan.ts';

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

describe('schemaDigest()', () => {
  const TEXT = `define

attribute name, value string;

entity person @abstract,
  owns name @key,
  plays employment:employee;

relation employment,
  relates employee;

fun first($p: person) -> { name }:
  match $p has name $n;
  return { $n };
`;

  it.each([
    ['with other line breaks', TEXT.replaceAll(/\s+/g, ' ')],
    ['with its types in another order', TEXT.replace(/(attribute[^;]*;)\s*(entity[^;]*;)/, '$2\n$1')],
    [
      'with the clauses of a type in another order',
      TEXT.replace(/(owns name @key),\s*(plays employment:employee)/, '$2, $1'),
    ],
    ['without the word define', TEXT.replace('define', '')],
    ['without a comma before the first clause', TEXT.replace('attribute name, value', 'attribute name value')],
  ])('is the same for a schema %s', (_what, text) => {
    expect(text).not.toBe(TEXT);
    expect(schemaDigest(text)).toBe(schemaDigest(TEXT));
  });

  it.each([
    ['lacks a type', TEXT.replace(/relation[^;]*;/, '')],
    [
      'has a capability at another type',
      TEXT.replace(',\n  plays employment:employee', '').replace(
        'relates employee;',
        'relates employee, plays employment:employee;',
      ),
    ],
    ['has another annotation', TEXT.replace('@key', '@unique')],
    ['has a function of another body', TEXT.replace('return { $n }', 'return first $n')],
    ['has the statements of a function in another order', TEXT.replace(/(match[^;]*;)\s*(return[^;]*;)/, '$2 $1')],
  ])('differs for a schema that %s', (_what, text) => {
    expect(text).not.toBe(TEXT);
    expect(schemaDigest(text)).not.toBe(schemaDigest(TEXT));
  });

  it('is the same for an empty schema, however a server writes that', () => {
    expect(schemaDigest('define')).toBe(schemaDigest(''));
    expect(schemaDigest('define\n')).toBe(schemaDigest(' '));
  });
});
