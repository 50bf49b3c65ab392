import { Multimap } from '../base/multimap.ts';
import type { ObjectKey } from '../kube/object.ts';

/** Names something outside an object that decides about it, such as `secrets/default/orders-admin`. */
export type Reference = string;

/** Who refers to what, so that a change of the one leads to a look at the other: controller-runtime's Watches and MapFunc. */
export class ReferenceIndex {
  readonly #references = new Map<ObjectKey, readonly Reference[]>();
  readonly #dependents = new Multimap();

  /** The references of `key` are exactly these. */
  set(key: ObjectKey, references: readonly Reference[]): void {
    const next = new Set(references);
    for (const reference of this.#references.get(key) ?? [])
      if (!next.has(reference)) this.#dependents.delete(reference, key);
    for (const reference of next) this.#dependents.add(reference, key);
    if (next.size === 0) this.#references.delete(key);
    else this.#references.set(key, [...next]);
  }

  dependents(reference: Reference): Iterable<ObjectKey> {
    return this.#dependents.get(reference);
  }
}
