import { parseArgs } from 'node:util';
import { argumentMistake } from '../base/argument-mistake.ts';
import { helpRows, wrapped } from './help.ts';

/** The command was called wrongly: exit code 2, with this text. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** For --help: what it does; `…` where a value follows. */
  readonly about: string;
  readonly multiple?: boolean;
}

/** What every command that talks to a cluster takes, as kubectl does. */
export const CONNECTION_FLAGS = {
  kubeconfig: { type: 'string', about: 'kubeconfig file; otherwise KUBECONFIG, otherwise the default one' },
  context: { type: 'string', about: 'context of the kubeconfig; otherwise the current one' },
  namespace: { type: 'string', short: 'n', about: 'namespace; otherwise that of the context' },
} as const satisfies Readonly<Record<string, Flag>>;

export const ALL_NAMESPACES = {
  'all-namespaces': { type: 'boolean', short: 'A', about: 'all namespaces' },
} as const satisfies Readonly<Record<string, Flag>>;

/** `-n shop status` as `status -n shop`: the flags of a connection may stand before the command, as with kubectl. */
export function commandFirst(argv: readonly string[]): readonly string[] {
  const flags: readonly (readonly [string, Flag])[] = Object.entries(CONNECTION_FLAGS);
  const names = flags.flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
  let at = 0;
  for (let word = argv[at]; word !== undefined; word = argv[at]) {
    if (names.includes(word)) at += 2;
    else if (names.some((name) => (name.startsWith('--') ? word.startsWith(`${name}=`) : word.startsWith(name)))) at++;
    else break;
  }
  const [command, ...rest] = argv.slice(at);
  return command === undefined ? argv : [command, ...argv.slice(0, at), ...rest];
}

export interface Arguments {
  readonly words: readonly string[];
  text(flag: string): string | undefined;
  texts(flag: string): readonly string[];
  is(flag: string): boolean;
}

/** Throws UsageError for what is not a flag of the command. */
export function parseArguments(argv: readonly string[], flags: Readonly<Record<string, Flag>>): Arguments {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short === undefined ? {} : { short }) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
    const given = (flag: string) => values[flag];
    return {
      words: positionals,
      text: (flag) => {
        const value = given(flag);
        return typeof value === 'string' ? value : undefined;
      },
      texts: (flag) => {
        const value = given(flag);
        return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : [];
      },
      is: (flag) => given(flag) === true,
    };
  } catch (error) {
    throw new UsageError(argumentMistake(error, Object.keys(flags)));
  }
}

/** `--help`: the usage lines, then the flags. */
export function helpText(about: string, usage: readonly string[], flags: Readonly<Record<string, Flag>>): string {
  const rows = Object.entries(flags).map(([name, { type, short, about: what }]) => {
    const names = `${short === undefined ? '    ' : `-${short}, `}--${name}${type === 'string' ? ' …' : ''}`;
    return [names, what] as const;
  });
  const examples = usage.map((line) => `  ${line}`);
  return `${wrapped(about).join('\n')}\n\nUsage:\n${examples.join('\n')}\n\nFlags:\n${helpRows(rows)}\n`;
}
