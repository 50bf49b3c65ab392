import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { company, queryBench } from '../../../../test/support/query.ts';

describe('answers', () => {
  it('are cut at the limit with a warning, and all changes are made', () => {
    const { run, rows } = company();
    const result = run('write', 'match $p isa person; insert $p has nickname "N";', [], 2);
    expect(result.answers).toHaveLength(2);
    expect(result.warning).toContain('first 2 of 3');
    expect(rows('match $p has nickname "N"; reduce $c = count;')).toEqual([{ c: 3 }]);
  });
});

describe('any text', { timeout: 30_000 }, () => {
  const words = fc.constantFrom(
    ...['match', 'insert', 'define', 'fetch', 'select', '$p', '$x', 'isa', 'has', 'person', 'name', '"x"', '1', '-'],
    ...['entity', 'relation', 'owns', '@card', '(', ')', '{', '}', '[', ']', ';', ',', ':', '==', '.', '..', '*', '_'],
    ...['not', 'or', 'try', 'let', 'reduce', 'count', 'given', 'delete', 'of', 'update', 'fun', 'return', '2024-01-01'],
  );

  it('is understood or refused, and nothing else', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words, { maxLength: 30 }).map((all) => all.join(' ')),
    );
    const { refusal } = company();
    fc.assert(
      fc.property(text, fc.constantFrom('read', 'write', 'schema' as const), (query, type) => {
        expect(refusal(type, query)).toEqual(expect.any(String));
      }),
      { numRuns: 100 },
    );
  });

  it('is refused when it is nested too deeply', () => {
    const { refusal } = company();
    expect(refusal('read', `match $x > ${'('.repeat(100_000)}`)).toContain('nested too deeply');
    expect(refusal('read', `match ${'not {'.repeat(100_000)}`)).toContain('nested too deeply');
  });
});

describe('the schema text', () => {
  const name = fc
    .stringMatching(/^[a-z][a-z0-9-]{0,5}$/)
    .filter((label) => !/^(of|or|not|try|let|fun|from|has|iid|isa)$/.test(label));
  const attribute = fc.record({
    label: name,
    valueType: fc.constantFrom('string', 'integer', 'double', 'datetime-tz'),
  });

  it('is a fixed point: defining it gives the same text', () => {
    const schemas = fc.record({
      attributes: fc.uniqueArray(attribute, { minLength: 1, maxLength: 5, selector: ({ label }) => `a-${label}` }),
      owners: fc.array(fc.constantFrom('', ' @key', ' @unique', ' @card(1..3)', ' @card(0..)'), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(schemas, ({ attributes, owners }) => {
        const lines = attributes.map(({ label, valueType }) => `attribute a-${label}, value ${valueType};`);
        const owns = owners.flatMap((annotation, index) => {
          const owned = attributes[index];
          return owned === undefined ? [] : [`owns a-${owned.label}${annotation}`];
        });
        const [first, second] = [queryBench(), queryBench()];
        first.run('schema', ['define', ...lines, `${['entity thing', ...owns].join(', ')};`].join('\n'));
        second.run('schema', first.schema());
        expect(second.schema()).toBe(first.schema());
      }),
    );
  });
});
