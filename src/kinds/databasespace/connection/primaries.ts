import type { Clock } from '../../../base/clock.ts';

/**
 * How long the primary that a server named counts, whatever others say, while it runs: servers that disagree must not move all
 * logins to and fro.
 */
const PRIMARY_MS = 60_000;

/** The server that takes changes, according to another server. */
interface NamedPrimary {
  readonly by: string;
  readonly address: string;
  readonly untilMs: number;
}

/** Which server of each cluster takes changes, as another one has just said. */
export class Primaries {
  readonly #clock: Clock;
  readonly #runs: (clusterID: string, address: string) => boolean;
  readonly #named = new Map<string, NamedPrimary>();

  /** `runs`: whether the cloud shows a running server of the cluster at that address. */
  constructor(clock: Clock, runs: (clusterID: string, address: string) => boolean) {
    this.#clock = clock;
    this.#runs = runs;
  }

  /** The server at the URL `by` named the primary. Reports whether that counts. */
  named(clusterID: string, by: string, address: string): boolean {
    const nowMs = this.#clock.monotonic();
    const known = this.#named.get(clusterID);
    const stands = known !== undefined && nowMs < known.untilMs;
    if (stands && (this.#runs(clusterID, known.address) || !this.#runs(clusterID, address))) return false;
    this.#named.set(clusterID, { by, address, untilMs: nowMs + PRIMARY_MS });
    return true;
  }

  /** Returns the address that the server at this URL has named, if that still counts. */
  namedBy(baseURL: string, clusterID: string): string | undefined {
    const named = this.#named.get(clusterID);
    return named?.by === baseURL && this.#clock.monotonic() < named.untilMs ? named.address : undefined;
  }

  keys(): Iterable<string> {
    return this.#named.keys();
  }

  delete(clusterID: string): void {
    this.#named.delete(clusterID);
  }
}
