import { tmpdir } from 'node:os';
import { Guard, type GuardedProcess } from '../../tools/control-plane/guard.ts';
import { lastLines } from '../../tools/control-plane/tail.ts';
import type { Operator } from './operator.ts';

const NAME = 'operator';

/** Another operator for the same resources, as a user of the benchmark starts it. */
export interface OtherCommand {
  /** For a shell. It stays in the foreground. */
  readonly command: string;
  /** Answers 200 when the operator is ready; undefined: it is ready when it is started. */
  readonly readyURL: string | undefined;
}

/** It, in a process of its own that ends with this one. */
export class OtherOperator implements Operator {
  readonly #guard: Guard;
  readonly #process: GuardedProcess;
  readonly #readyURL: string | undefined;
  #hasEnded = false;

  private constructor(guard: Guard, process: GuardedProcess, readyURL: string | undefined) {
    this.#guard = guard;
    this.#process = process;
    this.#readyURL = readyURL;
    void process.exited.then(() => {
      this.#hasEnded = true;
    });
  }

  /** `kubeconfig`: path, which it finds in the variable KUBECONFIG. */
  static async start({ command, readyURL }: OtherCommand, kubeconfig: string): Promise<OtherOperator> {
    const guard = new Guard(tmpdir());
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    // The shell gives way to it, so that what is measured is not the shell.
    const args = ['-c', `exec ${command}`];
    const started = await guard.start({ name: NAME, command: '/bin/sh', args, env, cwd: process.cwd() });
    return new OtherOperator(guard, started, readyURL);
  }

  get pid(): number {
    return this.#process.pid;
  }

  get lastWords(): readonly string[] {
    return lastLines(this.#process.log).split('\n');
  }

  mustRun(): void {
    if (this.#hasEnded) throw new Error(`The other operator ended:\n${this.lastWords.join('\n')}`);
  }

  async isReady(): Promise<boolean> {
    this.mustRun();
    if (this.#readyURL === undefined) return true;
    try {
      return (await fetch(this.#readyURL)).status === 200;
    } catch {
      return false;
    }
  }

  async metrics(): Promise<undefined> {
    this.mustRun();
  }

  watchEventLoop(): void {}

  async eventLoop(): Promise<undefined> {}

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!this.#hasEnded) {
      this.#guard.signal(NAME, signal);
      await this.#process.exited;
    }
    await this.#guard.stop();
  }
}
