/** What a subcommand gets of the process. */
export interface CommandIO {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Whether stdout is a terminal that a person looks at. */
  readonly isTerminal?: boolean;
  /** Rows of its window now; undefined: not known. */
  readonly rows?: () => number | undefined;
  /** Columns of it. */
  readonly columns?: () => number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborting ends the command. */
  readonly signal: AbortSignal;
}

/** Resolves to the exit code: 0 well, 1 failed, 2 called wrongly. */
export type Command = (argv: readonly string[], io: CommandIO) => Promise<number>;
