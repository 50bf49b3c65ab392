import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/*
 * A process seen from outside, through /proc. Only Linux has that; elsewhere these figures are left out.
 */

export const canLookAtProcesses = process.platform === 'linux';

/** Returns the user and system time of all its threads since it began. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold spaces; utime and stime are the 12th and 13th field after it (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond();
}

export interface Memory {
  readonly residentMB: number;
  /** The peak since it began, or since `forgetPeak`. */
  readonly peakMB: number;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { residentMB: kilobytes('VmRSS') / 1024, peakMB: kilobytes('VmHWM') / 1024 };
}

/** Returns the bytes that it has read and written since it began, to connections (encrypted) and files (proc(5), io). */
export function trafficOf(pid: number): { readonly readBytes: number; readonly writtenBytes: number } {
  const io = readFileSync(`/proc/${pid}/io`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1]);
  return { readBytes: bytes('rchar'), writtenBytes: bytes('wchar') };
}

/** Resets the peak to the present value (clear_refs in proc(5)). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

let ticks: number | undefined;

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}
