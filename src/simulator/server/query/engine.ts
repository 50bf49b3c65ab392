import { Refusal } from '../../message.ts';
import type { Transaction } from '../state.ts';

export interface QueryOptions {
  readonly includeInstanceTypes: boolean;
  readonly answerCountLimit: number;
}

export type GivenRow = Readonly<Record<string, unknown>>;

/** Query response (Resources and their fields). */
export interface QueryResult {
  readonly queryType: 'read' | 'write' | 'schema';
  readonly answerType: 'ok' | 'conceptRows' | 'conceptDocuments';
  readonly answers: readonly unknown[] | undefined;
  /** Set when answers were cut. */
  readonly warning: string | undefined;
}

/** The query is not one the simulator understands; it did nothing. */
export class SyntaxRefusal extends Refusal {
  constructor(message: string) {
    super(400, 'syntax', message);
  }
}

export function runQuery(
  _transaction: Transaction,
  _query: string,
  _options: QueryOptions,
  _given: readonly GivenRow[],
): QueryResult {
  throw new SyntaxRefusal('The simulator does not understand this query yet');
}
