import type { Clock } from '../../base/clock.ts';
import { SingleFlight } from '../../base/single-flight.ts';

/** How old a List may be and still count as new: objects that appear together share it. */
const FRESH_MS = 2_000;

/**
 * The names in one collection on a server, as Unicode composes them: listed when needed, once for all who ask at the time, and
 * updated with our own changes.
 */
export class NameList {
  readonly #clock: Clock;
  readonly #listing = new SingleFlight<ReadonlySet<string>>();
  #names: { readonly set: Set<string>; readonly begunAt: number } | undefined;
  /** Our changes, and when they were made: a List begun before them may not show them. */
  #changes: { readonly name: string; readonly exists: boolean; readonly at: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async get(list: () => Promise<readonly string[]>, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const known = this.#names;
    if (known !== undefined && this.#clock.monotonic() - known.begunAt < FRESH_MS) return known.set;
    return this.#listing.run(() => this.#list(list), signal);
  }

  /** Records a change that was just made, and answered. */
  changed(name: string, exists: boolean): void {
    const change = { name: name.normalize(), exists, at: this.#clock.monotonic() };
    this.#changes.push(change);
    if (this.#names !== undefined) apply(this.#names.set, change);
  }

  async #list(list: () => Promise<readonly string[]>): Promise<ReadonlySet<string>> {
    const begunAt = this.#clock.monotonic();
    const set = new Set(await list());
    this.#changes = this.#changes.filter(({ at }) => at >= begunAt);
    for (const change of this.#changes) apply(set, change);
    this.#names = { set, begunAt };
    return set;
  }
}

function apply(set: Set<string>, { name, exists }: { readonly name: string; readonly exists: boolean }): void {
  if (exists) set.add(name);
  else set.delete(name);
}
