import { describe, expect, it } from 'vitest';
import { company } from '../../../../test/support/query.ts';

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
