/** A binary heap: hands items out in order, whatever order they came in. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  /** `isBefore`: a strict order; of two items that neither comes before the other, either may be first. */
  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item, which stays; undefined if there is none. */
  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    items.push(item);
    for (let index = items.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfBefore(index, parent)) return;
      index = parent;
    }
  }

  /** Takes the first item; undefined if there is none. */
  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    items[0] = last;
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const child = this.#comesBefore(right, left) ? right : left;
      if (!this.#swapIfBefore(child, index)) return first;
      index = child;
    }
  }

  #swapIfBefore(child: number, parent: number): boolean {
    const [below, above] = [this.#items[child], this.#items[parent]];
    if (below === undefined || above === undefined || !this.#isBefore(below, above)) return false;
    this.#items[child] = above;
    this.#items[parent] = below;
    return true;
  }

  #comesBefore(one: number, other: number): boolean {
    const [a, b] = [this.#items[one], this.#items[other]];
    return a !== undefined && b !== undefined && this.#isBefore(a, b);
  }
}
