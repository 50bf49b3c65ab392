import type { Transaction } from '../state.ts';
import { type AnswerForm, renderRow } from './answers.ts';
import { define, redefine, undefine } from './define.ts';
import { type GivenRow, startRows } from './given.ts';
import { parseQuery } from './parser.ts';
import { runStages } from './pipeline.ts';
import { impossible, SyntaxRefusal } from './refusal.ts';
import type { Schema } from './schema.ts';
import type { Query } from './syntax.ts';
import { rewind } from './workspace.ts';

export interface QueryOptions {
  readonly includeInstanceTypes: boolean;
  readonly answerCountLimit: number;
}

/** Query response (Resources and their fields). */
export interface QueryResult {
  readonly queryType: 'read' | 'write' | 'schema';
  readonly answerType: 'ok' | 'conceptRows' | 'conceptDocuments';
  readonly answers: readonly unknown[] | undefined;
  /** Set when answers were cut. */
  readonly warning: string | undefined;
}

/** Runs a query in a transaction. Throws SyntaxRefusal for what is not understood, and Refusal for what is not possible. */
export function runQuery(
  transaction: Transaction,
  text: string,
  options: QueryOptions & Pick<AnswerForm, 'nulls'>,
  given: readonly GivenRow[],
): QueryResult {
  const { workspace } = transaction;
  const { schema, changes } = workspace;
  const count = changes.length;
  try {
    const query = parseQuery(text);
    const queryType = typeOf(query);
    requireTransaction(transaction, queryType);
    if (query.kind === 'pipeline') return { queryType, ...runPipeline(transaction, query, options, given) };
    workspace.schema = changeSchema(schema, query);
    return { queryType, answerType: 'ok', answers: undefined, warning: undefined };
  } catch (error) {
    rewind(workspace, schema, count);
    // Parsing and matching recurse as deep as the query does.
    throw error instanceof RangeError ? new SyntaxRefusal('The query is nested too deeply') : error;
  }
}

function runPipeline(
  { database, workspace }: Transaction,
  query: Extract<Query, { kind: 'pipeline' }>,
  options: QueryOptions & Pick<AnswerForm, 'nulls'>,
  given: readonly GivenRow[],
): Omit<QueryResult, 'queryType'> {
  const rows = startRows(workspace.data, query.given, given);
  const flow = runStages(database, workspace, query.stages, { rows, columns: query.given, documents: undefined });
  const limit = options.answerCountLimit;
  const all = flow.documents ?? flow.rows;
  const warning = all.length > limit ? `Only the first ${limit} of ${all.length} answers are returned` : undefined;
  if (flow.documents !== undefined) {
    return { answerType: 'conceptDocuments', answers: flow.documents.slice(0, limit), warning };
  }
  const answers = flow.rows.slice(0, limit).map((row) => renderRow(workspace.schema, flow.columns, row, options));
  return { answerType: 'conceptRows', answers, warning };
}

function typeOf(query: Query): QueryResult['queryType'] {
  if (query.kind !== 'pipeline') return 'schema';
  const writes = query.stages.some(({ stage }) => stage === 'insert' || stage === 'update' || stage === 'delete');
  return writes ? 'write' : 'read';
}

function requireTransaction({ type }: Transaction, queryType: QueryResult['queryType']): void {
  if (queryType === 'schema' && type !== 'schema') throw impossible('A schema query needs a schema transaction');
  if (queryType === 'write' && type === 'read') throw impossible('A write query needs a write or schema transaction');
}

function changeSchema(schema: Schema, query: Exclude<Query, { kind: 'pipeline' }>): Schema {
  switch (query.kind) {
    case 'define':
      return define(schema, query.statements);
    case 'redefine':
      return redefine(schema, query.statements);
    case 'undefine':
      return undefine(schema, query.statements);
  }
}
