import { ApiError } from '../base/api-error.ts';

/** Types of transactions, each of which may do what those before it may. */
export const TRANSACTION_TYPES = ['read', 'write', 'schema'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

const TEXTS_AND_COMMENTS = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|#.*/g;
const DEFINES = /^\s*(define|undefine|redefine)\b/;
const WRITES = /(^|;)\s*(insert|put|update|delete)\b/;

/** What the query's own words ask for: to guess by, as only the server knows. */
export function typeNeeded(query: string): TransactionType {
  const bare = query.replace(TEXTS_AND_COMMENTS, (part) => (part.startsWith('#') ? '' : '""'));
  if (DEFINES.test(bare)) return 'schema';
  return WRITES.test(bare) ? 'write' : 'read';
}

/**
 * The refusal of a query, with what to do where it was run as a type that does not do what its words ask for. `instead`:
 * how to have it run as another type.
 */
export function withTypeHelp(
  error: unknown,
  query: string,
  type: TransactionType,
  instead: (type: TransactionType) => string,
): unknown {
  if (!(error instanceof ApiError) || error.kind !== 'invalid') return error;
  const needed = typeNeeded(query);
  if (TRANSACTION_TYPES.indexOf(needed) <= TRANSACTION_TYPES.indexOf(type)) return error;
  const help = `It was run as a ${type}, and seems to be a ${needed === 'schema' ? 'change of the schema' : needed}: ${instead(needed)}`;
  return new Error(`${error.message}\n${help}`, { cause: error });
}
