import { CONNECTION_FLAGS, connectionIn, type Flag } from './arguments.ts';

/** What completion needs to know of a command. */
export interface Completable {
  readonly flags: Readonly<Record<string, Flag>>;
  /** What its arguments are: objects, names of one kind, or nothing. */
  readonly takes: 'objects' | 'cluster' | 'space' | 'nothing';
  /** Singular names of the kinds that such an object may have; undefined: all. */
  readonly kinds?: readonly string[] | undefined;
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

/** What can come next: words, or the name of a file. `words`: everything after the program's name; the last may be incomplete or empty. */
export async function completionsOf(words: readonly string[], sources: Sources): Promise<readonly string[] | 'files'> {
  const part = words.at(-1) ?? '';
  const beginning = (candidates: readonly string[]) => candidates.filter((each) => each.startsWith(part)).toSorted();
  const valuesOf = (values: Flag['values'] = []) => (values === 'files' ? values : beginning(values));
  const { flags, others, isOpen } = connectionIn(words.slice(0, -1));
  const names = (kind: string) => sources.names(kind, flags);
  if (isOpen) return valuesOf(openFlag(words, CONNECTION_FLAGS)?.values);
  if (others.length === 0) return beginning(sources.commands);
  const command = await sources.command(others[0] ?? '');
  if (command === undefined) return [];
  const open = openFlag(words, command.flags);
  if (open !== undefined) return valuesOf(open.values);
  if (part.startsWith('-')) return beginning([...Object.keys(command.flags), 'help'].map((flag) => `--${flag}`));
  switch (command.takes) {
    case 'objects': {
      const slash = part.indexOf('/');
      if (slash < 0) return beginning((command.kinds ?? sources.kinds).map((kind) => `${kind}/`));
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

/** The flag right before the last word, if that word is its value. */
function openFlag(words: readonly string[], flags: Readonly<Record<string, Flag>>): Flag | undefined {
  const before = words.at(-2);
  return Object.entries(flags).find(
    ([name, { type, short }]) =>
      type === 'string' && (before === `--${name}` || (short !== undefined && before === `-${short}`)),
  )?.[1];
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
