import { messageOf } from './errors.ts';

/** What of a text js-yaml repeats: the name of an alias, a tag, or a tag's handle. */
const REPEATED = /".*"|!<.*>|: .*/s;

/**
 * Returns why a text is no YAML, as js-yaml says it, and in which line, counted from 0. Undefined: the error is about something else.
 * What it repeats of the text is left out: a password that begins with `*` or `!` reads as an alias or a tag.
 */
export function yamlProblem(error: unknown): { readonly reason: string; readonly line: number } | undefined {
  // The package may be loaded twice, as one of two kinds of module, so its class does not tell.
  if (!(error instanceof Error) || error.name !== 'YAMLException') return undefined;
  const { reason = '', mark } = error as { readonly reason?: string; readonly mark?: { readonly line: number } };
  return { reason: reason.replace(REPEATED, '…'), line: mark?.line ?? 0 };
}

/** The same in words, or those of any other error. `before`: how many lines come before the text. */
export function yamlProblemWords(error: unknown, before = 0): string {
  const problem = yamlProblem(error);
  return problem === undefined ? messageOf(error) : `${problem.reason} (line ${before + problem.line + 1})`;
}
