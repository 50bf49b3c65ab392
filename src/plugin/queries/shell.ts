import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { QueryAnswer } from '../../database/query-answer.ts';
import type { Session } from '../../database/session.ts';
import { ApiError } from '../../http/api-error.ts';
import { INTERRUPTED } from '../command-line/exit-code.ts';
import { answerText } from './answer.ts';
import { TRANSACTION_TYPES, type TransactionType, withTypeHelp } from './query-type.ts';

export const SHELL_HELP = `A query takes as many lines as it needs, and ends with an empty line, or with \\commit, \\rollback or \\quit.
  \\begin read|write|schema   opens a transaction, for all queries until it ends
  \\commit                    keeps what was changed in it
  \\rollback                  discards it
  \\database NAME             uses another database
  \\help                      shows this
  \\quit                      ends, and discards an open transaction
Outside a transaction each query has one of its own: a read, unless \\write or \\schema comes first; these are
committed.
`;

/** Right after a query these end it, as an empty line does: nobody would mean them as part of the query. */
const ENDS_QUERY = /^\\(commit|rollback|quit|q)\s*$/;

/** The answer to a line that was typed. */
export type Reply = { readonly text: string; readonly ended?: boolean; readonly failed?: boolean };

/** The part of a terminal's line editor that Ctrl-C needs. */
export interface Prompt {
  readonly line: string;
  write(data: null, key: { readonly ctrl: boolean; readonly name: string }): void;
  close(): void;
}

/**
 * Handles Ctrl-C as shells do: gives up a running query and discards what was typed; if there was neither, ends the shell.
 * Returns whether to ask for the next line now: after a query, its reply does that.
 */
export function interrupt(prompt: Prompt, shell: Pick<Shell, 'discard' | 'giveUp'>): boolean {
  const typed = prompt.line !== '';
  prompt.write(null, { ctrl: true, name: 'u' });
  if (shell.giveUp()) return false;
  if (shell.discard() || typed) return true;
  prompt.close();
  return false;
}

/** What Ctrl-Z needs: the terminal, and the processes that it stops. */
export interface Job {
  setRawMode(isRaw: boolean): void;
  stop(): void;
}

/** Long enough for a stop to begin. If there is no job control, nothing stops. */
const STOP_MS = 50;

/**
 * Handles Ctrl-Z, and calls `resume` once the job goes on. The line editor would stop only its own process, not one that waits for it, and
 * reads nothing more afterwards.
 */
export async function suspend(job: Job, clock: Clock, resume: () => void): Promise<void> {
  job.setRawMode(false);
  job.stop();
  await sleep(clock, STOP_MS);
  job.setRawMode(true);
  resume();
}

/** An interactive session on one server: lines in, texts out. */
export class Shell {
  readonly #session: Session;
  #database: string;
  #transaction: { readonly id: string; readonly type: TransactionType } | undefined;
  #lines: string[] = [];
  #running: AbortController | undefined;

  constructor(session: Session, database: string) {
    this.#session = session;
    this.#database = database;
  }

