import { Multimap } from './multimap.ts';

/** Names something outside an object that decides about it, such as `secrets/default/orders-admin`. */
export type Reference = string;

/** Who refers to what, so that a change of the one leads to a look at the other: controller-runtime's Watches and MapFunc. */
export class ReferenceIndex {
  readonly #dependents = new Multimap();
  /** Only these are remembered: few objects have any. */
  readonly #extra = new Map<string, readonly Reference[]>();

  /** The references of `key` were those, and are these. `extra`: what it refers to besides, until the next change. */
  change(key: string, before: readonly Reference[], after: readonly Reference[], extra: readonly Reference[]): void {
    const all = [...after, ...extra];
    for (const reference of [...before, ...(this.#extra.get(key) ?? [])])
      if (!all.includes(reference)) this.#dependents.delete(reference, key);
    for (const reference of all) this.#dependents.add(reference, key);
    if (extra.length > 0) this.#extra.set(key, extra);
    else this.#extra.delete(key);
  }

  dependents(reference: Reference): Iterable<string> {
    return this.#dependents.get(reference);
  }
}
