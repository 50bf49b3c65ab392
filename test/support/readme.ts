import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ShellBlock {
  readonly commands: string;
  /** The comment before it, which says how it is tested: `in order`, `in the background`, or the file that runs it. */
  readonly test: string | undefined;
}

/** All blocks of shell commands in a document, in order. */
export function shellBlocks(document: string): readonly ShellBlock[] {
  const block = /(?:<!-- test: (?<test>.*?) -->\n\n)?```sh\n(?<commands>[\s\S]*?)\n```/g;
  return [...document.matchAll(block)].map(({ groups }) => ({
    commands: groups?.['commands'] ?? '',
    test: groups?.['test'],
  }));
}

export function readDocument(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}