  /** The text before the next line. */
  get prompt(): string {
    const open = this.#transaction === undefined ? '' : ` (${this.#transaction.type})`;
    return this.#lines.length > 0 ? '... ' : `${this.#database}${open}> `;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Never throws: errors are in the reply. */
  async line(line: string, end: AbortSignal): Promise<Reply> {
    if (this.#lines.length > 0 && ENDS_QUERY.test(line)) {
      const query = await this.line('', end);
      // The command was typed before it was known that the query fails.
      if (query.failed) return { ...query, text: `${query.text}${line.trim()} was not done, as the query failed\n` };
      const reply = await this.line(line, end);
      return { ...reply, text: `${query.text}${reply.text}` };
    }
    const running = new AbortController();
    const signal = AbortSignal.any([end, running.signal]);
    this.#running = running;
    try {
      if (this.#lines.length === 0 && line.startsWith('\\')) return await this.#command(line, signal);
      if (line.trim() !== '') {
        this.#lines.push(line);
        return { text: '' };
      }
      const text = this.#lines.join('\n');
      this.#lines = [];
      return { text: text === '' ? '' : answerText(await this.#query(text, signal)) };
    } catch (error) {
      this.#lines = [];
      const left = signal.aborted ? `${this.#leftRunning(end.aborted)}\n` : '';
      return { text: `${messageOf(error)}\n${left}`, failed: true };
    } finally {
      this.#running = undefined;
    }
  }

  /** Stops waiting for the request that is running, for Ctrl-C. Reports whether there was one. */
  giveUp(): boolean {
    this.#running?.abort();
    return this.#running !== undefined;
  }

  #leftRunning(isEnd: boolean): string {
    const goesOn = 'The server may still be running it';
    return this.#transaction === undefined || isEnd ? `${goesOn}.` : `${goesOn}: \\rollback discards what it does.`;
  }

  /** Discards an unfinished query, for Ctrl-C. Reports whether there was one. */
  discard(): boolean {
    const had = this.#lines.length > 0;
    this.#lines = [];
    return had;
  }

  /** At the end of the input: runs what was typed last, and reports an open transaction as discarded. After `signal`, nothing is run. */
  async finish(signal: AbortSignal): Promise<Reply> {
    if (signal.aborted) this.discard();
    const last = await this.line('', signal);
    const open = this.#transaction;
    await this.end().catch(() => undefined);
    if (open === undefined || open.type === 'read') return last;
    const text = `${last.text}An open ${open.type} transaction was discarded: end it with \\commit to keep it\n`;
    return { text, failed: true };
  }

  /** Discards the open transaction. If it cannot be closed, it ends by itself, without its changes. */
  async end(signal?: AbortSignal): Promise<void> {
    const open = this.#transaction;
    this.#transaction = undefined;
    if (open !== undefined)
      await this.#session.use((client, token) => client.closeTransaction(token, open.id, signal), signal);
  }

  async #command(line: string, signal: AbortSignal): Promise<Reply> {
    const [name = '', ...words] = line.slice(1).trim().split(/\s+/);
    switch (name) {
      case 'begin':
        return this.#begin(words[0] ?? 'read', signal);
      case 'commit':
        return this.#finish('commit', signal);
      case 'rollback':
        return this.#finish('rollback', signal);
      case 'database':
        if (this.#transaction !== undefined)
          return { text: 'A transaction is open: \\commit or \\rollback first\n', failed: true };
        this.#database = words[0] ?? this.#database;
        return { text: '' };
      case 'write':
      case 'schema':
        if (words.length === 0) return { text: `Write the query after \\${name}, on the same line\n`, failed: true };
        // The change would be kept whatever happens to the transaction.
        if (this.#transaction !== undefined)
          return {
            text: `A transaction is open: leave \\${name} out, or \\commit or \\rollback first\n`,
            failed: true,
          };
        return { text: answerText(await this.#oneShot(line.slice(1).trim().slice(name.length).trim(), name, signal)) };
      case 'quit':
      case 'q':
        await this.end(signal).catch(() => undefined);
        return { text: '', ended: true };
      case 'help':
      case '?':
        return { text: SHELL_HELP };
      default:
        return { text: `There is no command "\\${name}": \\help lists the commands\n`, failed: true };
    }
  }

  async #begin(word: string, signal: AbortSignal): Promise<Reply> {
    const type = TRANSACTION_TYPES.find((each) => each === word);
    if (type === undefined)
      return { text: `There is no transaction type "${word}": use ${TRANSACTION_TYPES.join(', ')}\n`, failed: true };
    if (this.#transaction !== undefined)
      return { text: 'A transaction is open already: \\commit or \\rollback first\n', failed: true };
    const request = { databaseName: this.#database, transactionType: type };
    const opened = await this.#session.use((client, token) => client.openTransaction(token, request, signal), signal);
    this.#transaction = { id: opened.transactionId, type };
    return { text: '' };
  }

  async #finish(how: 'commit' | 'rollback', signal: AbortSignal): Promise<Reply> {
    const open = this.#transaction;
    if (open === undefined) return { text: 'No transaction is open: \\begin read, write or schema\n', failed: true };
    if (how === 'rollback') {
      await this.end(signal);
      return { text: 'Discarded.\n' };
    }
    if (open.type === 'read') {
      // There is nothing to keep, and servers refuse to commit it.
      await this.end(signal);
      return { text: 'Ended: nothing was changed in it.\n' };
    }
    this.#transaction = undefined;
    try {
      await this.#session.use((client, token) => client.commitTransaction(token, open.id, signal), signal);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.effectUnknown) throw error;
      throw new Error(`${error.message}\nIt is not known whether it was committed: check before you repeat it`, {
        cause: error,
      });
    }
    return { text: 'Committed.\n' };
  }

  async #query(query: string, signal: AbortSignal): Promise<QueryAnswer> {
    const open = this.#transaction;
    const asked =
      open === undefined
        ? this.#oneShot(query, 'read', signal)
        : this.#session.use((client, token) => client.query(token, open.id, { query }, signal), signal);
    return asked.catch((error: unknown) => {
      throw withTypeHelp(error, query, open?.type ?? 'read', (needed) =>
        open === undefined ? `write \\${needed} before it` : `\\rollback, then \\begin ${needed}`,
      );
    });
  }

  #oneShot(query: string, transactionType: TransactionType, signal: AbortSignal): Promise<QueryAnswer> {
    const commit = transactionType !== 'read';
    const request = { databaseName: this.#database, transactionType, query, commit };
    return this.#session.use((client, token) => client.oneShotQuery(token, request, signal), signal);
  }
}

export interface Talk {
  readonly stdout: (text: string) => void;
  /** Shows the prompt. */
  readonly ask: () => void;
  readonly isTerminal?: boolean;
  readonly signal: AbortSignal;
}

/** Reads lines until the input ends, the shell ends, or the signal aborts. Resolves to the exit code. */
export async function converse(shell: Shell, lines: AsyncIterable<string>, talk: Talk): Promise<number> {
  const { stdout, ask, isTerminal = false, signal } = talk;
  let hasFailed = false;
  const tell = ({ text, failed = false }: Reply) => {
    stdout(text);
    hasFailed ||= failed;
  };
  ask();
  for await (const line of lines) {
    const reply = await shell.line(line, signal);
    tell(reply);
    if (reply.ended || signal.aborted) break;
    ask();
  }
  tell(await shell.finish(signal));
  if (signal.aborted) return INTERRUPTED;
  // At a terminal a person has seen the failure; a script has not.
  return hasFailed && !isTerminal ? 1 : 0;
}
