/** Keeps the values that were asked for or set last, so that they need not be made again. The least recently used is forgotten first. */
export class Recent<K extends string, V> {
  readonly #size: number;
  /** The last one used is last. */
  readonly #values = new Map<K, V>();

  /** Keeps `size` values at most. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Returns the key's value; `make` makes it if there is none. */
  get(key: K, make: (key: K) => V): V {
    const value = this.#values.get(key) ?? make(key);
    this.set(key, value);
    return value;
  }

  /** The key's value, if there is one. Does not count as use. */
  peek(key: K): V | undefined {
    return this.#values.get(key);
  }

  set(key: K, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.size > this.#size ? this.#values.keys() : [];
    if (oldest !== undefined) this.#values.delete(oldest);
  }

  delete(key: K): void {
    this.#values.delete(key);
  }
}
