/**
 * Several texts for each key. Most keys have one, which is stored as it is: a Set takes some 200 bytes, and there may be a
 * hundred thousand keys.
 */
export class Multimap {
  readonly #values = new Map<string, string | Set<string>>();

  /** The key's texts in the order in which they were added. Adding one again does not move it. */
  get(key: string): Iterable<string> {
    const values = this.#values.get(key);
    return values === undefined ? [] : typeof values === 'string' ? [values] : values;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  add(key: string, value: string): void {
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, value);
    else if (typeof values !== 'string') values.add(value);
    else if (values !== value) this.#values.set(key, new Set([values, value]));
  }

  delete(key: string, value: string): void {
    const values = this.#values.get(key);
    if (values === value) this.#values.delete(key);
    else if (typeof values === 'object' && values.delete(value) && values.size === 0) this.#values.delete(key);
  }
}
