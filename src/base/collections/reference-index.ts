import { Multimap } from './multimap.ts';

/** Names something outside an object that affects it, such as `secrets/default/orders-admin`. */
export type Reference = string;

/** Who refers to what, so that a change of one leads to a look at the other, like controller-runtime's Watches and MapFunc. */
export class ReferenceIndex {
  readonly #dependents = new Multimap();
  /** Extra references only: few objects have any. */
  readonly #extra = new Map<string, readonly Reference[]>();

  /** Replaces the references of `key`. `extra`: what else it refers to, until the next change. */
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
