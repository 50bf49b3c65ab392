import { describe, expect, it } from 'vitest';
import { COMPANY, company, queryBench } from '../../../../test/support/query.ts';
import { renderSchema } from './schema-text.ts';

describe('define', () => {
  it('is shown as it was understood, and can be sent again without effect', () => {
    const { run, schema } = queryBench();
    run('schema', COMPANY);
    const text = schema();
    expect(text).toMatchInlineSnapshot(`
      "define

      attribute name,
        value string;

      attribute nickname,
        value string;

      attribute age,
        value integer;

      attribute weight,
        value double;

      attribute since,
        value datetime-tz;

      attribute born,
        value date;

      attribute active,
        value boolean;

      entity person,
        owns name @key,
        owns nickname @card(0..),
        owns age,
        owns weight,
        owns born,
        owns active,
        plays employment:employee;

      entity manager,
        sub person,
        plays employment:employer;

      relation employment,
        relates employee @card(1..),
        relates employer,
        owns since;
      "
    `);
    run('schema', text);
    expect(schema()).toBe(text);
  });

  it('extends existing types, with or without their kind', () => {
    const { run, schema } = queryBench();
    run('schema', 'define attribute name, value string; entity person;');
    run('schema', 'define person owns name;');
    run('schema', 'define entity person, owns name @key;');
    expect(schema()).toContain('entity person,\n  owns name @key;');
  });

  it('keeps functions as they are written, in the schema but not in the type schema', () => {
    const { database, run } = queryBench();
    const text = 'fun total($a: integer) -> integer:\n  match $p isa person;\n  return first $a;';
    run('schema', `define entity person; ${text}`);
    expect(renderSchema(database.committed.schema, 'all')).toContain(text);
    expect(renderSchema(database.committed.schema, 'types')).not.toContain('fun');
  });

  it('of nothing is allowed, and so is a schema without types', () => {
    const { run, schema } = queryBench();
    run('schema', 'define');
    expect(schema()).toBe('');
  });

  it.each([
    ['define entity person; relation person, relates x;', 'person is defined already, as entity'],
    ['define entity person, sub animal;', 'no such entity'],
    ['define entity a, sub b; entity b, sub a;', 'inherit from itself'],
    ['define entity person, owns name;', 'no such attribute'],
    ['define attribute name;', 'has no value type'],
    ['define attribute name, value text;', 'syntax: '],
    ['define entity person, value string;', 'only attributes have values'],
    ['define entity person, relates part;', 'only relations relate'],
    ['define relation marriage;', 'relates nothing'],
    ['define entity person, plays marriage:spouse;', 'no such role'],
    ['define relation marriage, relates spouse; entity person, plays marriage:guest;', 'no such role'],
    ['define attribute a, value string; attribute b, sub a, value integer;', 'a different value type'],
    ['define attribute a, value string, owns a;', 'can neither own nor play'],
    ['define person owns name;', 'Type person is not defined'],
    ['define entity person @key;', 'syntax: Annotation @key is not understood here'],
    ['define entity match;', 'syntax: match is a keyword'],
    [
      'define entity person',
      'syntax: Expected sub, value, owns, plays or relates but found the end at line 1, column 21',
    ],
    ['define entity person, owns;', 'syntax: Expected a name but found ";" at line 1, column 27'],
    ['define struct point;', 'syntax: '],
    ['define fun f(', 'syntax: '],
  ])('%s is refused', (query, message) => {
    const { refusal, schema } = queryBench();
    expect(refusal('schema', query)).toContain(message);
    expect(schema()).toBe('');
  });

  it.each([
    ['define attribute name, value integer;', 'redefine changes it'],
    ['define manager sub robot; entity robot;', 'redefine changes it'],
    ['define person owns nickname @card(0..3);', 'another @card already'],
    ['define entity employee; define entity x;', 'syntax: '],
  ])('%s is refused because of what exists', (query, message) => {
    expect(company().refusal('schema', query)).toContain(message);
  });
});

describe('redefine and undefine', () => {
  it('change existing definitions', () => {
    const { run, schema } = company();
    run('schema', 'redefine person owns nickname @card(0..5); attribute weight, value double;');
    run('write', 'match $p has age $a; delete has $a of $p;');
    run('schema', 'undefine owns age from person; age;');
    expect(schema()).toContain('owns nickname @card(0..5)');
    expect(schema()).not.toMatch(/\bage\b/);
  });

  it('also of functions', () => {
    const { run, schema, refusal } = queryBench();
    expect(refusal('schema', 'redefine fun f() -> integer: match $p isa x; return first 1;')).toContain('not defined');
    run('schema', 'define fun f() -> integer: match $p isa x; return first 1;');
    expect(refusal('schema', 'define fun f() -> integer: match $p isa x; return first 2;')).toContain('another way');
    run('schema', 'redefine fun f() -> integer: match $p isa x; return first 2;');
    expect(schema()).toContain('return first 2;');
    run('schema', 'undefine fun f;');
    expect(schema()).toBe('');
  });

  it.each([
    ['undefine person;', 'no such entity'],
    ['undefine name;', 'no such attribute'],
    ['undefine nothing;', 'Type nothing is not defined'],
    ['undefine owns age from employment;', 'Not defined: employment owns age'],
    ['undefine owns age from person;', 'manager does not own age'],
    ['undefine manager;', 'which is not defined'],
    ['redefine person owns since;', 'Not defined: person owns since'],
    ['redefine person sub manager;', 'sub of nothing'],
    ['redefine attribute age, value string;', 'There are values of age that are of type integer'],
    ['redefine person owns nickname @card(0..1);', 'has 2 of nickname, not 0 to 1'],
    ['redefine employment relates employee @card(2..);', 'has 1 of role employee, not 2 to any number'],
  ])('%s is refused, because the schema or the data need it', (query, message) => {
    const { refusal, schema } = company();
    const before = schema();
    expect(refusal('schema', query)).toContain(message);
    expect(schema()).toBe(before);
  });
});
