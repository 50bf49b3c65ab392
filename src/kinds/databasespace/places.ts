import { Multimap } from '../../base/collections/multimap.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { isSamePlace, type Place, placeInFull, placeOf } from './place.ts';

/**
 * Which place in the cloud each DatabaseSpace names, kept up to date by changes. A cluster recorded there counts whether or not the
 * space is connected: a start connects one space after the other, and never one whose Secret is missing.
 */
export class SpacePlaces {
  readonly #places = new Map<ObjectKey, Place>();
  readonly #spaces = new Multimap();

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

  /** Returns all DatabaseSpaces that name the same place as this one, itself included. */
  same(space: ObjectKey): Iterable<ObjectKey> {
    const place = this.#places.get(space);
    return place === undefined ? [] : this.at(place);
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
