import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../tools/control-plane/run.ts';
import { waitUntil } from './control-plane.ts';

const MOORING = fileURLToPath(new URL('../../bin/mooring', import.meta.url));

/** `bin/mooring` as a process with its own temporary folder, so that everything it leaves behind is found. */
export class MooringProcess {
  readonly child: ChildProcess;
  readonly #folder = mkdtempSync(join(tmpdir(), 'run-'));
  readonly #exited: Promise<unknown>;
  #output = '';

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { MOORING_TEST_KUBECONFIG: _, ...outer } = process.env;
    this.child = spawn(process.execPath, [MOORING, ...args], {
      env: { ...outer, TMPDIR: this.#folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    this.#exited = once(this.child, 'close');
  }

  /** Everything it has printed so far, to both streams. */
  get output(): string {
    return this.#output;
  }

  /** The exit code once it ends; null if a signal ended it. */
  async exit(): Promise<number | null> {
    await this.#exited;
    return this.child.exitCode;
  }

  /** Resolves when its output contains this text. */
  async prints(text: string, timeoutMs = 60_000): Promise<void> {
    const ended = () => this.child.exitCode !== null || this.child.signalCode !== null;
    await waitUntil(
      () => {
        if (this.#output.includes(text)) return true;
        if (ended()) throw new Error(`It ended before it printed "${text}":\n${this.#output}`);
        return false;
      },
      { what: `it prints "${text}"`, timeoutMs },
    );
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Command lines of processes that run in its temporary folder, and files left in that folder. */
  async leftovers(): Promise<readonly string[]> {
    const { stdout } = await run('ps', ['-A', '-ww', '-o', 'args=']);
    const processes = stdout.split('\n').filter((line) => line.includes(this.#folder));
    return [...processes, ...readdirSync(this.#folder)];
  }

  /** Ends it if it is still running, and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGTERM');
    await this.#exited;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
