/**
 * Keys in groups that take turns: round robin between groups, first in, first out within one. So a group of ten thousand
 * keys holds up a group of one by a single key. It is one level of the work queue, as the API server's priority and
 * fairness has queues within a priority level.
 */
export class FairQueue {
  /** In the order of their turns. */
  readonly #groups = new Map<string, Set<string>>();

  add(key: string, group: string): void {
    const keys = this.#groups.get(group);
    if (keys === undefined) this.#groups.set(group, new Set([key]));
    else keys.add(key);
  }

  delete(key: string, group: string): void {
    const keys = this.#groups.get(group);
    keys?.delete(key);
    if (keys?.size === 0) this.#groups.delete(group);
  }

  /** Takes the first key of the group whose turn it is, among those that may go; that group then stands last. */
  take(mayGo: (group: string) => boolean): string | undefined {
    for (const [group, keys] of this.#groups) {
      if (!mayGo(group)) continue;
      for (const key of keys) {
        keys.delete(key);
        this.#groups.delete(group);
        if (keys.size > 0) this.#groups.set(group, keys);
        return key;
      }
    }
    return undefined;
  }

  clear(): void {
    this.#groups.clear();
  }
}
