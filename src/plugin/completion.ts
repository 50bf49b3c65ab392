import { connectionIn } from './arguments.ts';

/** What completion needs to know of a command. */
export interface Completable {
  /** Flags without dashes; `file`: a path follows. */
  readonly flags: readonly string[];
  /** What its arguments are: objects of any kind, names of one kind, or nothing. */
  readonly takes: 'objects' | 'cluster' | 'space' | 'nothing';
}

export interface Sources {
  readonly commands: readonly string[];
  /** Undefined: there is no such command. */
  command(name: string): Promise<Completable | undefined>;
  /** Singular names of the kinds. */
  readonly kinds: readonly string[];
  /** Names of the objects of a kind, given by its singular name, for these flags; empty if the cluster does not say. */
  names(kind: string, connection: readonly string[]): Promise<readonly string[]>;
}

/** What can come next. `words`: everything after the program's name; the last may be incomplete or empty. */
export async function completionsOf(words: readonly string[], sources: Sources): Promise<readonly string[]> {
  const part = words.at(-1) ?? '';
  const beginning = (candidates: readonly string[]) => candidates.filter((each) => each.startsWith(part)).toSorted();
  const { flags, others, isOpen } = connectionIn(words.slice(0, -1));
  const names = (kind: string) => sources.names(kind, flags);
  if (isOpen) return [];
  if (others.length === 0) return beginning(sources.commands);
  const command = await sources.command(others[0] ?? '');
  if (command === undefined) return [];
  if (part.startsWith('-')) return beginning([...command.flags, 'help'].map((flag) => `--${flag}`));
  switch (command.takes) {
    case 'objects': {
      const slash = part.indexOf('/');
      if (slash < 0) return beginning(sources.kinds.map((kind) => `${kind}/`));
      const kind = part.slice(0, slash);
      return beginning((await names(kind)).map((name) => `${kind}/${name}`));
    }
    case 'cluster':
      return others.length === 1 ? beginning(await names('databasecluster')) : [];
    case 'space':
      return others.length === 1 ? beginning(await names('databasespace')) : [];
    case 'nothing':
      return [];
    default:
      return command.takes satisfies never;
  }
}

/** Scripts that ask the program itself. */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_mooring() {
  local IFS=$'\\n'
  COMPREPLY=($(mooring __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | grep -v '^:'))
}
complete -o nospace -o default -F _mooring mooring
`,
  zsh: `#compdef mooring
_mooring() {
  local -a found
  found=("\${(@f)$(mooring __complete "\${(@)words[2,$CURRENT]}" 2>/dev/null | grep -v '^:')}")
  compadd -- $found
}
compdef _mooring mooring
`,
  fish: `complete --command mooring --no-files --arguments '(mooring __complete (commandline --tokenize --cut-at-cursor --current-process)[2..] (commandline --current-token) 2>/dev/null | string match --invert ":*")'
`,
};
