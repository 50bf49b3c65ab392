import type { ObjectKey } from '../kube/object.ts';

/** Names something outside an object that decides about it, such as `secrets/default/orders-admin`. */
export type Reference = string;

/** Who refers to what, so that a change of the one leads to a look at the other: controller-runtime's Watches and MapFunc. */
export class ReferenceIndex {
  readonly #references = new Map<ObjectKey, ReadonlySet<Reference>>();
  readonly #dependents = new Map<Reference, Set<ObjectKey>>();

  /** The references of `key` are exactly these. */
  set(key: ObjectKey, references: readonly Reference[]): void {
    const next = new Set(references);
    for (const reference of this.#references.get(key) ?? []) {
      if (next.has(reference)) continue;
      const keys = this.#dependents.get(reference);
      keys?.delete(key);
      if (keys?.size === 0) this.#dependents.delete(reference);
    }
    for (const reference of next) {
      const keys = this.#dependents.get(reference);
      if (keys === undefined) this.#dependents.set(reference, new Set([key]));
      else keys.add(key);
    }
    if (next.size === 0) this.#references.delete(key);
    else this.#references.set(key, next);
  }

  dependents(reference: Reference): Iterable<ObjectKey> {
    return this.#dependents.get(reference) ?? [];
  }
}
