/** What a subcommand gets from the process. */
export interface CommandIO {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Whether stdout is a terminal that a person looks at. */
  readonly isTerminal?: boolean;
  /** The rows of its window now; undefined: unknown. */
  readonly rows?: () => number | undefined;
  /** Its columns. */
  readonly columns?: () => number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborting ends the command. */
  readonly signal: AbortSignal;
}

/** Resolves to the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export type Command = (argv: readonly string[], io: CommandIO) => Promise<number>;

/** The subcommands by name. */
export type CommandTable = Readonly<Record<string, CommandEntry>>;

interface CommandEntry {
  /** Absent: not for people. */
  readonly about?: string;
  readonly load: () => Promise<Command>;
}
