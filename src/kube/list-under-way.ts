import type { AnyObject } from './api.ts';
import { compareVersions, keyOf, type ObjectKey } from './object.ts';

/**
 * A list under way, beside newer versions of its objects that are here already. Usually it is only late. But if the server was restored
 * from a backup, those versions never were. Then either the list is of a later version than they are, and does not have them (after
 * `etcdutl snapshot restore --bump-revision`, which leaves the objects their own versions); or the server knows no version as new as what
 * was seen before, and the list asked for what is true now.
 */
export class ListUnderWay<T extends AnyObject> {
  /** What we have written since a list began that asks for what is true now, and may not know it; undefined: this is no such list. */
  readonly #own: Set<ObjectKey> | undefined;
  readonly #older = new Map<ObjectKey, T>();

  /** `before`: a list that failed. Until one succeeds, each that follows one for what is true now counts as one. */
  constructor(isNewest: boolean, before: ListUnderWay<T> | undefined) {
    this.#own = isNewest ? new Set() : before === undefined ? undefined : before.#own;
  }

  wrote(key: ObjectKey): void {
    this.#own?.add(key);
  }

  /** The list reported the object. `isTaken`: no newer version was here. */
  told(object: T, isTaken: boolean): void {
    if (isTaken) this.#older.delete(keyOf(object));
    else this.#older.set(keyOf(object), object);
  }

  /** Yields the objects that replace newer versions, now that the list has ended. `here` is asked for each in turn. */
  *replacing(here: (key: ObjectKey) => T | undefined, resourceVersion: string): Generator<T> {
    for (const [key, object] of this.#older) {
      const metadata = here(key)?.metadata;
      const isLacked = metadata !== undefined && compareVersions(metadata, { resourceVersion }) <= 0;
      if (this.#own === undefined ? isLacked : !this.#own.has(key)) yield object;
    }
  }
}
