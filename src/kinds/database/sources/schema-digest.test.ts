import { describe, expect, it } from 'vitest';
import { schemaDigest } from './schema-digest.ts';

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
    [
      'has the parts of a text in another order',
      'define entity a, plays c:d, owns b @values("x owns y; z");',
      'define entity a, plays c:d, owns b @values("z; x owns y");',
    ],
    ['has a function of another body', TEXT.replace('return { $n }', 'return first $n')],
    [
      'has the last statements of two functions exchanged',
      `${TEXT}fun second($p: person) -> { name }:\n  match $p has name $m;\n  return { $m };\n`,
      `${TEXT.replace('{ $n }', '{ $m }')}fun second($p: person) -> { name }:\n  match $p has name $m;\n  return { $n };\n`,
    ],
    ['has the statements of a function in another order', TEXT.replace(/(match[^;]*;)\s*(return[^;]*;)/, '$2 $1')],
  ])('differs for a schema that %s', (_what, text, other = TEXT) => {
    expect(text).not.toBe(other);
    expect(schemaDigest(text)).not.toBe(schemaDigest(other));
  });

  it.each([' ', '\t', '; ', ', owns ', ' \\" '])('differs for a schema that has %j once more in a text', (mark) => {
    const withRegex = (text: string) => schemaDigest(`define attribute code, value string @regex("a${text}b");`);
    expect(withRegex(mark)).not.toBe(withRegex(`${mark} `));
  });

  it('is what it was before texts were told apart', () => {
    const text = 'define attribute a, value string @regex("^[a-z]+$"); attribute b, value string @values("x y", "z");';
    expect(schemaDigest(text)).toBe('fe4863e2a7a95a090ab7517fc807a83531dd47a766b1c3110dbf1b8ced3f3ecd');
  });

  it('is the same for an empty schema, however a server writes that', () => {
    expect(schemaDigest('define')).toBe(schemaDigest(''));
    expect(schemaDigest('define\n')).toBe(schemaDigest(' '));
  });
});
