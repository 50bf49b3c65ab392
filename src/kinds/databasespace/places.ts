import { Multimap } from '../../base/multimap.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { isSamePlace, type Place, placeInFull, placeOf } from './place.ts';

/**
 * Which place of the cloud each DatabaseSpace names, kept by changes: whoever has recorded a cluster there has it, whether or
 * not the space is connected. A start connects one space after the other, and one whose Secret is missing never.
 */
export class SpacePlaces {
  readonly #places = new Map<ObjectKey, Place>();
  readonly #spaces = new Multimap();

  /** One object changed; undefined: it is not there any more. */
  changed(space: ObjectKey, object: KubeObject | undefined): void {
    const [was, is] = [this.#places.get(space), object && placeNamedBy(object)];
    // Who remembers something of a place knows it by its object.
    if (was !== undefined && is !== undefined && isSamePlace(was, is)) return;
    if (was !== undefined) {
      this.#places.delete(space);
      this.#spaces.delete(placeInFull(was), space);
    }
    if (is !== undefined) {
      this.#places.set(space, is);
      this.#spaces.add(placeInFull(is), space);
    }
  }

  /** Undefined: there is no such DatabaseSpace, as far as was seen. */
  get(space: ObjectKey): Place | undefined {
    return this.#places.get(space);
  }

  /** All DatabaseSpaces that name the same place as this one, itself included. */
  same(space: ObjectKey): Iterable<ObjectKey> {
    const place = this.#places.get(space);
    return place === undefined ? [] : this.at(place);
  }

  /** All DatabaseSpaces that name the place. */
  at(place: Place): Iterable<ObjectKey> {
    return this.#spaces.get(placeInFull(place));
  }
}

/** Of a spec that cannot be read for another reason, too: its clusters are there all the same. */
function placeNamedBy({ spec }: KubeObject): Place | undefined {
  const { baseURL, teamID, spaceID } = (spec ?? {}) as Readonly<Record<string, unknown>>;
  const isNamed = typeof baseURL === 'string' && typeof teamID === 'string' && typeof spaceID === 'string';
  return isNamed ? placeOf({ baseURL, teamID, spaceID }) : undefined;
}
