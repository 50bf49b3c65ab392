import type { Random } from '../../base/random.ts';
import type { Subject } from '../exchange/subject.ts';

/** What a fault does to the requests it matches. */
export const FAULT_EFFECTS = {
  errorBefore: 'answers 500 (or `status`) before any work is done',
  '5xx': 'answers 503 (or `status`) before any work is done, with Retry-After if `retryAfterSeconds` is given',
  '429': 'answers 429 with Retry-After (`retryAfterSeconds`, default 1) before any work is done',
  html: 'answers 502 (or `status`) with a page of HTML before any work is done',
  reset: 'breaks the connection before any work is done',
  hang: 'never answers and does no work',
  outage: 'nothing answers: servers refuse connections, and the management API breaks them',
  expiredToken: 'ends the token of the request first, so that the answer is 401',
  delay: 'waits `delayMs` (default 1000) before the work',
  lateAnswer: 'waits `delayMs` (default 1000) between the work and the answer',
  lostAnswer: 'does the work, then breaks the connection instead of answering',
  errorAfter: 'does the work, then answers 500 (or `status`) all the same',
  truncated: 'does the work, then answers with half of the body',
  brokenBody: 'does the work, then breaks the connection in the middle of the body',
} as const;

export type FaultEffect = keyof typeof FAULT_EFFECTS;

/** All given properties must match; a list means any of its values. `clusterID` also matches the cluster being made. */
export interface FaultMatch {
  readonly api?: Subject['api'];
  readonly operation?: string | readonly string[];
  readonly method?: string;
  readonly teamID?: string;
  readonly spaceID?: string;
  readonly clusterID?: string;
  readonly databaseName?: string;
  readonly username?: string;
}

export interface Fault {
  readonly match?: FaultMatch;
  readonly effect: FaultEffect;
  /** Ends after this many requests; absent: stays until it is removed. */
  readonly times?: number;
  /** Lets this many matching requests through first. */
  readonly skip?: number;
  /** Chance for each matching request, 0 to 1; absent: all. */
  readonly probability?: number;
  readonly status?: number;
  readonly delayMs?: number;
  readonly retryAfterSeconds?: number;
}

export interface ActiveFault extends Fault {
  readonly id: string;
  /** How many requests it has struck so far. */
  readonly hits: number;
}

export interface Faults {
  /** Takes effect at once; returns an id to remove it by. */
  add(fault: Fault): string;
  remove(id: string): boolean;
  clear(): void;
  list(): readonly ActiveFault[];
}

interface Entry extends Fault {
  readonly id: string;
  hits: number;
  skipped: number;
}

export interface FaultBook extends Faults {
  /** The faults that strike this request, delays first. Counts them. */
  strike(subject: Subject): readonly Fault[];
  /** Whether this cluster's servers should refuse connections now. */
  isOut(cluster: { readonly teamID: string; readonly spaceID: string; readonly id: string }): boolean;
}

export function createFaultBook(random: Random, changed: () => void): FaultBook {
  const entries = new Map<string, Entry>();
  let lastID = 0;

  const strikes = (entry: Entry, subject: Subject): boolean => {
    if (!matches(entry.match ?? {}, subject)) return false;
    if (entry.skipped < (entry.skip ?? 0)) {
      entry.skipped += 1;
      return false;
    }
    return entry.probability === undefined || random.float() < entry.probability;
  };

  return {
    add: (fault) => {
      lastID += 1;
      const id = `fault-${lastID}`;
      entries.set(id, { ...fault, id, hits: 0, skipped: 0 });
      changed();
      return id;
    },
    remove: (id) => {
      const removed = entries.delete(id);
      changed();
      return removed;
    },
    clear: () => {
      entries.clear();
      changed();
    },
    list: () => [...entries.values()].map(({ skipped: _, ...fault }) => fault),
    strike: (subject) => {
      const struck = [...entries.values()].filter((entry) => strikes(entry, subject));
      const delays = struck.filter((entry) => entry.effect === 'delay');
      // Two faults cannot both answer one request: the older one does, and the other waits for its turn.
      const chosen = [...delays, ...struck.filter((entry) => entry.effect !== 'delay').slice(0, 1)];
      for (const entry of chosen) {
        entry.hits += 1;
        if (entry.times !== undefined && entry.hits >= entry.times) {
          entries.delete(entry.id);
          changed();
        }
      }
      return chosen;
    },
    isOut: (cluster) =>
      [...entries.values()].some((entry) => {
        const { api, teamID, spaceID, clusterID, ...narrower } = entry.match ?? {};
        return (
          entry.effect === 'outage' &&
          api !== 'cloud' &&
          Object.keys(narrower).length === 0 &&
          fits(teamID, cluster.teamID) &&
          fits(spaceID, cluster.spaceID) &&
          fits(clusterID, cluster.id)
        );
      }),
  };
}

function matches(match: FaultMatch, subject: Subject): boolean {
  const { clusterID, ...rest } = match;
  if (!fits(clusterID, subject.clusterID) && !fits(clusterID, subject.newClusterID)) return false;
  return Object.entries(rest).every(([name, wanted]) => fits(wanted, subject[name as keyof Subject]));
}

function fits(wanted: string | readonly string[] | undefined, value: string | undefined): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === 'string' ? wanted === value : value !== undefined && wanted.includes(value);
}
