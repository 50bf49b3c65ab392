/** Marks who was refused when last asked. */
interface Mark {
  /** How often anybody had been let through by then. */
  readonly through: number;
  /** Whether others have been let through since. */
  isOwn: boolean;
}

/**
 * `own`: others are let through all the while. `same`: this operation of the party was refused before, and nobody was let through
 * since. `again`: so was another one of the party. `new`: none of the party was.
 */
export type Refusal = 'own' | 'same' | 'again' | 'new';

/** All operations of a party. */
const ALL = '';

/**
 * Tells a limit on everybody from the trouble of one party, one operation, or one party's operation: those are refused again and
 * again, and never let through in between, while others are.
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

  /** `isNews`: the request was sent after everything known before had been heeded. */
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
