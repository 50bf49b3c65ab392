import { dump } from 'js-yaml';
import { type Arguments, type Flag, UsageError } from './arguments.ts';

/** The flag of commands that answer people with text, and programs with this. */
export const OUTPUT = {
  output: { type: 'string', short: 'o', about: 'json or yaml, instead of text for people' },
} as const satisfies Readonly<Record<string, Flag>>;

export type Output = 'text' | 'json' | 'yaml';

/** Before anything is asked or done. Throws UsageError. */
export function outputOf(args: Arguments): Output {
  const wanted = args.text('output');
  if (wanted === undefined) return 'text';
  if (wanted === 'json' || wanted === 'yaml') return wanted;
  throw new UsageError(`--output cannot be "${wanted}": use json or yaml`);
}

/** The value for programs; in YAML as in JSON, undefined is left out. */
export function printed(output: 'json' | 'yaml', value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return output === 'json' ? `${json}\n` : dump(JSON.parse(json), { lineWidth: 120, noRefs: true });
}
