import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../message.ts';
import { createDatabaseState } from '../database-state.ts';
import type { Transaction, TransactionType } from '../state.ts';
import { commitWorkspace } from './commit.ts';
import { type QueryResult, runQuery } from './engine.ts';
import type { GivenRow } from './given.ts';
import { SyntaxRefusal } from './refusal.ts';
import { renderSchema } from './schema-text.ts';
import { openWorkspace } from './workspace.ts';

/** A database and one way to ask it: each query in a transaction of its own, committed. */
function bench() {
  const database = createDatabaseState('main');
  const run = (type: TransactionType, query: string, given: readonly GivenRow[] = [], limit = 10_000): QueryResult => {
    const workspace = openWorkspace(database.committed);
    const transaction: Transaction = { id: '1', type, database, username: 'admin', deadlineMs: 0, workspace };
    const options = { includeInstanceTypes: true, answerCountLimit: limit, nulls: false };
    const result = runQuery(transaction, query, options, given);
    if (type !== 'read') commitWorkspace(database, workspace);
    return result;
  };
  const schema = () => renderSchema(database.committed.schema, 'all');
  const refusal = (type: TransactionType, query: string): string => {
    try {
      run(type, query);
    } catch (error) {
      if (error instanceof Refusal) return `${error instanceof SyntaxRefusal ? 'syntax: ' : ''}${error.message}`;
      throw error;
    }
    return 'none';
  };
  return { database, run, schema, refusal };
}

const COMPANY = `
define
  # People and where they work.
  attribute name, value string;
  attribute nickname, value string;
  attribute age, value integer;
  attribute weight value double;
  attribute since, value datetime-tz;
  attribute born, value date;
  attribute active, value boolean;
  entity person, owns name @key, owns nickname @card(0..), owns age, owns weight, owns born, owns active,
    plays employment:employee;
  entity manager, sub person, plays employment:employer;
  relation employment, relates employee @card(1..), relates employer, owns since;
`;

function company() {
  const made = bench();
  made.run('schema', COMPANY);
  made.run(
    'write',
    `insert
      $eve isa manager, has name "Eve", has age 50, has nickname "E", has nickname "Evie";
      $bob isa person, has name 'Bob', has age 30, has weight 70;
      $tom isa person, has name "Tom", has born 1990-01-31, has active true;
      $e isa employment (employer: $eve, employee: $bob), has since 2024-02-29T10:00:00 Europe/London;
      $f isa employment, links (employer: $eve, employee: $tom);`,
  );
  /** The values of each answer, by variable; instances by the name they own. */
  const rows = (query: string, given: readonly GivenRow[] = []): unknown[] =>
    (made.run('read', query, given).answers ?? []).map((answer) => {
      const { data } = answer as { data: Record<string, { kind: string; value?: unknown; label?: string }> };
      return Object.fromEntries(
        Object.entries(data).map(([name, concept]) => [name, concept.value ?? concept.label ?? concept.kind]),
      );
    });
  return { ...made, rows };
}

