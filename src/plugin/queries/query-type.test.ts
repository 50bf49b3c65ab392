import { expect, test } from 'vitest';
import { messageOf } from '../../base/errors.ts';
import { ApiError, type ApiErrorKind } from '../../http/api-error.ts';
import { typeNeeded, withTypeHelp } from './query-type.ts';

test.each([
  ['match $p isa person;', 'read'],
  ['insert $p isa person;', 'write'],
  ['match $p isa person;\n  delete $p;', 'write'],
  ['match $p isa person; update $p has name "x";', 'write'],
  ['  # people\nput $p isa person;', 'write'],
  ['define entity person;', 'schema'],
  ['\nundefine person;', 'schema'],
  ['redefine attribute name, value string;', 'schema'],
  ['match $p has note "; insert it";', 'read'],
  ["match $p has note 'it\\'s; delete';", 'read'],
  ['match $insert isa person; # ; insert', 'read'],
  ['', 'read'],
] as const)('typeNeeded(%j) is %s', (query, type) => {
  expect(typeNeeded(query)).toBe(type);
});

const refusal = (kind: ApiErrorKind) =>
  new ApiError({ api: 'server', operation: 'query', phrase: 'run a query', idempotent: false, kind, what: 'refused' });
const told = (kind: ApiErrorKind, query: string, type: 'read' | 'write' | 'schema') =>
  messageOf(withTypeHelp(refusal(kind), query, type, (needed) => `use --type=${needed}`));

test('withTypeHelp() says how to run what was refused as the wrong type', () => {
  expect(told('invalid', 'insert $p isa person;', 'read')).toBe(
    'Cannot run a query: refused\nIt was run as a read, and seems to be a write: use --type=write',
  );
  expect(told('invalid', 'define entity x;', 'write')).toMatch(/run as a write, .* schema: use --type=schema$/);
});

test('withTypeHelp() adds nothing if the type is not the problem', () => {
  expect(told('invalid', 'insert $p isa person;', 'schema')).toBe('Cannot run a query: refused');
  expect(told('invalid', 'match $p isa person;', 'read')).toBe('Cannot run a query: refused');
  expect(told('unavailable', 'insert $p isa person;', 'read')).toBe('Cannot run a query: refused');
  const other = new Error('lost');
  expect(withTypeHelp(other, 'insert $p isa person;', 'read', String)).toBe(other);
});
