/** What was asked for last, so that it need not be made again: the least recently used are forgotten first. */
export class Recent<K extends string, V extends object> {
  readonly #size: number;
  /** The one that was asked for last is the last. */
  readonly #values = new Map<K, V>();

  /** Keeps `size` values at most. */
  constructor(size: number) {
    this.#size = size;
  }

  /** The value of the key; `make` makes it if it is not there. */
  get(key: K, make: (key: K) => V): V {
    const value = this.#values.get(key) ?? make(key);
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.size > this.#size ? this.#values.keys() : [];
    if (oldest !== undefined) this.#values.delete(oldest);
    return value;
  }
}