describe('define', () => {
  it('is shown as it was understood, and can be sent again without effect', () => {
    const { run, schema } = bench();
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

  it('extends types that are there, with or without their kind', () => {
    const { run, schema } = bench();
    run('schema', 'define attribute name, value string; entity person;');
    run('schema', 'define person owns name;');
    run('schema', 'define entity person, owns name @key;');
    expect(schema()).toContain('entity person,\n  owns name @key;');
  });

  it('keeps functions as they are written, in the schema but not in the type schema', () => {
    const { database, run } = bench();
    const text = 'fun total($a: integer) -> integer:\n  match $p isa person;\n  return first $a;';
    run('schema', `define entity person; ${text}`);
    expect(renderSchema(database.committed.schema, 'all')).toContain(text);
    expect(renderSchema(database.committed.schema, 'types')).not.toContain('fun');
  });

  it('of nothing is allowed, and so is a schema without types', () => {
    const { run, schema } = bench();
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
    ['define attribute a, value string; attribute b, sub a, value integer;', 'another value type'],
    ['define attribute a, value string, owns a;', 'can neither own nor play'],
    ['define person owns name;', 'Type person is not defined'],
    ['define entity person @key;', 'syntax: Annotation @key is not understood here'],
    ['define entity match;', 'syntax: match is a word of the language'],
    [
      'define entity person',
      'syntax: Expected sub, value, owns, plays or relates but found the end at line 1, column 21',
    ],
    ['define entity person, owns;', 'syntax: Expected a name but found ";" at line 1, column 27'],
    ['define struct point;', 'syntax: '],
    ['define fun f(', 'syntax: '],
  ])('%s is refused', (query, message) => {
    const { refusal, schema } = bench();
    expect(refusal('schema', query)).toContain(message);
    expect(schema()).toBe('');
  });

  it.each([
    ['define attribute name, value integer;', 'redefine changes it'],
    ['define manager sub robot; entity robot;', 'redefine changes it'],
    ['define person owns nickname @card(0..3);', 'another @card already'],
    ['define entity employee; define entity x;', 'syntax: '],
  ])('%s is refused by what is there', (query, message) => {
    expect(company().refusal('schema', query)).toContain(message);
  });
});

describe('redefine and undefine', () => {
  it('change what is there', () => {
    const { run, schema } = company();
    run('schema', 'redefine person owns nickname @card(0..5); attribute weight, value double;');
    run('write', 'match $p has age $a; delete has $a of $p;');
    run('schema', 'undefine owns age from person; age;');
    expect(schema()).toContain('owns nickname @card(0..5)');
    expect(schema()).not.toMatch(/\bage\b/);
  });

  it('also of functions', () => {
    const { run, schema, refusal } = bench();
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

describe('match', () => {
  it.each([
    ['match $p isa person, has name $n; select $n;', [{ n: 'Eve' }, { n: 'Bob' }, { n: 'Tom' }]],
    ['match $p isa manager, has name $n; select $n;', [{ n: 'Eve' }]],
    ['match $p isa person, has name "Bob", has age $a; select $a;', [{ a: 30 }]],
    ['match $p isa person, has age > 40, has name $n; select $n;', [{ n: 'Eve' }]],
    ['match $p has age $a; $a <= 30; select $a;', [{ a: 30 }]],
    ['match $p has age $a; let $b = $a * 2 - 1; select $b;', [{ b: 99 }, { b: 59 }]],
    ['match $p has weight $w; let $half = $w / 2; select $half;', [{ half: 35 }]],
    ['match $p has born 1990-01-31, has name $n; select $n;', [{ n: 'Tom' }]],
    ['match $p has active true, has name $n; select $n;', [{ n: 'Tom' }]],
    ['match $p isa person, has name $n; not { $p has age $a; }; select $n;', [{ n: 'Tom' }]],
    [
      'match $p isa person, has name $n; { $p has age 50; } or { $p has active true; }; select $n;',
      [{ n: 'Eve' }, { n: 'Tom' }],
    ],
    ['match $p has nickname $x; select $x;', [{ x: 'E' }, { x: 'Evie' }]],
    ['match $x isa nickname;', [{ x: 'E' }, { x: 'Evie' }]],
    [
      'match $e isa employment (employee: $p), has since $s; $p has name $n; select $n, $s;',
      [{ n: 'Bob', s: '2024-02-29T10:00:00 Europe/London' }],
    ],
    [
      'match $e links (employer: $x, employee: $y); $x has name "Eve"; $y has name $n; select $n;',
      [{ n: 'Bob' }, { n: 'Tom' }],
    ],
    ['match $e isa employment, links ($x, $y); $x has name "Bob"; $y has name $n; select $n;', [{ n: 'Eve' }]],
    ['match $p isa $t; $p has name "Eve"; select $t;', [{ t: 'manager' }, { t: 'person' }]],
    ['match entity $t;', [{ t: 'person' }, { t: 'manager' }]],
    [
      'match relation $t, relates $r;',
      [
        { t: 'employment', r: 'employment:employee' },
        { t: 'employment', r: 'employment:employer' },
      ],
    ],
    ['match attribute $a; $a label age;', [{ a: 'age' }]],
    ['match $t sub person;', [{ t: 'person' }, { t: 'manager' }]],
    ['match $t owns since;', [{ t: 'employment' }]],
    ['match $t plays employment:employer;', [{ t: 'manager' }]],
    ['match manager plays $r;', [{ r: 'employment:employer' }, { r: 'employment:employee' }]],
    [
      'match $p isa person; $p has name $n; $_ isa employment, links (employee: $p); select $n;',
      [{ n: 'Bob' }, { n: 'Tom' }],
    ],
    ['match $p has name $n; sort $n desc; offset 1; limit 1; select $n;', [{ n: 'Eve' }]],
    ['match $e links (employer: $p); $p has name $n; select $n; distinct;', [{ n: 'Eve' }]],
    ['match $p isa person; reduce $c = count;', [{ c: 3 }]],
    [
      'match $p has age $a; reduce $s = sum($a), $m = mean($a), $l = min($a), $h = max($a);',
      [{ s: 80, m: 40, l: 30, h: 50 }],
    ],
    ['match $p isa person; try { $p has age $a; }; reduce $c = count($a);', [{ c: 2 }]],
    [
      'match $e links (employer: $m, employee: $p); $m has name $n; reduce $c = count groupby $n;',
      [{ n: 'Eve', c: 2 }],
    ],
    ['match $p isa person, has age 99; reduce $c = count, $m = max($p);', [{ c: 0 }]],
    ['match $x isa nickname; $x != "E"; select $x;', [{ x: 'Evie' }]],
  ])('%s', (query, expected) => {
    expect(company().rows(query)).toEqual(expected);
  });

  it('finds an instance by its iid', () => {
    const { rows } = company();
    expect(rows('match $p iid 0x0000000000000002, has name $n; select $n;')).toEqual([{ n: 'Bob' }]);
    expect(rows('match $p iid 0xff;')).toEqual([]);
  });

  it('shows concepts in the shapes of the document', () => {
    const { run } = company();
    const answers = run(
      'read',
      'match $e isa employment, has since $s; $e isa $t; $t relates $r; let $v = 1; limit 1;',
    );
    expect(answers).toEqual({
      queryType: 'read',
      answerType: 'conceptRows',
      warning: undefined,
      answers: [
        {
          data: {
            e: {
              kind: 'relation',
              iid: '0x0000000000000004',
              type: { kind: 'relationType', label: 'employment' },
            },
            s: {
              kind: 'attribute',
              value: '2024-02-29T10:00:00 Europe/London',
              valueType: 'datetime-tz',
              type: { kind: 'attributeType', label: 'since', valueType: 'datetime-tz' },
            },
            t: { kind: 'relationType', label: 'employment' },
            r: { kind: 'roleType', label: 'employment:employee' },
            v: { kind: 'value', value: 1, valueType: 'integer' },
          },
        },
      ],
    });
  });

  it.each([
    ['match $p isa nothing;', 'Type nothing is not defined'],
    ['match $p has nothing "x";', 'Type nothing is not defined'],
    ['match $p isa person; $x > 3;', 'nothing binds it'],
    ['match $p isa person; $p > 3;', '$p has no value'],
    ['match $p has age $a; let $b = $a / 0;', 'Division by zero'],
    ['match $p has name $n; let $b = $n + 1;', 'takes numbers'],
    ['match $p isa person; select $q;', '$q is not a variable'],
    ['match $p isa person; sort $q;', '$q is not a variable'],
    ['match $p has name $n; reduce $s = sum($n);', 'sum takes numbers'],
    ['match', 'syntax: Expected a statement'],
    ['match $p isa person', 'syntax: Expected ";"'],
    ['match $p isa person; reduce $c = median($p);', 'syntax: Reducer median'],
    ['match $p isa person; put $p has name "x";', 'syntax: Expected a stage'],
    ['match $p isa! person;', 'syntax: Cannot read "! person;" at line 1, column 13'],
    ['match $p isa person; fetch { "x": $p.name }; limit 1;', 'syntax: Nothing can follow fetch'],
    ['', 'syntax: '],
  ])('%s is refused', (query, message) => {
    expect(company().refusal('read', query)).toContain(message);
  });
});

describe('fetch', () => {
  it.each([
    [
      'match $p isa person, has name $n; sort $n; fetch { "name": $n };',
      [{ name: 'Bob' }, { name: 'Eve' }, { name: 'Tom' }],
    ],
    [
      'match $p has name "Bob"; fetch { "age": $p.age, "nick": $p.nickname, "all": { $p.* } };',
      [{ age: 30, nick: null, all: { name: 'Bob', age: 30, weight: 70 } }],
    ],
    [
      'match $p has name "Eve"; fetch { "nicks": [ $p.nickname ], "deep": { "double": 2 * 3 } };',
      [{ nicks: ['E', 'Evie'], deep: { double: 6 } }],
    ],
    [
      'match $p isa manager; fetch { "staff": [ match $e links (employer: $p, employee: $q); $q has name $n; fetch { "name": $n }; ] };',
      [{ staff: [{ name: 'Bob' }, { name: 'Tom' }] }],
    ],
    [
      'match $p has name "Eve"; $p isa $t; $t label manager; fetch { "type": $t };',
      [{ type: { kind: 'entityType', label: 'manager' } }],
    ],
    ['match $p has name "Tom"; try { $p has age $a; }; fetch { "age": $a };', [{ age: null }]],
  ])('%s', (query, expected) => {
    expect(company().run('read', query)).toMatchObject({ answerType: 'conceptDocuments', answers: expected });
  });

  it.each([
    ['match $p has name "Eve"; fetch { "nick": $p.nickname };', 'fetch them as a list'],
    ['match $p isa person; fetch { "p": $p };', '$p has no value'],
    ['match $p isa person; fetch { "x": $p.nothing };', 'Type nothing is not defined'],
    ['match $p isa person; fetch { name: $p.name };', 'syntax: Expected a key in quotes'],
  ])('%s is refused', (query, message) => {
    expect(company().refusal('read', query)).toContain(message);
  });
});

describe('writing', () => {
  it('inserts, for each answer of a match', () => {
    const { run, rows } = company();
    const result = run('write', 'match $p isa person; not { $p has age $a; }; insert $p has age 1;');
    expect(result).toMatchObject({ queryType: 'write', answerType: 'conceptRows' });
    expect(rows('match $p has age $a; select $a;')).toEqual([{ a: 50 }, { a: 30 }, { a: 1 }]);
  });

  it('deletes instances, their places in relations, and relations without players', () => {
    const { run, rows } = company();
    run('schema', 'redefine employment relates employee @card(0..);');
    run('write', 'match $p has name "Bob"; delete $p;');
    expect(rows('match $e isa employment; reduce $c = count;')).toEqual([{ c: 2 }]);
    run('write', 'match $p has name "Eve"; delete $p;');
    expect(rows('match $e isa employment; reduce $c = count;')).toEqual([{ c: 1 }]);
    run('write', 'match $p has name "Tom"; delete $p;');
    expect(rows('match $e isa employment; reduce $c = count;')).toEqual([{ c: 0 }]);
  });

  it('deletes attributes from their owners', () => {
    const { run, rows } = company();
    run('write', 'match $p has nickname $n; delete has $n of $p;');
    expect(rows('match $p has nickname $n;')).toEqual([]);
  });

  it('replaces what is updated', () => {
    const { run, rows } = company();
    run('write', 'match $p has name "Bob"; update $p has age 31, has nickname "B";');
    expect(rows('match $p has name "Bob", has age $a, has nickname $n; select $a, $n;')).toEqual([{ a: 31, n: 'B' }]);
  });

  it('takes an integer where a double is wanted', () => {
    expect(company().rows('match $p has weight $w; select $w;')).toEqual([{ w: 70 }]);
  });

  it.each([
    ['insert $p isa person;', 'has 0 of name, not 1 to 1'],
    ['insert $p isa person, has name "Eve";', 'name "Eve" is not unique'],
    ['insert $p isa person, has name 3;', 'name takes values of type string, not integer'],
    ['insert $p isa person, has since 2024-01-01T00:00:00Z;', 'person does not own since'],
    ['insert $e isa employment;', 'has 0 of role employee'],
    ['insert $e isa employment, has name "x";', 'employment does not own name'],
    ['match $p has name "Bob"; insert $e isa employment (employer: $p);', 'person does not play employment:employer'],
    ['match $p has name "Bob"; insert $e isa employment (owner: $p);', 'employment does not relate owner'],
    ['match $p has name "Bob"; insert $p isa person;', '$p stands for something already'],
    ['match $p has name "Bob"; insert $p has age 1, has age 2;', 'has 3 of age'],
    ['insert $n isa name "x";', 'syntax: '],
    ['insert $n isa name;', 'syntax: Attributes are inserted with has'],
    ['match $p isa $t; insert $q isa $t;', 'syntax: insert takes isa with the name'],
    ['insert $p isa person, has name > "x";', 'syntax: has takes a value here'],
    ['match $e isa employment; $p has name "Bob"; insert $e links (employee: $p);', 'syntax: Players can only'],
    ['match $p has name $n; delete has $p of $p;', '$p is not an attribute'],
    ['match $p has name $n; delete $n;', '$n is not an entity'],
    ['match $p has name $n; update $p isa manager;', 'syntax: update takes has'],
    ['insert not { $p isa person; };', 'syntax: insert takes isa, has and links'],
  ])('%s is refused', (query, message) => {
    const { refusal, database } = company();
    const before = database.committed;
    expect(refusal('write', query)).toContain(message);
    expect(database.committed).toBe(before);
  });
});

describe('given rows', () => {
  it('start the pipeline', () => {
    const { run, rows } = company();
    run('write', 'given $n, $a: integer; insert $p isa person, has name == $n, has age $a;', [
      { n: { kind: 'value', valueType: 'string', value: 'Ann' }, a: { kind: 'value', valueType: 'integer', value: 7 } },
      { n: { kind: 'value', valueType: 'string', value: 'Bea' }, a: { kind: 'value', valueType: 'integer', value: 8 } },
    ]);
    expect(rows('match $p has age < 10, has name $n; select $n;')).toEqual([{ n: 'Ann' }, { n: 'Bea' }]);
  });

  it('refer to instances, and to times with a time zone as plain text', () => {
    const { rows } = company();
    expect(
      rows('given $p, $s; match $e links (employee: $p), has since == $s; $p has name $n; select $n;', [
        { p: { kind: 'entity', iid: '0x0000000000000002' }, s: '2024-02-29T10:00:00 Europe/London' },
      ]),
    ).toEqual([{ n: 'Bob' }]);
  });

  it.each([
    ['given $n; match $p has name $n;', [], 'no rows are given'],
    ['match $p isa person;', [{ n: 1 }], 'does not declare'],
    ['given $n; match $p isa person;', [{ m: 1 }], 'does not declare $m'],
    ['given $n; match $p isa person;', [{}], 'neither a value nor an instance'],
    ['given $n; match $p isa person;', [{ n: { kind: 'entity', iid: '0xff' } }], 'neither a value nor an instance'],
    ['given $n; match $p isa person;', [{ n: { kind: 'value', valueType: 'text', value: 'x' } }], 'is not a value'],
    ['given $n; match $p isa person;', [{ n: 'just text' }], 'neither a value nor an instance'],
  ])('%s with %j is refused', (query, given, message) => {
    expect(() => company().run('read', query, given)).toThrow(message);
  });
});

describe('answers', () => {
  it('are cut at the limit with a warning, and all changes are made', () => {
    const { run, rows } = company();
    const result = run('write', 'match $p isa person; insert $p has nickname "N";', [], 2);
    expect(result.answers).toHaveLength(2);
    expect(result.warning).toContain('first 2 of 3');
    expect(rows('match $p has nickname "N"; reduce $c = count;')).toEqual([{ c: 3 }]);
  });
});

describe('any text', () => {
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
    fc.assert(
      fc.property(text, fc.constantFrom('read', 'write', 'schema' as const), (query, type) => {
        expect(company().refusal(type, query)).toEqual(expect.any(String));
      }),
      { numRuns: 300 },
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
        const [first, second] = [bench(), bench()];
        first.run('schema', ['define', ...lines, `${['entity thing', ...owns].join(', ')};`].join('\n'));
        second.run('schema', first.schema());
        expect(second.schema()).toBe(first.schema());
      }),
    );
  });
});
