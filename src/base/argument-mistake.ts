import { messageOf } from './errors.ts';
import { didYouMean } from './nearest.ts';

/** Says what a person got wrong, from an error of `parseArgs()`, and which flag was probably meant. `flags`: without dashes. */
export function argumentMistake(error: unknown, flags: readonly string[]): string {
  const [text = ''] = messageOf(error).split(/\. |\.?\n/);
  const [, unknown] = /^Unknown option '--(.+)'$/.exec(text) ?? [];
  const meant = unknown === undefined ? '' : didYouMean(unknown, flags, (name) => `--${name}`);
  return meant === '' ? text : `${text}.${meant}`;
}
