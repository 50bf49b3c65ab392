/** What was asked for or set last, so that it need not be made again: the least recently used are forgotten first. */
export class Recent<K extends string, V> {
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
    this.set(key, value);
    return value;
  }

  /** The value of the key, if it is there, as if nobody had asked. */
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
