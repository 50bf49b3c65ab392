import { readFileSync } from 'node:fs';

/** The last lines of a log, indented for a message; says so if there are none. */
export function lastLines(log: string, count = 12): string {
  const lines = readText(log).trimEnd().split('\n').slice(-count);
  return lines.map((line) => `  ${line === '' ? '(it wrote nothing)' : line}`).join('\n');
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
