import { describe, expect, it } from 'vitest';
import { company } from '../../../../test/support/query.ts';

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

  it('accepts an integer where a double is expected', () => {
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
    ['match $p has name "Bob"; insert $p isa person;', '$p is already bound'],
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
