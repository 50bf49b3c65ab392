import { ceilingMs } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';

/**
 * How long the primary that a server named counts, whatever others say, while it runs: servers that disagree must not move all
 * logins to and fro.
 */
const PRIMARY_MS = 60_000;
/**
 * How long it counts even if it says itself that another one is the primary: it may not know yet that it was elected. Twice as long
 * each time, as two servers may name each other for ever, and each time all logins move and all connection Secrets are written. Once that
 * is longer than PRIMARY_MS, it counts as long whatever others say.
 */
const CONTRADICTED = { initialMs: 5_000, maxMs: 600_000 };
/** Servers that have agreed for so much longer may contradict each other as if for the first time. No pause between two tries is longer. */
const AGREED_MS = 600_000;

/** How long nobody must be named until the other servers are tried in turn: servers that elect one may know none for a while. */
const ELECTION_MS = 20_000;

interface Server {
  readonly address: string;
  /** Undefined: no login may be sent there. */
  readonly url?: string | undefined;
}

/** The server that takes changes, according to another server. */
interface NamedPrimary extends Server {
  /** The URL of the server that named it last, and when. */
  readonly by: string;
  readonly lastMs: number;
  /** Since when it has been named. */
  readonly sinceMs: number;
  /** How often in a row another one was named soon. */
  readonly contradictions: number;
}

/** Which server of each cluster takes changes, as another one has just said. */
export class Primaries {
  readonly #clock: Clock;
  readonly #runs: (clusterID: string, address: string) => boolean;
  readonly #named = new Map<string, NamedPrimary>();
  /** Since when the server at this URL has named nobody, and when it last did so. */
  readonly #unnamed = new Map<string, { readonly by: string; readonly sinceMs: number; readonly lastMs: number }>();

  /** `runs`: whether the cloud shows a running server of the cluster at that address. */
  constructor(clock: Clock, runs: (clusterID: string, address: string) => boolean) {
    this.#clock = clock;
    this.#runs = runs;
  }

  /** The server at the URL `by` named the primary. Reports whether that counts. */
  named(clusterID: string, by: string, { address, url }: Server): boolean {
    const nowMs = this.#clock.monotonic();
    const known = this.#named.get(clusterID);
    if (known?.address === address) {
      if (nowMs - known.lastMs < PRIMARY_MS) return false;
      // It may be that only this server is still asked as well: that ends no dispute.
      this.#named.set(clusterID, { ...known, by, url, lastMs: nowMs });
      return true;
    }
    const ageMs = nowMs - (known?.sinceMs ?? Number.NEGATIVE_INFINITY);
    const { contradictions = 0 } = known ?? {};
    const contradictedMs = ceilingMs(CONTRADICTED, contradictions);
    const pauseMs = known?.url === by ? contradictedMs : Math.max(contradictedMs, PRIMARY_MS);
    if (known !== undefined && ageMs < Math.max(pauseMs, PRIMARY_MS)) {
      const isOver = ageMs >= pauseMs || !this.#runs(clusterID, known.address);
      if (!isOver || !this.#runs(clusterID, address)) return false;
    }
    const inARow = ageMs < contradictedMs + AGREED_MS ? contradictions + 1 : 0;
    this.#named.set(clusterID, { by, address, url, lastMs: nowMs, sinceMs: nowMs, contradictions: inARow });
    return true;
  }

  /**
   * The server at the URL `by` takes no changes, and names no other one that the cloud shows: not all know how others are reached from
   * outside. If that lasts, the one after it of those that run is taken for the primary. Reports whether that counts.
   */
  unnamed(clusterID: string, by: string, running: readonly Server[]): boolean {
    const nowMs = this.#clock.monotonic();
    const known = this.#unnamed.get(clusterID);
    const goesOn = known?.by === by && nowMs - known.lastMs < AGREED_MS;
    const sinceMs = goesOn ? known.sinceMs : nowMs;
    this.#unnamed.set(clusterID, { by, sinceMs, lastMs: nowMs });
    const usable = running.filter(({ url }) => url !== undefined);
    const next = usable[(usable.findIndex(({ url }) => url === by) + 1) % usable.length];
    if (next === undefined || next.url === by || nowMs - sinceMs < ELECTION_MS) return false;
    return this.named(clusterID, by, next);
  }

  /** Returns the address that the server at this URL has named, if that still counts. */
  namedBy(baseURL: string, clusterID: string): string | undefined {
    const named = this.#named.get(clusterID);
    const isFresh = named?.by === baseURL && this.#clock.monotonic() < named.lastMs + PRIMARY_MS;
    return isFresh ? named.address : undefined;
  }

  keys(): Iterable<string> {
    return new Set([...this.#named.keys(), ...this.#unnamed.keys()]);
  }

  delete(clusterID: string): void {
    this.#named.delete(clusterID);
    this.#unnamed.delete(clusterID);
  }
}
