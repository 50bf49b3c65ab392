import type { Clock } from '../clock.ts';
import { Heap } from './heap.ts';

interface Entry<T> {
  readonly key: string;
  readonly at: number;
  /** Of entries due at the same moment, the one set first comes first. */
  readonly order: number;
  readonly value: T;
}

/** How much too early a timer may run. */
const EARLY_MS = 1;
/** How many stale entries the heap may hold, besides as many as there are valid ones. */
const SLACK = 1_000;

/** At most one moment for each key, and one timer for all of them: a timer each would take half a kilobyte. */
export class Schedule<T> {
  readonly #clock: Clock;
  readonly #onDue: (key: string, value: T) => void;
  readonly #entries = new Map<string, Entry<T>>();
  /** All entries, and some that were moved or deleted since. */
  #heap = emptyHeap<T>();
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #order = 0;

  /** `onDue`: called when a key's moment has come, which is then forgotten. */
  constructor(clock: Clock, onDue: (key: string, value: T) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** The key's moment, by the monotonic clock, and what was set with it; undefined if it has none. */
  get(key: string): Pick<Entry<T>, 'at' | 'value'> | undefined {
    return this.#entries.get(key);
  }

  /** Sets the key's only moment. */
  set(key: string, at: number, value: T): void {
    const entry = { key, at, order: this.#order++, value };
    this.#entries.set(key, entry);
    this.#heap.push(entry);
    if (this.#heap.size > 2 * this.#entries.size + SLACK) this.#tidyUp();
    this.#setTimer();
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#setTimer();
  }

  clear(): void {
    this.#entries.clear();
    this.#heap = emptyHeap();
    this.#setTimer();
  }

  #tidyUp(): void {
    this.#heap = emptyHeap();
    for (const entry of this.#entries.values()) this.#heap.push(entry);
  }

  #setTimer(): void {
    const first = this.#first();
    if (first?.at === this.#timer?.at) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (first === undefined) return;
    const run = () => {
      this.#timer = undefined;
      this.#tell(this.#clock.monotonic() + EARLY_MS);
      this.#setTimer();
    };
    const delayMs = Math.max(0, first.at - this.#clock.monotonic());
    this.#timer = { at: first.at, cancel: this.#clock.after(delayMs, run) };
  }

  #tell(until: number): void {
    for (let next = this.#first(); next !== undefined && next.at <= until; next = this.#first()) {
      this.#entries.delete(next.key);
      this.#onDue(next.key, next.value);
    }
  }

  #first(): Entry<T> | undefined {
    for (let first = this.#heap.peek(); first !== undefined; first = this.#heap.peek()) {
      if (this.#entries.get(first.key) === first) return first;
      this.#heap.pop();
    }
    return undefined;
  }
}

function emptyHeap<T>(): Heap<Entry<T>> {
  return new Heap((one, other) => one.at < other.at || (one.at === other.at && one.order < other.order));
}
