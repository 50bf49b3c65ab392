import { Multimap } from './multimap.ts';

/** Names something outside an object that decides about it, such as `secrets/default/orders-admin`. */
export type Reference = string;

/** Who refers to what, so that a change of the one leads to a look at the other: controller-runtime's Watches and MapFunc. */
export class ReferenceIndex {
  readonly #dependents = new Multimap();
  /** Only these are remembered: few objects have any. */
  readonly #passing = new Map<string, readonly Reference[]>();

  /** The references of `key` were those, and are these. `passing`: what it refers to besides, until the next change. */
  change(key: string, before: readonly Reference[], after: readonly Reference[], passing: readonly Reference[]): void {
    const all = [...after, ...passing];
    for (const reference of [...before, ...(this.#passing.get(key) ?? [])])
      if (!all.includes(reference)) this.#dependents.delete(reference, key);
    for (const reference of all) this.#dependents.add(reference, key);
    if (passing.length > 0) this.#passing.set(key, passing);
    else this.#passing.delete(key);
  }

  dependents(reference: Reference): Iterable<string> {
    return this.#dependents.get(reference);
  }
}
