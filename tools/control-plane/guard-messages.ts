/** A command for the guard to run. Nothing from the guard's own environment is added. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Requests to the guard. A started process's output is appended to the file `log`. */
export type ToGuard =
  | ({ readonly type: 'start'; readonly name: string; readonly cwd: string; readonly log: string } & CommandLine)
  | { readonly type: 'signal'; readonly name: string; readonly signal: NodeJS.Signals }
  | ({ readonly type: 'atEnd' } & CommandLine)
  | { readonly type: 'stop' };

/** Reports of the guard. `failed`: the process could not be started at all. */
export type FromGuard =
  | { readonly type: 'started'; readonly name: string; readonly pid: number }
  | { readonly type: 'failed'; readonly name: string; readonly message: string }
  | {
      readonly type: 'exited';
      readonly name: string;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    };
