import { describe, expect, it } from 'vitest';
import { company } from '../../../../test/support/query.ts';

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
    ['given $n; match $p isa person;', [{}], 'neither a value nor an existing instance'],
    [
      'given $n; match $p isa person;',
      [{ n: { kind: 'entity', iid: '0xff' } }],
      'neither a value nor an existing instance',
    ],
    ['given $n; match $p isa person;', [{ n: { kind: 'value', valueType: 'text', value: 'x' } }], 'is not a value'],
    ['given $n; match $p isa person;', [{ n: 'just text' }], 'neither a value nor an existing instance'],
  ])('%s with %j is refused', (query, given, message) => {
    expect(() => company().run('read', query, given)).toThrow(message);
  });
});
