import { tmpdir } from 'node:os';
import { Guard, type GuardedProcess } from '../../tools/control-plane/guard.ts';
import { lastLines } from '../../tools/control-plane/tail.ts';
import type { Operator } from './operator.ts';

const NAME = 'operator';

/** How to start another operator for the same resources. */
export interface OtherCommand {
  /** A shell command. It must stay in the foreground. */
  readonly command: string;
  /** A URL that answers 200 when the operator is ready; undefined: it is ready as soon as it is started. */
  readonly readyURL: string | undefined;
}

/** The other operator, in a process that ends with this one. */
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

  /** `kubeconfig`: a path, which the operator gets in the variable KUBECONFIG. */
  static async start({ command, readyURL }: OtherCommand, kubeconfig: string): Promise<OtherOperator> {
    const guard = new Guard(tmpdir());
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    // The command replaces the shell, so that the shell is not measured.
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
