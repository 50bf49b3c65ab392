import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Written to its standard input, which is otherwise empty. */
  readonly input?: string;
  /** After this time it is killed and counts as failed. Default: no limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface RunResult {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. Rejects only if it cannot be started or `signal` aborts; otherwise look at `code`. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { env = process.env, cwd, input = '', timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      ...(cwd === undefined ? {} : { cwd }),
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' as const }),
      ...(signal === undefined ? {} : { signal }),
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    child.stdin.on('error', () => {}); // It may end without reading all of it.
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? undefined, ...output }));
  });
}

/** The path of an executable in the folders of `path` (formatted like the variable PATH). */
export function findOnPath(name: string, path: string | undefined): string | undefined {
  return (path ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
