/*
 * The objects of one kind as last seen: client-go's Store with DeltaFIFO's duties, as handlers also hear of what a list lacks.
 * - An object never goes back to an older version, however late a list or an answer arrives (client-go lacks this and `#ended`), unless
 *   what is here never was (`evenIfOlder`). Resource versions of one resource are comparable numbers.
 * - Objects are kept packed and read when asked for: a caller may keep one, and nobody can change it.
 */

import { PackedMap } from '../base/collections/packed-map.ts';
import { frozen } from '../base/immutable.ts';
import { inSlices } from '../base/slices.ts';
import type { AnyObject } from '../kube/api.ts';
import { compareVersions, keyOf, type ObjectKey } from '../kube/object.ts';

/** `before` undefined: new; `after` undefined: gone. Both set with different uids: one was deleted, another created. */
export type StoreChange<T> = (key: ObjectKey, before: T | undefined, after: T | undefined) => void;

/** Changes reported in one go before other work has its turn, as each may lead to a lot. */
const SLICE = 20;

/** The objects of one collection, as above. */
export class Store<T extends AnyObject> {
  readonly #objects = new PackedMap<T>();
  readonly #onChange: StoreChange<T>;
  /** By key, the uid of an object that our own write ended, until its end is reported. Earlier reports of it are outdated. */
  readonly #ended = new Map<ObjectKey, string>();

  constructor(onChange: StoreChange<T>) {
    this.#onChange = onChange;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<ObjectKey> {
    return this.#objects.keys();
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Takes an object from a list or a watch; returns false if what is here is newer and stays. `evenIfOlder`: a newer version is void. */
  apply(object: T, evenIfOlder = false): boolean {
    const key = keyOf(object);
    if (evenIfOlder) this.#ended.delete(key);
    if (this.#ended.get(key) === object.metadata.uid) return false;
    const before = this.get(key);
    const aheadBy = before === undefined ? 1 : compareVersions(object.metadata, before.metadata);
    // After a restore the same version may be another object's.
    if (aheadBy === 0 && object.metadata.uid === before?.metadata.uid) return true;
    if (aheadBy <= 0 && !evenIfOlder) return false;
    this.#objects.set(key, object);
    this.#onChange(key, before, frozen(object));
    return true;
  }

  /**
   * Takes the answer to our own write, so that the next pass sees it without waiting for the watch. An object that is not here is gone or
   * was replaced: the answer came too late.
   */
  applyOwnWrite(object: T): void {
    const before = this.get(keyOf(object));
    if (before === undefined || before.metadata.uid !== object.metadata.uid) return;
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    // The last finalizer is gone, and so is the object; the answer still has its old version.
    if (deletionTimestamp === undefined || finalizers.length > 0) this.apply(object);
    else {
      this.delete(object);
      this.#ended.set(keyOf(object), object.metadata.uid);
    }
  }

  delete(object: T): void {
    const key = keyOf(object);
    const before = this.get(key);
    if (this.#ended.get(key) === object.metadata.uid) this.#ended.delete(key);
    if (before === undefined || compareVersions(object.metadata, before.metadata) < 0) return;
    this.#objects.delete(key);
    this.#onChange(key, before, undefined);
  }

  /** Takes objects although newer versions are here, which are void, in slices. */
  goBack(objects: Iterable<T>): Promise<void> {
    return inSlices(objects, SLICE, (object) => void this.apply(object, true));
  }

  /** Drops the objects in `scope` that are not among `keys`, in slices, so that thousands of changes do not hold up other work. */
  async retain(keys: ReadonlySet<ObjectKey>, scope: (key: ObjectKey) => boolean): Promise<void> {
    for (const key of this.#ended.keys()) if (scope(key) && !keys.has(key)) this.#ended.delete(key);
    const gone = [...this.#objects.keys()].filter((key) => scope(key) && !keys.has(key));
    await inSlices(gone, SLICE, (key) => {
      const before = this.get(key);
      if (this.#objects.delete(key)) this.#onChange(key, before, undefined);
    });
  }
}
