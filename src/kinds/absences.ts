import type { Clock } from '../base/clock.ts';
import type { ObjectKey, ObjectMeta } from '../kube/object.ts';

/**
 * How long the cloud or a server must not show something before that is believed: not all machines that answer are equally quick, and
 * one that has just started may not show all that it has.
 */
export const ABSENT_MS = 20_000;
/** Of the time between two looks at most this counts: the server may have been away meanwhile, and then a look says nothing new. */
const COUNTS_MS = 10_000;
const LOOKED_FOR_MS = 5_000;
const SOON_MS = 1_000;

/** Whether so little time has passed since that the other side may not show yet what it did then. After that, some clock may be wrong. */
export function isLately(atMs: number | undefined, nowMs: number): boolean {
  return atMs !== undefined && nowMs >= atMs && nowMs - atMs < ABSENT_MS;
}

/** A user or database is missing on its server, which is not believed yet. */
export interface Absence {
  /** When it was first missed. */
  readonly since: string;
  /** For how much of the time since. */
  readonly forMs: number;
  /** In how many milliseconds to look again: soon at first, as it is often back at once. */
  readonly againInMs: number;
}

interface Missing {
  readonly key: ObjectKey;
  readonly metadata: Pick<ObjectMeta, 'uid'>;
}

interface Missed {
  readonly uid: string;
  readonly since: string;
  readonly forMs: number;
  readonly lookedMs: number;
}

/** For how long this process has missed the user or database of each object. A new process starts to wait again. */
export class Absences {
  readonly #missed = new Map<ObjectKey, Missed>();

  /** It was looked for and is missing. Undefined: it has been for long enough. */
  missed({ key, metadata: { uid } }: Missing, clock: Pick<Clock, 'now' | 'monotonic'>): Absence | undefined {
    const lookedMs = clock.monotonic();
    const known = this.#missed.get(key);
    const before = known?.uid === uid ? known : undefined;
    const since = before?.since ?? new Date(clock.now()).toISOString();
    const forMs = before === undefined ? 0 : before.forMs + Math.min(lookedMs - before.lookedMs, COUNTS_MS);
    this.#missed.set(key, { uid, since, forMs, lookedMs });
    const leftMs = ABSENT_MS - forMs;
    if (leftMs <= 0) return undefined;
    return { since, forMs, againInMs: Math.min(leftMs, LOOKED_FOR_MS, Math.max(forMs, SOON_MS)) };
  }

  /** The server said that it deleted it: nobody need wait to see whether it comes back. */
  deleted({ key, metadata: { uid } }: Missing, clock: Pick<Clock, 'now' | 'monotonic'>): void {
    const since = new Date(clock.now()).toISOString();
    this.#missed.set(key, { uid, since, forMs: ABSENT_MS, lookedMs: clock.monotonic() });
  }

  forget(key: ObjectKey): void {
    this.#missed.delete(key);
  }
}
