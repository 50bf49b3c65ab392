import { readFileSync } from 'node:fs';

/** What gc.mjs adds the process to. */
export const gcFiles = (folder: string) => `${folder}/gc`;

/** How long each pause of the process's garbage collector took that began at this time or later. Both in milliseconds. */
export function gcPauses(folder: string, pid: number, sinceMs: number): readonly number[] {
  return pausesIn(readFileSync(`${gcFiles(folder)}-${pid}`, 'utf8'), sinceMs);
}

export function pausesIn(text: string, sinceMs: number): readonly number[] {
  // The last one may still be on its way.
  const lines = text.split('\n').slice(0, -1);
  const pauses = lines.map((line) => line.split(' ').map(Number));
  return pauses.filter(([at = 0]) => at >= sinceMs).map(([, durationMs = 0]) => durationMs);
}
