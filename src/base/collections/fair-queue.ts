/**
 * Keys in groups that take turns: round robin between groups, and first in, first out within one, except that keys that go on
 * come before keys that begin. So a group of ten thousand keys delays a group of one by a single key. It is one level of the work
 * queue, like the queues within a priority level of the API server's priority and fairness. FairTurns can neither pass over a
 * group that may not go now, nor order the keys of one group.
 */
export class FairQueue {
  /** In the order of their turns. */
  readonly #groups = new Map<string, Group>();

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /** `goesOn`: the key's work has begun, and should end before others of its group begin. */
  add(key: string, group: string, goesOn = false): void {
    const keys = this.#groups.get(group) ?? { going: new Set(), beginning: new Set() };
    (goesOn ? keys.going : keys.beginning).add(key);
    this.#groups.set(group, keys);
  }

  delete(key: string, group: string): void {
    const keys = this.#groups.get(group);
    if (keys === undefined) return;
    keys.going.delete(key);
    keys.beginning.delete(key);
    if (isEmpty(keys)) this.#groups.delete(group);
  }

  /** Takes the first key of the first group that may go, and moves that group to the end. */
  take(mayGo: (group: string) => boolean): string | undefined {
    for (const [group, keys] of this.#groups) {
      if (!mayGo(group)) continue;
      for (const key of keys.going.size > 0 ? keys.going : keys.beginning) {
        this.#groups.delete(group);
        keys.going.delete(key);
        keys.beginning.delete(key);
        if (!isEmpty(keys)) this.#groups.set(group, keys);
        return key;
      }
    }
    return undefined;
  }
}

interface Group {
  readonly going: Set<string>;
  readonly beginning: Set<string>;
}

const isEmpty = ({ going, beginning }: Group): boolean => going.size + beginning.size === 0;
