import { parseArgs } from 'node:util';
import { argumentMistake } from '../../base/argument-mistake.ts';
import { parseDuration } from '../../base/duration.ts';
import { helpRows, wrapped } from './help.ts';

/** The command was called wrongly: exit with code 2 and this text. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** For --help: what the flag does; `…` marks where a value follows. */
  readonly about: string;
  readonly multiple?: boolean;
  /** For completion: what its value can be, if that is known. */
  readonly values?: readonly string[] | 'files';
}

/** The flags of every command that talks to a cluster, as in kubectl. */
export const CONNECTION_FLAGS = {
  kubeconfig: {
    type: 'string',
    about: 'kubeconfig file (default: KUBECONFIG, or the usual file)',
    values: 'files',
  },
  context: { type: 'string', about: 'context of the kubeconfig (default: the current one)' },
  namespace: { type: 'string', short: 'n', about: 'namespace (default: that of the context)' },
  as: { type: 'string', about: 'user or service account to act as' },
  'as-group': { type: 'string', about: 'group that this user is in; may be repeated', multiple: true },
  'request-timeout': {
    type: 'string',
    about: 'how long the API server has for each answer, such as 10s (default 60s)',
  },
} as const satisfies Readonly<Record<string, Flag>>;

export const ALL_NAMESPACES = {
  'all-namespaces': { type: 'boolean', short: 'A', about: 'all namespaces' },
} as const satisfies Readonly<Record<string, Flag>>;

/** kubectl's other flags that say how to reach a cluster, and as whom. */
const KUBECTL_FLAGS = [
  ...['server', 'cluster', 'user', 'token', 'username', 'password', 'tls-server-name', 'insecure-skip-tls-verify'],
  ...['certificate-authority', 'client-certificate', 'client-key', 'as-uid', 'as-user-extra'],
];

/** What to do instead, if the text names a flag that only kubectl has; empty if it names none. */
export function insteadOf(text: string): string {
  const [, flag = ''] = /--([\w-]+)/.exec(text) ?? [];
  return KUBECTL_FLAGS.includes(flag) ? ` kubectl has --${flag}: here, write it into a context of a kubeconfig` : '';
}

/** Moves `-n shop status` to `status -n shop`: connection flags may come before the command, as with kubectl. */
export function commandFirst(argv: readonly string[]): readonly string[] {
  let at = 0;
  for (let count = connectionWords(argv, at); count > 0; count = connectionWords(argv, at)) at += count;
  const [command, ...rest] = argv.slice(at);
  return command === undefined ? argv : [command, ...argv.slice(0, at), ...rest];
}

/** Separates connection flags, anywhere among the words, from the other words. `isOpen`: the last flag lacks its value. */
export function connectionIn(argv: readonly string[]) {
  const flags: string[] = [];
  const others: string[] = [];
  let at = 0;
  while (at < argv.length) {
    const count = connectionWords(argv, at);
    (count > 0 ? flags : others).push(...argv.slice(at, at + Math.max(1, count)));
    at += Math.max(1, count);
  }
  return { flags, others, isOpen: at > argv.length };
}

const CONNECTION_NAMES = Object.entries<Flag>(CONNECTION_FLAGS).flatMap(([name, { short }]) => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
]);

/** How many words the connection flag at this position takes; 0: there is none. */
function connectionWords(argv: readonly string[], at: number): number {
  const word = argv[at];
  if (word === undefined) return 0;
  if (CONNECTION_NAMES.includes(word)) return 2;
  return CONNECTION_NAMES.some((name) => word.startsWith(name.startsWith('--') ? `${name}=` : name)) ? 1 : 0;
}

export interface Arguments {
  readonly words: readonly string[];
  text(flag: string): string | undefined;
  texts(flag: string): readonly string[];
  is(flag: string): boolean;
}

/** Throws UsageError for a flag that the command does not have. */
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
    const mistake = argumentMistake(error, Object.keys(flags));
    const instead = mistake.startsWith('Unknown option') ? insteadOf(mistake) : '';
    throw new UsageError(instead === '' ? mistake : `${mistake}.${instead}`);
  }
}

/** The milliseconds that a flag's value says. Throws UsageError. */
export function durationOf(flag: string, text: string): number {
  try {
    return parseDuration(text);
  } catch {
    throw new UsageError(`--${flag} cannot be "${text}": write it like 30s, 5m or 1h`);
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
