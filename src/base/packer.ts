/** A text as `Packer` keeps it. */
export interface Packed {
  /** The pieces of the text that it was compared with. */
  readonly like: readonly string[];
  /** Which pieces differ from those, each after its number. */
  readonly unlike: string;
}

/** Between pieces. JSON has one on either side of each name and each text. */
const QUOTE = '"';

/**
 * Keeps JSON texts that resemble one another, such as the objects of one kind, as what sets each apart from a model: the
 * first one that had as many pieces between quotation marks. Objects of 2 KB take some 500 bytes so, and one string each.
 */
export class Packer {
  /** By their number of pieces. */
  readonly #models = new Map<number, readonly string[]>();

  pack(text: string): Packed {
    const pieces = text.split(QUOTE);
    const like = this.#models.get(pieces.length);
    if (like !== undefined) return { like, unlike: differences(pieces, like) };
    this.#models.set(pieces.length, pieces);
    return { like: pieces, unlike: '' };
  }

  unpack({ like, unlike }: Packed): string {
    if (unlike === '') return like.join(QUOTE);
    const pieces = [...like];
    const numbered = unlike.split(QUOTE);
    for (let index = 0; index < numbered.length; index += 2)
      pieces[Number(numbered[index])] = numbered[index + 1] ?? '';
    return pieces.join(QUOTE);
  }
}

function differences(pieces: readonly string[], like: readonly string[]): string {
  return pieces.flatMap((piece, index) => (piece === like[index] ? [] : [index, piece])).join(QUOTE);
}
