/** A text as `Packer` keeps it: the number of its model, then each piece that differs from it, after its own number; or all of it. */
export type Packed = string;

/** Separates the pieces. JSON has one on either side of each name and each text. */
const QUOTE = '"';
/** Models stay for good, so users must not be able to make any number of them. Few kinds of objects have more shapes. */
const MAX_MODELS = 500;
const MAX_PIECES = 2_000;
/** For the same reason: a model keeps the text that it was made of. */
const MAX_MODEL_LENGTH = 16_384;
/** In place of a model's number: the text follows as it is. */
const WHOLE = '-1';

/** The pieces of the first text that had that many. */
interface Model {
  readonly pieces: readonly string[];
  /** For each piece, the nearest equal one before it, or itself: a text that has another name there has it here, too. */
  readonly sameAs: readonly number[];
}

/**
 * Keeps JSON texts that resemble one another, such as the objects of one kind, as their differences from a model: the first text
 * with as many pieces between quotation marks. Objects of 2 KB then take some 400 bytes, and one string each. In one Packer,
 * equal texts have equal `Packed` values, and different texts have different ones.
 */
export class Packer {
  readonly #models: Model[] = [];
  /** The number of the model, by the number of pieces. */
  readonly #numbers = new Map<number, number>();

  pack(text: string): Packed {
    const pieces = text.split(QUOTE);
    const known = this.#numbers.get(pieces.length);
    const becomesModel = this.#models.length < MAX_MODELS && text.length <= MAX_MODEL_LENGTH;
    if (pieces.length > MAX_PIECES || (known === undefined && !becomesModel)) return `${WHOLE}${QUOTE}${text}`;
    const number = known ?? this.#models.push({ pieces, sameAs: nearestSame(pieces) }) - 1;
    if (known === undefined) this.#numbers.set(pieces.length, number);
    const model = this.#models[number];
    // Joined at the end: a string built piece by piece keeps all pieces alive, and each of these the whole text.
    const packed: (string | number)[] = [number];
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index] ?? '';
      if (piece !== usual(model, pieces, index)) packed.push(index, piece);
    }
    return packed.join(QUOTE);
  }

  unpack(packed: Packed): string {
    if (packed.startsWith(WHOLE)) return packed.slice(WHOLE.length + QUOTE.length);
    const [number, ...numbered] = packed.split(QUOTE);
    const model = this.#models[Number(number)];
    const pieces = [...(model?.pieces ?? [])];
    for (let index = 0, at = 0; index < pieces.length; index++) {
      const differs = at < numbered.length && Number(numbered[at]) === index;
      pieces[index] = differs ? (numbered[at + 1] ?? '') : usual(model, pieces, index);
      if (differs) at += 2;
    }
    return pieces.join(QUOTE);
  }
}

function nearestSame(pieces: readonly string[]): readonly number[] {
  const last = new Map<string, number>();
  return pieces.map((piece, index) => {
    const before = last.get(piece) ?? index;
    last.set(piece, index);
    return before;
  });
}

/** The piece that need not be stored: the text's own earlier piece if the model repeats one here, otherwise the model's. */
function usual(model: Model | undefined, pieces: readonly string[], index: number): string {
  const before = model?.sameAs[index] ?? index;
  return (before < index ? pieces[before] : model?.pieces[index]) ?? '';
}
