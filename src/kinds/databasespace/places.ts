import { Multimap } from '../../base/collections/multimap.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { isSamePlace, type Place, placeInFull, placeOf } from './place.ts';

/**
 * Which place in the cloud each DatabaseSpace names, and in which its clusters are recorded, kept up to date by changes. A cluster recorded
 * there counts whether or not the space is connected: a start connects one space after the other, and never one whose Secret is missing.
 * Nor does it matter whether the space still exists, or names another place by now: whoever deletes it does not give its clusters away.
 */
export class SpacePlaces {
  readonly #places = new Map<ObjectKey, Place>();
  readonly #spaces = new Multimap();
  /** By place in full and space, the number of its clusters there. */
  readonly #recorded = new Map<string, Map<ObjectKey, number>>();

  /**
   * Called when one object has changed; undefined: it no longer exists. Returns the others that name the place which it named before and
   * names no more.
   */
  changed(space: ObjectKey, object: KubeObject | undefined): readonly ObjectKey[] {
    const [was, is] = [this.#places.get(space), object && placeNamedBy(object)];
    // Caches compare places by reference, so an unchanged place stays the same object.
    if (was !== undefined && is !== undefined && isSamePlace(was, is)) return [];
    if (was !== undefined) {
      this.#places.delete(space);
      this.#spaces.delete(placeInFull(was), space);
    }
    if (is !== undefined) {
      this.#places.set(space, is);
      this.#spaces.add(placeInFull(is), space);
    }
    return was === undefined ? [] : [...this.at(was)];
  }

  /** Undefined: no such DatabaseSpace was seen. */
  get(space: ObjectKey): Place | undefined {
    return this.#places.get(space);
  }

  /** As many clusters more, or with a negative number fewer, are recorded there by objects that name the space. */
  recorded(space: ObjectKey, place: Place, more: number): void {
    const full = placeInFull(place);
    const spaces = this.#recorded.get(full) ?? new Map<ObjectKey, number>();
    const count = (spaces.get(space) ?? 0) + more;
    if (count > 0) spaces.set(space, count);
    else spaces.delete(space);
    if (spaces.size > 0) this.#recorded.set(full, spaces);
    else this.#recorded.delete(full);
  }

  /**
   * Returns all DatabaseSpaces whose clusters may be in the place that this one names, or named when a look began: itself, those that name
   * it, and those of clusters that are recorded there.
   */
  same(space: ObjectKey, place = this.#places.get(space)): Iterable<ObjectKey> {
    if (place === undefined) return [];
    return new Set([space, ...this.at(place), ...(this.#recorded.get(placeInFull(place))?.keys() ?? [])]);
  }

  /** Returns all DatabaseSpaces that name the place. */
  at(place: Place): Iterable<ObjectKey> {
    return this.#spaces.get(placeInFull(place));
  }
}

/** Returns the place. Also reads a spec that is invalid for another reason: its clusters exist all the same. */
export function placeNamedBy({ spec }: { readonly spec?: unknown }): Place | undefined {
  const { baseURL, teamID, spaceID } = (spec ?? {}) as Readonly<Record<string, unknown>>;
  const isNamed = typeof baseURL === 'string' && typeof teamID === 'string' && typeof spaceID === 'string';
  return isNamed ? placeOf({ baseURL, teamID, spaceID }) : undefined;
}
