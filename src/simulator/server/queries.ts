import { addsFields } from '../cloud/render.ts';
import { type Answer, type Incoming, json, Refusal, type Reply } from '../exchange/message.ts';
import { readBody } from '../exchange/shape.ts';
import { type QueryOptions, type QueryResult, runQuery } from './query/engine.ts';
import type { GivenRow } from './query/given.ts';
import { SyntaxRefusal } from './query/refusal.ts';
import { TRANSACTION_TYPES, type Transaction } from './state.ts';
import { acquire, end, expireTransactions, keep, TRANSACTION_OPTIONS, transactionOf } from './transactions.ts';
import type { ServerWorld } from './world.ts';

/** Query options: "Default true", "Default 10 000". */
const DEFAULT_OPTIONS: QueryOptions = { includeInstanceTypes: true, answerCountLimit: 10_000 };

const QUERY_OPTIONS = {
  includeInstanceTypes: { type: 'boolean', required: false },
  answerCountLimit: { type: 'integer', required: false, min: 0 },
} as const;

const QUERY_SHAPE = {
  query: { type: 'string', required: true },
  queryOptions: { type: 'object', required: false, fields: QUERY_OPTIONS },
  given: { type: 'objects', required: false },
} as const;

/** In the field, the rows are called `givenRows`, and `given` is ignored (compatibility.md). */
const FIELD_QUERY_SHAPE = { ...QUERY_SHAPE, givenRows: { type: 'objects', required: false } } as const;

/** Not documented for the one-shot query, so `given` is not supported there. */
const ONE_SHOT_SHAPE = {
  databaseName: { type: 'string', required: true },
  transactionType: { type: 'string', required: true, oneOf: TRANSACTION_TYPES },
  query: { type: 'string', required: true },
  commit: { type: 'boolean', required: false },
  transactionOptions: { type: 'object', required: false, fields: TRANSACTION_OPTIONS },
  queryOptions: { type: 'object', required: false, fields: QUERY_OPTIONS },
} as const;

export function queryInTransaction(
  server: ServerWorld,
  caller: string,
  id: string,
  request: Incoming,
  now: number,
): Reply {
  const { givenField } = server.world.dialect;
  const wanted: {
    query: string;
    queryOptions?: Partial<QueryOptions>;
    given?: readonly GivenRow[];
    givenRows?: readonly GivenRow[];
  } =
    givenField === 'given'
      ? readBody(request.body, request.headers, QUERY_SHAPE)
      : readBody(request.body, request.headers, FIELD_QUERY_SHAPE);
  const transaction = transactionOf(server, caller, id);
  const options = { ...DEFAULT_OPTIONS, ...wanted.queryOptions };
  return run(server, transaction, wanted.query, options, wanted[givenField] ?? [], now, () => undefined);
}

/** "opens a temporary transaction for the single query and then commits or closes it" (States and transitions). */
export function oneShotQuery(server: ServerWorld, request: Incoming, now: number): Reply {
  const wanted = readBody(request.body, request.headers, ONE_SHOT_SHAPE);
  const options = { ...DEFAULT_OPTIONS, ...wanted.queryOptions };
  return acquire(server, request, wanted, now, (transaction, at) =>
    run(server, transaction, wanted.query, options, [], at, (failed) => {
      const commits = wanted.commit ?? server.world.dialect.commitDefault;
      if (commits && !failed && transaction.type !== 'read') keep(server, transaction);
      else end(server.state, transaction);
    }),
  );
}

/** Runs for as long as the knob says. If the transaction ends in that time, the query gets a 408 (Errors). */
function run(
  server: ServerWorld,
  transaction: Transaction,
  query: string,
  options: QueryOptions,
  given: readonly GivenRow[],
  now: number,
  after: (failed: boolean) => void,
): Reply {
  const execute = (at: number): Answer => {
    expireTransactions(server.state, at);
    if (!server.state.transactions.has(transaction.id)) {
      throw new Refusal(408, 'queryTimeout', 'The transaction ended before the query did');
    }
    try {
      const nulls = server.world.dialect.absentKeys === 'null';
      const result = runQuery(transaction, query, { ...options, nulls }, given);
      after(false);
      return render(server, result);
    } catch (error) {
      if (error instanceof Refusal) {
        if (closesOn(server, transaction, error)) end(server.state, transaction);
        after(true);
      }
      throw error;
    }
  };
  const endsMs = now + server.world.knobs.queryMs;
  if (endsMs === now) return execute(now);
  return { untilMs: Math.min(endsMs, transaction.deadlineMs), resume: execute };
}

/** "A failed write or schema query closes its transaction, a syntax error does not" (compatibility.md). */
function closesOn({ world }: ServerWorld, transaction: Transaction, error: Refusal): boolean {
  return world.dialect.failedChange === 'closes' && transaction.type !== 'read' && !(error instanceof SyntaxRefusal);
}

function render(server: ServerWorld, { queryType, answerType, answers, warning }: QueryResult): Answer {
  const { dialect } = server.world;
  const nulls = dialect.absentKeys === 'null';
  return json(warning === undefined ? 200 : dialect.cutAnswersStatus, {
    queryType,
    answerType,
    ...(answers !== undefined ? { answers } : nulls ? { answers: null } : {}),
    warning: warning ?? null,
    ...(addsFields(server.world) ? { comment: null, query: null } : {}),
  });
}
