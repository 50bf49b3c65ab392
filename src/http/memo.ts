import { hash } from 'node:crypto';
import type { ReadElement } from './json-stream.ts';

/**
 * What was made of the elements of an answer that comes again and again, such as a List, by the digests of their bytes. Elements
 * that have not changed since the previous answer are neither read nor made again. It holds no more entries than the newest
 * answer has elements.
 */
export class Memo<T extends object> {
  readonly #made = new Map<string, T>();

  /**
   * Reads one answer: `readAll` calls the function it is given for each element, and returns what it got for all of them. For new
   * bytes that is what `make` makes; undefined is left out and not remembered. Fails as these do, and then remembers nothing of
   * that answer.
   */
  async read(
    make: ReadElement<T | undefined>,
    readAll: (read: ReadElement<T | undefined>) => Promise<readonly (T | undefined)[]>,
  ): Promise<readonly T[]> {
    const fresh = new Map<string, T>();
    const read = await readAll((bytes, index) => {
      // SHA-256, so no two elements have the same: nobody who writes one can pass it off as another.
      const digest = hash('sha256', bytes, 'latin1');
      const known = this.#made.get(digest) ?? fresh.get(digest);
      if (known !== undefined) return known;
      const made = make(bytes, index);
      if (made !== undefined) fresh.set(digest, made);
      return made;
    });
    const all = read.filter((made) => made !== undefined);
    for (const [digest, made] of fresh) this.#made.set(digest, made);
    if (this.#made.size > all.length) this.#keepOnly(new Set(all));
    return all;
  }

  #keepOnly(values: ReadonlySet<T>): void {
    for (const [digest, made] of this.#made) if (!values.has(made)) this.#made.delete(digest);
  }
}
