import { TransientError } from '../../../base/errors.ts';
import type { ServerClient } from '../../../database/client.ts';
import type { QueryAnswer } from '../../../database/query-answer.ts';
import { ApiError, isRefused } from '../../../http/api-error.ts';
import { existsByGet } from '../exists.ts';
import type { Work } from '../work.ts';
import type { SourceText } from './read-sources.ts';

/** How long the server waits for the schema lock before it refuses. Then the call is repeated with growing pauses. */
const LOCK_WAIT_MS = 10_000;
/** How long a transaction holds the lock if this process, or the answer that named it, is lost. */
const TRANSACTION_MS = 180_000;
const MAX_CLOSE_ATTEMPTS = 3;

/** The objection to a source, or the server's to committing all of them. */
export interface Objection {
  readonly source: string;
  readonly message: string;
}

/**
 * Runs the texts in order in one schema transaction, then commits or closes it. After the first refusal it is always closed, so that
 * nothing is kept. Throws TransientError SchemaLocked, SchemaTimedOut or TransactionEnded, and ApiError.
 */
export async function runInTransaction(
  work: Work,
  texts: readonly SourceText[],
  end: 'commit' | 'close',
): Promise<Objection | undefined> {
  const { world, access, signal } = work;
  const id = await open(work);
  const overAt = world.clock.monotonic() + TRANSACTION_MS;
  let mayBeOpen = true;
  try {
    for (const { source, text } of texts) {
      // Many slow answers, each within its own limit, would hold the worker for as long as the server likes.
      if (world.clock.monotonic() >= overAt) throw timedOut(source, `The transaction took ${TRANSACTION_MS / 1000} s`);
      const objection = await objectionTo(source, async () => {
        const query = (client: ServerClient, token: string) => client.query(token, id, { query: text }, signal);
        return objectionToType(await world.servers.asAdmin(access, query, signal));
      });
      if (objection !== undefined) return objection;
    }
    if (end === 'close') return undefined;
    const committed = world.servers
      .asAdmin(access, (client, token) => client.commitTransaction(token, id, signal), signal)
      .then(() => undefined, unknownIfOver);
    const objection = await objectionTo('all of them together, at the commit', () => committed);
    mayBeOpen = objection !== undefined;
    return objection;
  } finally {
    // If the answer to a commit was lost, its outcome is unknown: closing does no harm then either.
    if (mayBeOpen) await close(work, id);
  }
}

async function open(work: Work): Promise<string> {
  const { world, access, name, signal } = work;
  const request = {
    databaseName: name,
    transactionType: 'schema',
    transactionOptions: { schemaLockAcquireTimeoutMillis: LOCK_WAIT_MS, transactionTimeoutMillis: TRANSACTION_MS },
  } as const;
  try {
    const { transactionId } = await world.servers.asAdmin(
      access,
      (client, token) => client.openTransaction(token, request, signal),
      signal,
    );
    return transactionId;
  } catch (error) {
    if (!isRefused(error) && !hasTimedOut(error)) throw error;
    // Servers give the same answer if the database does not exist.
    if (!(await existsByGet(work))) throw error;
    const message = `The schema lock of database "${name}" seems to be held by another transaction: Mooring waited for it, and tries again. A transaction of its own that was cut short ends within ${TRANSACTION_MS / 60_000} minutes. If this persists, end what else changes the schema. ${error.message}`;
    throw new TransientError('SchemaLocked', message, { cause: error });
  }
}

/** What a server answers if the lock is not free in time is not documented. */
function hasTimedOut(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 408;
}

/** A transaction that is gone counts as closed. One that cannot be closed ends by itself: only time is lost. */
async function close({ world: { servers }, access }: Work, id: string): Promise<void> {
  for (let attempt = 1; attempt <= MAX_CLOSE_ATTEMPTS; attempt++) {
    try {
      await servers.asAdmin(access, (client, token) => client.closeTransaction(token, id));
      return;
    } catch {
      // The error that led here matters more, and is reported.
    }
  }
}

function timedOut(source: string, why: string, cause?: ApiError): TransientError {
  const message = `Schema source ${source} ran out of time, and nothing of it was kept: Mooring tries again. ${why}`;
  return new TransientError('SchemaTimedOut', message, { cause });
}

/**
 * If a query timed out, or its transaction is gone, nothing of it is kept. A commit may have been carried out all the same: a proxy that
 * lost the answer may have asked again, and been told that the transaction is gone.
 */
function unknownIfOver(error: unknown): never {
  if (!(error instanceof ApiError) || (error.status !== 408 && error.kind !== 'notFound')) throw error;
  const [reason, what] =
    error.status === 408 ? ['SchemaTimedOut', 'ran out of time'] : ['TransactionEnded', 'found its transaction ended'];
  const message = `The commit of the schema ${what}, and may or may not have taken effect: Mooring checks, and tries again if necessary. ${error.message}`;
  throw new TransientError(reason, message, { cause: error });
}

/**
 * A server runs any query in a schema transaction. Sources are run again when the schema was changed elsewhere, among others, and would
 * then write their data once more.
 */
function objectionToType({ queryType }: QueryAnswer): string | undefined {
  if (queryType !== 'write' && queryType !== 'read') return undefined;
  return `This is a ${queryType} query. A source may be run again at any time, so it must be a schema query (define, undefine or redefine): run this one yourself`;
}

/** Returns what the call objects to, or the server to the call, if anything; throws other failures. */
async function objectionTo(source: string, call: () => Promise<string | undefined>): Promise<Objection | undefined> {
  try {
    const message = await call();
    return message === undefined ? undefined : { source, message };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 408) throw timedOut(source, error.message, error);
    if (error.kind === 'notFound') {
      const message = `The schema transaction ended too early, and nothing of it was kept: Mooring tries again. ${error.message}`;
      throw new TransientError('TransactionEnded', message, { cause: error });
    }
    if (error.kind !== 'invalid') throw error;
    return { source, message: error.serverMessage ?? error.message };
  }
}
