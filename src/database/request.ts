import { z } from 'zod';

/* Requests to the Database Server HTTP API, checked against the document before they leave. */

/** A duration or a count; upper bounds are not documented. */
const amount = z.int().min(0);

export const loginSchema = z.strictObject({ username: z.string().min(1), password: z.string().min(1) });

export const passwordSchema = z.strictObject({ password: z.string().min(1) });

/** "Transaction options". */
const transactionOptionsSchema = z.strictObject({
  transactionTimeoutMillis: amount.optional(),
  schemaLockAcquireTimeoutMillis: amount.optional(),
});

/** "Query options". */
const queryOptionsSchema = z.strictObject({
  includeInstanceTypes: z.boolean().optional(),
  answerCountLimit: amount.optional(),
});

const transactionTypeSchema = z.enum(['read', 'write', 'schema']);

/** "Open transaction body". */
export const openTransactionSchema = z.strictObject({
  databaseName: z.string().min(1),
  transactionType: transactionTypeSchema,
  transactionOptions: transactionOptionsSchema.optional(),
});

/** "Given rows": an instance, a value, or a datetime with time zone as text. */
const givenSchema = z.union([
  z.string(),
  z.strictObject({
    kind: z.literal('value'),
    valueType: z.string().min(1),
    value: z.union([z.string(), z.number(), z.boolean(), z.bigint()]),
  }),
  z.strictObject({ kind: z.string().min(1), iid: z.string().regex(/^0x[0-9a-fA-F]+$/, 'must be hexadecimal') }),
]);

const givenRowsSchema = z.array(z.record(z.string().min(1), givenSchema));

/** "Query in transaction body", with the rows under the name that the server expects (compatibility.md). */
export const queryBodySchema = z.strictObject({
  query: z.string().min(1),
  queryOptions: queryOptionsSchema.optional(),
  given: givenRowsSchema.optional(),
  givenRows: givenRowsSchema.optional(),
});

/** "One-shot query body". The default of `commit` is not documented, so it is always sent. */
export const oneShotQuerySchema = z.strictObject({
  databaseName: z.string().min(1),
  transactionType: transactionTypeSchema,
  query: z.string().min(1),
  commit: z.boolean(),
  transactionOptions: transactionOptionsSchema.optional(),
  queryOptions: queryOptionsSchema.optional(),
});

export type Login = Readonly<z.input<typeof loginSchema>>;
export type TransactionType = z.output<typeof transactionTypeSchema>;
export type QueryOptions = Readonly<z.input<typeof queryOptionsSchema>>;
export type OpenTransactionRequest = Readonly<z.input<typeof openTransactionSchema>>;
export type OneShotQueryRequest = Readonly<z.input<typeof oneShotQuerySchema>>;
export type GivenValue = Readonly<z.input<typeof givenSchema>>;

export interface QueryRequest {
  readonly query: string;
  readonly queryOptions?: QueryOptions;
  /** One object per row, by variable name; the query declares the variables. */
  readonly given?: readonly Readonly<Record<string, GivenValue>>[];
  /** The document says `given`, the default; some servers ignore it and take `givenRows`. */
  readonly rowsField?: 'given' | 'givenRows';
}
