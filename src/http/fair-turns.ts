import { Heap } from '../base/collections/heap.ts';

interface Place<T> {
  readonly item: T;
  readonly party: object;
  readonly round: number;
  /** Within a round, first come, first served. */
  readonly order: number;
}

interface Party {
  /** The round of its last item. */
  round: number;
  waiting: number;
}

/**
 * A queue in which several parties get equally many turns: start-time fair queuing (Goyal, Vin and Cheng, 1996). Each item is in
 * the round after its party's last one, but in none that is over, and rounds go one after the other. So a party with many items
 * waiting gets no more turns than one that adds a new item whenever its last one went. In a FairQueue such a new item
 * comes after one of every other party.
 */
export class FairTurns<T> {
  readonly #parties = new Map<object, Party>();
  #heap = emptyHeap<T>();
  /** Those in the heap that still wait. */
  readonly #places = new Map<T, Place<T>>();
  #round = 0;
  #order = 0;

  /** The number of waiting items. */
  get size(): number {
    return this.#places.size;
  }

  /** The number of parties whose round is remembered. */
  get parties(): number {
    return this.#parties.size;
  }

  /** How many turns come before that of the party's next item, if nobody else comes. */
  turnsBefore(party: object): number {
    const others = [...this.#parties].filter(([other, { waiting }]) => other !== party && waiting > 0).length;
    const own = this.#parties.get(party)?.waiting ?? 0;
    return Math.min(this.size, own * (others + 1) + others);
  }

  add(item: T, party: object): void {
    const known = this.#parties.get(party) ?? { round: -1, waiting: 0 };
    known.round = Math.max(this.#round, known.round + 1);
    known.waiting++;
    this.#parties.set(party, known);
    const place = { item, party, round: known.round, order: this.#order++ };
    this.#places.set(item, place);
    this.#heap.push(place);
  }

  /** Takes the item whose turn it is; undefined if none waits. */
  take(): T | undefined {
    for (let place = this.#heap.pop(); place !== undefined; place = this.#heap.pop()) {
      if (this.#places.get(place.item) !== place) continue;
      if (place.round > this.#round) this.#begin(place.round);
      this.delete(place.item);
      return place.item;
    }
    return undefined;
  }

  /** Begins a round. A party that had turns only in earlier rounds and has nothing waiting counts as new. */
  #begin(round: number): void {
    this.#round = round;
    for (const [party, { waiting, round: last }] of this.#parties)
      if (waiting === 0 && last < round) this.#parties.delete(party);
  }

  /** Removes a waiting item. */
  delete(item: T): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const party = this.#parties.get(place.party);
    if (party !== undefined) party.waiting--;
    if (this.#places.size > 0) return;
    // Past turns count only among parties that wait together.
    this.#parties.clear();
    this.#heap = emptyHeap();
    this.#round = 0;
  }
}

function emptyHeap<T>(): Heap<Place<T>> {
  return new Heap((one, other) => one.round < other.round || (one.round === other.round && one.order < other.order));
}
