import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/*
 * A process seen from outside, through /proc. Only Linux has that; elsewhere these figures are left out.
 */

export const canLookAtProcesses = process.platform === 'linux';

/** Of all its threads, user and system, since it began. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold spaces; utime and stime are the 12th and 13th field after it (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond();
}

export interface Memory {
  readonly residentMB: number;
  /** Since it began, or since `forgetPeak`. */
  readonly peakMB: number;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { residentMB: kilobytes('VmRSS') / 1024, peakMB: kilobytes('VmHWM') / 1024 };
}

/** Bytes that it has read and written since it began: of connections, encryption and all, and of files (proc(5), io). */
export function trafficOf(pid: number): { readonly readBytes: number; readonly writtenBytes: number } {
  const io = readFileSync(`/proc/${pid}/io`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1]);
  return { readBytes: bytes('rchar'), writtenBytes: bytes('wchar') };
}

/** From now on the peak is that of what follows (clear_refs in proc(5)). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Looks are so far apart. */
const LOOK_MS = 10;

/**
 * How long, at the most, the main thread waited for a core while it had something to do (the second figure of schedstat, in the
 * kernel's sched-stats): its event loop was blocked for that long, by others. Waits that ended between two looks count as one, and who
 * looks may be late, too: no wait was longer, and each may have been shorter.
 */
export class CoreWaits {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  /** Undefined: the process has ended, or the kernel does not count. */
  #waitedMs: number | undefined;
  #longestMs = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#waitedMs = waitedMs(pid);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** In milliseconds, since the last time that somebody asked; undefined: nobody knows. */
  takeLongest(): number | undefined {
    this.#look();
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return this.#waitedMs === undefined ? undefined : longest;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const [before, waited] = [this.#waitedMs, waitedMs(this.#pid)];
    if (before !== undefined && waited !== undefined) this.#longestMs = Math.max(this.#longestMs, waited - before);
    this.#waitedMs = waited;
  }
}

/** All in all, since it began. */
function waitedMs(pid: number): number | undefined {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return undefined;
  }
}

let ticks: number | undefined;

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}
