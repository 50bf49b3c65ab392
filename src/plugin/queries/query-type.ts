import { ApiError } from '../../http/api-error.ts';

/** Types of transactions. Each may do what those before it may. */
export const TRANSACTION_TYPES = ['read', 'write', 'schema'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

const TEXTS_AND_COMMENTS = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|#.*/g;
const DEFINES = /^\s*(define|undefine|redefine)\b/;
const WRITES = /(^|;)\s*(insert|put|update|delete)\b/;

/** The type that the query's words ask for. It is a guess: only the server knows. */
export function typeNeeded(query: string): TransactionType {
  const bare = query.replace(TEXTS_AND_COMMENTS, (part) => (part.startsWith('#') ? '' : '""'));
  if (DEFINES.test(bare)) return 'schema';
  return WRITES.test(bare) ? 'write' : 'read';
}

/**
 * Adds advice to the refusal of a query that ran as a type too weak for its words. `instead`: how to run it as another
 * type.
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
