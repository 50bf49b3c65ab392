/** Who was refused when last asked. */
interface Mark {
  /** How often anybody had been let through by then. */
  readonly through: number;
  /** Others were let through since. */
  isOwn: boolean;
}

/**
 * `own`: others are let through all the while; `same`: this operation of the party was refused before, and nobody was let through
 * since; `again`: so was another one of the party; `new`: nothing is known of it.
 */
export type Refusal = 'own' | 'same' | 'again' | 'new';

/** All operations of a party. */
const ALL = '';

/**
 * Tells a limit on all from what is the affair of one party, of one operation, or of one party's operation: that is refused again
 * and again, never let through in between, while others are.
 */
export class OwnTrouble {
  readonly #ofParties = new WeakMap<object, Map<string, Mark>>();
  readonly #ofOperations = new Map<string, Mark>();
  #through = 0;

  letThrough(party: object, operation: string): void {
    this.#through++;
    this.#ofOperations.delete(operation);
    const ofParty = this.#ofParties.get(party);
    ofParty?.delete(ALL);
    ofParty?.delete(operation);
  }

  /** `isNews`: it was sent when all that was known before had been heeded. */
  refused(party: object, operation: string, isNews: boolean): Refusal {
    const ofParty = this.#ofParties.get(party) ?? new Map<string, Mark>();
    this.#ofParties.set(party, ofParty);
    const known = ofParty.has(operation) ? 'same' : ofParty.has(ALL) ? 'again' : 'new';
    const places = [
      [ofParty, ALL],
      [ofParty, operation],
      [this.#ofOperations, operation],
    ] as const;
    let isOwn = false;
    for (const [marks, key] of places) {
      const mark = marks.get(key);
      if (mark === undefined) continue;
      mark.isOwn ||= isNews && mark.through < this.#through;
      isOwn ||= mark.isOwn;
    }
    if (isOwn) return 'own';
    for (const [marks, key] of places) if (!marks.has(key)) marks.set(key, { through: this.#through, isOwn: false });
    return known;
  }
}
