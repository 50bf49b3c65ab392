import { readFileSync } from 'node:fs';

/** The name of gc.mjs's file, without the process id. */
export const gcFiles = (folder: string) => `${folder}/gc`;

/** Returns the length of each garbage collection pause that began at this time or later. Both in milliseconds. */
export function gcPauses(folder: string, pid: number, sinceMs: number): readonly number[] {
  return pausesIn(readFileSync(`${gcFiles(folder)}-${pid}`, 'utf8'), sinceMs);
}

export function pausesIn(text: string, sinceMs: number): readonly number[] {
  // The last one may still be on its way.
  const lines = text.split('\n').slice(0, -1);
  const pauses = lines.map((line) => line.split(' ').map(Number));
  return pauses.filter(([at = 0]) => at >= sinceMs).map(([, durationMs = 0]) => durationMs);
}
