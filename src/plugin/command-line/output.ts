import { dump } from 'js-yaml';
import { type Arguments, type Flag, UsageError } from './arguments.ts';

/** The flag of commands that print text for people, or this for programs. */
export const OUTPUT = {
  output: { type: 'string', short: 'o', about: 'json or yaml instead of text', values: ['json', 'yaml'] },
} as const satisfies Readonly<Record<string, Flag>>;

export type Output = 'text' | 'json' | 'yaml';

/** Called before anything is asked or done. Throws UsageError. */
export function outputOf(args: Arguments): Output {
  const wanted = args.text('output');
  if (wanted === undefined) return 'text';
  if (wanted === 'json' || wanted === 'yaml') return wanted;
  throw new UsageError(`--output cannot be "${wanted}": use json or yaml`);
}

/** Formats the value for programs; YAML leaves out undefined as JSON does. */
export function printed(output: 'json' | 'yaml', value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return output === 'json' ? `${json}\n` : dump(JSON.parse(json), { lineWidth: 120, noRefs: true });
}
