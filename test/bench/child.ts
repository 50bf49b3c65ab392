import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const BOOTSTRAP = fileURLToPath(new URL('../../tools/bootstrap.mjs', import.meta.url));
const KEPT_LINES = 20;
const START_TIMEOUT_MS = 30_000;

/** What to run. */
export interface Program {
  /** The name for messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Returns a program that runs a file of the project. */
export function script(file: string, args: readonly string[]): Program {
  return { name: file, command: process.execPath, args: [BOOTSTRAP, file, ...args] };
}

/** A program in a process of its own. */
export class Child {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #exited: Promise<unknown>;
  readonly #lastLines: string[] = [];

  private constructor({ name, command, args, env = process.env }: Program) {
    this.#name = name;
    // When the channel closes, the process knows that this one is gone (tools/bootstrap.mjs, pod-login.mjs).
    this.#process = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#process.channel?.unref();
    this.#exited = once(this.#process, 'exit');
  }

  /** Resolves with the first result of `ready` for a line of output. */
  static async start<T>(
    program: Program,
    ready: (line: string) => T | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly child: Child; readonly value: T }> {
    const child = new Child(program);
    try {
      return { child, value: await child.#firstLine(ready, signal) };
    } catch (error) {
      await child.end('SIGKILL');
      throw error;
    }
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error(`${this.#name} has not started`);
    return pid;
  }

  /** Throws if it has ended, with the last lines that it wrote. */
  mustRun(): void {
    const { exitCode, signalCode } = this.#process;
    if (exitCode === null && signalCode === null) return;
    throw new Error(`${this.#name} ended (${signalCode ?? exitCode}): ${this.#lastLines.join('\n')}`);
  }

  /** The last lines that it wrote. */
  get lastWords(): readonly string[] {
    return this.#lastLines;
  }

  /** Sends a message to the modules loaded before the program, and does not wait. */
  say(message: string): void {
    this.mustRun();
    this.#process.send(message);
  }

  /** The same, and resolves with the answer. One question at a time. Throws if the process ends first. */
  async ask(message: string): Promise<unknown> {
    this.say(message);
    const ended = this.#exited.then(() => this.mustRun());
    const [answer] = (await Promise.race([once(this.#process, 'message'), ended])) ?? [];
    return answer;
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    this.#process.kill(signal);
    await this.#exited;
  }

  #firstLine<T>(ready: (line: string) => T | undefined, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${this.#name} ${why}: ${this.#lastLines.join('\n')}`));
      const timer = setTimeout(() => fail('did not start in time'), START_TIMEOUT_MS);
      signal.addEventListener('abort', () => fail('was ended'), { once: true });
      this.#process.once('error', (error) => fail(error.message));
      this.#process.once('exit', (code) => fail(`ended (${code})`));
      for (const stream of [this.#process.stdout, this.#process.stderr]) {
        if (stream === null) continue;
        createInterface({ input: stream }).on('line', (line) => {
          this.#lastLines.push(line);
          if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift();
          const value = ready(line);
          if (value === undefined) return;
          clearTimeout(timer);
          resolve(value);
        });
      }
    });
  }
}

/** Parses a line of JSON that holds an object; undefined: it does not. */
export function jsonLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
