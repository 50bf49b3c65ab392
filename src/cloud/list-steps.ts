/** While a cluster is moving, the space is listed in steps that grow with how long it has been moving: a fifth of that time. */
const STEP_SHARE = 0.2;
const MIN_STEP_MS = 750;
const MAX_STEP_MS = 15_000;
/**
 * Clusters that move together share their Lists. So when only a tenth of them is left, there may be a List for each of that tenth. However
 * few there are, the last two may have some.
 */
const LAST_SHARE = 0.1;
const LEAST_LAST = 2;
const LEAST_LISTS = 8;
const LAST_STEP_MS = 3_000;
/**
 * Clusters on their way to the same count as one that began with the first of them, if they began so soon after it, until one is there:
 * none that began later will be there much sooner.
 */
const TOGETHER_MS = 30_000;

/** A cluster that is moving. */
export interface Moving {
  /** Since when, by the monotonic clock. */
  readonly since: number;
  /** What the cloud says that it is doing. */
  readonly status: string;
}

/** When to list a space for the clusters that are moving in it. */
export class ListSteps {
  #longestMs = MAX_STEP_MS;
  /** How many were moving at most since none was, and how many Lists were meant for the last of them. */
  #most = 0;
  #spent = 0;
  /** Whether one was moving that is not any more, since none was. */
  #anyIsThere = false;

  /** Tells that a List has ended, and how many clusters are still moving. */
  listed(left: number): void {
    this.#anyIsThere = left > 0 && (this.#anyIsThere || left < this.#most);
    if (left === 0) this.#spent = this.#most = 0;
    this.#most = Math.max(this.#most, left);
    const share = Math.floor(this.#most * LAST_SHARE);
    // As long as none has come up, nothing shows that the others will soon.
    const areLast = left < this.#most && left <= Math.max(LEAST_LAST, share);
    const hurry = areLast && this.#spent < Math.max(LEAST_LISTS, share);
    this.#longestMs = hurry ? LAST_STEP_MS : MAX_STEP_MS;
    if (hurry) this.#spent++;
  }

  /** Returns the time of the next List, if the last one ended at `ended`. `moving`: who began first comes first. */
  next(moving: Iterable<Moving>, ended: number): number {
    let next = Number.POSITIVE_INFINITY;
    const firsts = new Map<string, number>();
    for (const { since, status } of moving) {
      const first = firsts.get(status);
      const isLed = first !== undefined && since - first < TOGETHER_MS && !this.#anyIsThere;
      if (!isLed) firsts.set(status, since);
      next = Math.min(next, this.#nextFor(isLed ? first : since, ended));
    }
    return next;
  }

  #nextFor(since: number, ended: number): number {
    const from = Math.max(ended, since);
    return from + Math.min(this.#longestMs, Math.max(MIN_STEP_MS, (from - since) * STEP_SHARE));
  }
}
