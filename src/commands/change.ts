import { systemClock } from '../base/clock.ts';
import { CHANGES, type Change, checkKind } from '../plugin/changes/change.ts';
import { makeChange } from '../plugin/changes/make-change.ts';
import { durationOf, UsageError } from '../plugin/command-line/arguments.ts';
import { parseTarget } from '../plugin/kinds.ts';
import type { Command } from './command.ts';
import { type OnCluster, onCluster } from './on-cluster.ts';

const DEFAULT_TIMEOUT = '15m';

/** `mooring rotate|suspend|resume|pause|unpause KIND/NAME`: makes the change, waits, and reports the outcome. */
export function change(name: string): Command {
  const wanted = CHANGES[name];
  if (wanted === undefined) throw new Error(`There is no change "${name}"`);
  return onCluster({
    name,
    about: wanted.about,
    usage: [wanted.kinds.map((kind) => `${kind.toLowerCase()}/NAME`).join(' | ')],
    takes: 'objects',
    kinds: wanted.kinds.map((kind) => kind.toLowerCase()),
    flags: {
      timeout: {
        type: 'string',
        about: `how long to wait for the outcome, such as 30s or 5m (default ${DEFAULT_TIMEOUT})`,
      },
      'no-wait': { type: 'boolean', about: 'do not wait for the outcome' },
    },
    parse(args) {
      const target = parseTarget(args.words);
      checkKind(name, wanted, target.definition);
      return { ...target, timeoutMs: timeoutOf(args.text('timeout') ?? DEFAULT_TIMEOUT) };
    },
    run: (on, asked) => run({ command: name, change: wanted, ...asked }, on),
  });
}

interface Asked extends ReturnType<typeof parseTarget> {
  readonly command: string;
  readonly change: Change;
  readonly timeoutMs: number;
}

async function run(asked: Asked, { api, namespace, reach, args, io, style }: OnCluster): Promise<number> {
  const { command, change, definition, name, timeoutMs } = asked;
  const ref = { namespace, name };
  const { code, text } = await makeChange(
    { name: command, change, definition, ref, wait: !args.is('no-wait'), timeoutMs },
    // The outcome alone is the answer: piped output has no progress in it.
    { api, clock: systemClock, reach, signal: io.signal, tell: (line) => io.stderr(`${line}\n`) },
  );
  if (code === 0) io.stdout(`${style.good('✓')} ${text}\n`);
  else io.stderr(`${style.bad('✗')} ${text}\n`);
  return code;
}

function timeoutOf(text: string): number {
  const ms = durationOf('timeout', text);
  if (ms === 0) throw new UsageError(`--timeout cannot be "${text}": use --no-wait so as not to wait`);
  return ms;
}
