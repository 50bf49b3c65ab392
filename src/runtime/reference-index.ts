import { Multimap } from '../base/multimap.ts';
import type { ObjectKey } from '../kube/object.ts';

/** Names something outside an object that decides about it, such as `secrets/default/orders-admin`. */
export type Reference = string;

/** Who refers to what, so that a change of the one leads to a look at the other: controller-runtime's Watches and MapFunc. */
export class ReferenceIndex {
  readonly #dependents = new Multimap();

  /** The references of `key` were those, and are these. */
  change(key: ObjectKey, before: readonly Reference[], after: readonly Reference[]): void {
    for (const reference of before) if (!after.includes(reference)) this.#dependents.delete(reference, key);
    for (const reference of after) this.#dependents.add(reference, key);
  }

  dependents(reference: Reference): Iterable<ObjectKey> {
    return this.#dependents.get(reference);
  }
}
