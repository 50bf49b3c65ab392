import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandLine, FromGuard, ToGuard } from './guard-messages.ts';

export interface GuardedCommand extends CommandLine {
  readonly name: string;
  readonly cwd?: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that ends with this one. `exited` never rejects. `log` is the file with all its output. */
export interface GuardedProcess {
  readonly pid: number;
  readonly log: string;
  readonly exited: Promise<Exit>;
}

interface Entry {
  readonly log: string;
  readonly started: PromiseWithResolvers<GuardedProcess>;
  readonly exited: PromiseWithResolvers<Exit>;
  pid: number | undefined;
}

/**
 * Runs processes that never outlive this one, and owns a folder (mode 0700) that is removed with them: see guard-process.ts.
 * It keeps this process alive until `stop`.
 */
export class Guard {
  readonly directory: string;
  readonly #process: ChildProcess;
  readonly #entries = new Map<string, Entry>();
  readonly #ended: Promise<unknown>;

  /** Makes the folder inside `parent` and starts the guard. */
  constructor(parent: string) {
    this.directory = mkdtempSync(join(parent, 'mooring-'));
    const { NODE_OPTIONS: _, ...env } = process.env;
    this.#process = spawn(
      process.execPath,
      [fileURLToPath(new URL('guard-process.ts', import.meta.url)), this.directory],
      { cwd: this.directory, env, detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
    );
    this.#process.on('message', (message: FromGuard) => this.#hear(message));
    this.#process.on('error', () => this.#lost());
    this.#process.on('exit', () => this.#lost());
    this.#ended = once(this.#process, 'exit');
    this.#ended.catch(() => {});
  }

  /** The ids of the running processes by name, including the guard's own. */
  pids(): Readonly<Record<string, number>> {
    const own = this.#process.exitCode === null && this.#process.signalCode === null ? this.#process.pid : undefined;
    const all = [['guard', own] as const, ...[...this.#entries].map(([name, { pid }]) => [name, pid] as const)];
    return Object.fromEntries(all.flatMap(([name, pid]) => (pid === undefined ? [] : [[name, pid]])));
  }

  /** Starts a command; none may be running under this name. Rejects if it cannot be started. */
  start({ name, command, args, env, cwd }: GuardedCommand): Promise<GuardedProcess> {
    const log = join(this.directory, `${name}.log`);
    const entry: Entry = { log, started: Promise.withResolvers(), exited: Promise.withResolvers(), pid: undefined };
    this.#entries.set(name, entry);
    this.#tell({ type: 'start', name, command, args, env, cwd: cwd ?? this.directory, log });
    return entry.started.promise;
  }

  /** Sends a signal to the process and all its children. Does nothing if it is not running. */
  signal(name: string, signal: NodeJS.Signals): void {
    this.#tell({ type: 'signal', name, signal });
  }

  /** Leaves a command to run at the end, even after a crash. */
  atEnd(line: CommandLine): void {
    this.#tell({ type: 'atEnd', ...line });
  }

  /** Ends all processes and removes the folder; resolves when that is done. May be called again. */
  async stop(): Promise<void> {
    this.#tell({ type: 'stop' });
    await this.#ended.catch(() => {});
  }

  #tell(message: ToGuard): void {
    // The callback swallows the error if the guard has just ended; its exit is handled elsewhere.
    if (this.#process.connected) this.#process.send(message, () => {});
    else if (message.type === 'start') this.#lost();
  }

  #hear(message: FromGuard): void {
    const entry = this.#entries.get(message.name);
    if (!entry) return;
    if (message.type === 'started') {
      entry.pid = message.pid;
      entry.started.resolve({ pid: message.pid, log: entry.log, exited: entry.exited.promise });
    } else if (message.type === 'failed') {
      entry.started.reject(new Error(`Cannot start ${message.name}: ${message.message}`));
    } else {
      entry.pid = undefined;
      entry.exited.resolve({ code: message.code, signal: message.signal });
    }
  }

  /** The guard is gone. If it was killed, its work is done here. */
  #lost(): void {
    for (const [name, entry] of this.#entries) {
      if (entry.pid !== undefined) killGroup(entry.pid);
      entry.pid = undefined;
      entry.started.reject(new Error(`Cannot start ${name}: its guard process has ended`));
      entry.started.promise.catch(() => {});
      entry.exited.resolve({ code: null, signal: 'SIGKILL' });
    }
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
