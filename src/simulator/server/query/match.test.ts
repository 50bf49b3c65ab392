import { describe, expect, it } from 'vitest';
import { company } from '../../../../test/support/query.ts';

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
