import { SpacePlaces } from '../../src/kinds/databasespace/places.ts';
import type { KubeObject, ObjectKey } from '../../src/kube/object.ts';

/** The places that DatabaseSpaces with these specs name. */
export function placesOf(specs: Readonly<Record<ObjectKey, object>>): SpacePlaces {
  const places = new SpacePlaces();
  // The cast is the parsing boundary: only the object's spec is read.
  for (const [key, spec] of Object.entries(specs)) places.changed(key, { spec } as KubeObject);
  return places;
}
