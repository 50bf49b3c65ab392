import { Refusal } from '../../src/simulator/exchange/message.ts';
import { createDatabaseState } from '../../src/simulator/server/database-state.ts';
import { commitWorkspace } from '../../src/simulator/server/query/commit.ts';
import { type QueryResult, runQuery } from '../../src/simulator/server/query/engine.ts';
import type { GivenRow } from '../../src/simulator/server/query/given.ts';
import { SyntaxRefusal } from '../../src/simulator/server/query/refusal.ts';
import { renderSchema } from '../../src/simulator/server/query/schema-text.ts';
import { openWorkspace } from '../../src/simulator/server/query/workspace.ts';
import type { Transaction, TransactionType } from '../../src/simulator/server/state.ts';

/** A database and one way to query it: each query in its own transaction, which is committed. */
export function queryBench() {
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

export const COMPANY = `
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

export function company() {
  const made = queryBench();
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
