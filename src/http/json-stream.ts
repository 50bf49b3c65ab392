import type { Pace } from '../base/pace.ts';

/** An answer that makes no sense. The message says what is wrong with it, and quotes nothing of it. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer';
}

export interface SplitOptions {
  /** The member of the top-level object whose elements are read one at a time; undefined if the text is itself an array. */
  readonly member?: string;
  /** Limit of the whole text, in bytes. */
  readonly maxBytes: number;
  /** Limit of one element, and of everything around the elements together, in bytes: each is parsed in one go. */
  readonly maxElementBytes: number;
  /** Limit of the number of elements: what is made of one may take many times its bytes. */
  readonly maxElements: number;
}

/** Makes something of an element, given as its bytes; `parseJson` checks that they are valid JSON. */
export type ReadElement<T> = (bytes: Uint8Array, index: number) => T;

export interface SplitJson<T> {
  /** The value without the elements: its array, if there is one, is empty. */
  readonly outer: unknown;
  readonly elements: readonly T[];
}

/** Bodies are scanned in pieces of this size, so that a huge chunk cannot hold the event loop. */
const PIECE_BYTES = 64 * 1024;

/**
 * Reads a JSON text whose bulk is one array, an element at a time, so that neither the text nor its tree is ever in memory
 * as a whole. Fails with BadAnswer, or with what `body` or `read` throw.
 */
export async function readSplitJson<T>(
  body: AsyncIterable<Uint8Array>,
  options: SplitOptions,
  pace: Pace,
  read: ReadElement<T>,
): Promise<SplitJson<T>> {
  const splitter = new JsonSplitter(options);
  const elements: T[] = [];
  for await (const chunk of body) {
    for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES) {
      for (const slice of splitter.push(chunk.subarray(start, start + PIECE_BYTES))) {
        elements.push(read(slice, elements.length));
        if (pace.due) await pace.rest();
      }
      if (pace.due) await pace.rest();
    }
  }
  const outer = parseJson(splitter.end());
  checkOuter(outer, options.member);
  return { outer, elements };
}

function checkOuter(outer: unknown, member: string | undefined): void {
  if (member === undefined) {
    // Some servers write an array without elements so.
    if (outer === null) return;
    if (!Array.isArray(outer) || outer.length > 0) throw new BadAnswer(`the answer is not an array${insteadOf(outer)}`);
    return;
  }
  if (typeof outer !== 'object' || outer === null || Array.isArray(outer))
    throw new BadAnswer('the answer is not an object');
  const array: unknown = Object.hasOwn(outer, member) ? Reflect.get(outer, member) : undefined;
  if (array === undefined || array === null) return;
  if (!Array.isArray(array) || array.length > 0) throw new BadAnswer(`${member} in the answer is not an array`);
}

/** Names under which many APIs wrap the array of a List. Other names are not reported, as they may be anything. */
const WRAPPERS = ['items', 'data', 'clusters', 'results', 'content', 'value'];

/** What is there instead of an array, worded to continue a sentence. */
function insteadOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `, but a ${typeof value}`;
  const wrapper = WRAPPERS.find((name) => Object.hasOwn(value, name));
  return `, but an object${wrapper === undefined ? '' : ` with "${wrapper}"`}`;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses one JSON value. Invalid UTF-8 is refused: a name with replaced letters would be another name. `exactIntegers`: integers
 * that a number cannot hold exactly become bigints.
 */
export function parseJson(bytes: Uint8Array, exactIntegers = false): unknown {
  const text = decodeUtf8(bytes);
  try {
    return exactIntegers && LONG_DIGITS.test(text) ? JSON.parse(text, toExactInteger) : JSON.parse(text);
  } catch {
    throw new BadAnswer(text.trim() === '' ? 'the answer is empty' : 'the answer is not valid JSON');
  }
}

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    refusePacked(bytes);
    throw new BadAnswer('the answer is not valid UTF-8');
  }
}

/** For an answer without that label: no text begins with these bytes. */
export function refusePacked(bytes: Uint8Array): void {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    throw new BadAnswer('the answer is gzip-encoded, though identity was asked for');
}

/** Without these no integer is too long; the reviver is slow, and few texts need it. */
const LONG_DIGITS = /\d{16}/;

function toExactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** No honest answer is nested deeper, and code that walks through it would break. */
const MAX_DEPTH = 512;
const MAX_KEY_BYTES = 1024;

/**
 * Splits a JSON text by its brackets, commas and strings only; whether each part is valid JSON is for `JSON.parse` to say. Bytes
 * of multi-byte characters never equal those marks, so chunks may end anywhere.
 */
export class JsonSplitter {
  readonly #member: string | undefined;
  readonly #limits: SplitOptions;
  #bytes = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The depth of the wanted array's elements, while inside it. */
  #arrayDepth: number | undefined;
  #arraySeen = false;
  /** The last string of the top-level object that may be a key. */
  #key: number[] | undefined;
  #keyComplete = false;
  /** An array that begins next is the wanted one. */
  #awaitsArray = false;
  #element: Uint8Array[] = [];
  #elementBytes = 0;
  #elementsSeen = 0;
  #outer: Uint8Array[] = [];
  #outerBytes = 0;

  constructor(options: SplitOptions) {
    this.#member = options.member;
    this.#limits = options;
    this.#awaitsArray = options.member === undefined;
  }

  /** Returns the elements that this chunk completes, each as its bytes. The chunk must not change afterwards. */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#bytes += chunk.byteLength;
    if (this.#bytes > this.#limits.maxBytes) throw tooLarge('the answer', this.#limits.maxBytes);
    const elements: Uint8Array[] = [];
    let start = 0;
    let index = this.#inString ? this.#passString(chunk, 0, this.#escaped) : 0;
    while (index < chunk.length) {
      if (this.#arrayDepth === undefined) {
        if (this.#mark(chunk[index] ?? 0)) {
          this.#collectOuter(chunk.subarray(start, index + 1));
          start = index + 1;
        }
        index = this.#inString ? this.#passString(chunk, index + 1) : index + 1;
        continue;
      }
      index = this.#passElement(chunk, index);
      if (index >= chunk.length) break;
      const end = chunk[index] ?? 0;
      this.#finishElement(elements, chunk.subarray(start, index), end);
      // The comma between two elements belongs to neither, the closing bracket to what is around them.
      start = end === COMMA ? index + 1 : index;
      if (end === CLOSE_ARRAY) this.#leave();
      index++;
    }
    this.#collect(chunk.subarray(start));
    return elements;
  }

  /** Returns what is around the elements, once the whole text has been pushed. */
  end(): Uint8Array {
    if (this.#inString || this.#depth > 0) throw new BadAnswer('the answer ends too early');
    return Buffer.concat(this.#outer);
  }

  /** Skips from within an element to the mark that ends it, or past the chunk. Most bytes pass here: it does no more than it must. */
  #passElement(chunk: Uint8Array, start: number): number {
    const arrayDepth = this.#arrayDepth;
    let depth = this.#depth;
    let index = start;
    for (; index < chunk.length; index++) {
      const byte = chunk[index];
      if (byte === QUOTE) {
        index = this.#passString(chunk, index + 1) - 1;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (++depth > MAX_DEPTH) throw tooDeep();
      } else if (byte === COMMA) {
        if (depth === arrayDepth) break;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (depth === arrayDepth && byte === CLOSE_OBJECT) throw new BadAnswer('the answer is not valid JSON');
        if (depth === arrayDepth) break;
        depth--;
      }
    }
    this.#depth = depth;
    return index;
  }

  /** Skips from within a string past its end, or past the chunk. `escaped`: its next byte is escaped. */
  #passString(chunk: Uint8Array, start: number, escaped = false): number {
    let index = escaped ? start + 1 : start;
    while (index < chunk.length && chunk[index] !== QUOTE) index += chunk[index] === BACKSLASH ? 2 : 1;
    this.#inString = index >= chunk.length;
    this.#escaped = index > chunk.length;
    if (this.#key !== undefined) {
      this.#key.push(...chunk.subarray(start, Math.min(index, start + MAX_KEY_BYTES - this.#key.length)));
      this.#keyComplete = !this.#inString;
    }
    return index + 1;
  }

  /** Takes a byte outside strings and elements. Returns whether the wanted array begins. */
  #mark(byte: number): boolean {
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#key = this.#depth === 1 ? [] : undefined;
        this.#keyComplete = false;
        this.#awaitsArray = false;
        return false;
      case COLON:
        this.#awaitsArray = this.#depth === 1 && this.#keyComplete && this.#isMember();
        return false;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        return this.#enter(byte);
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        this.#leave();
        return false;
      case COMMA:
        this.#awaitsArray = false;
        this.#keyComplete = false;
        return false;
      default:
        // White space, or the byte order mark that some servers begin with.
        if (byte > 0x20 && byte < 0x80) this.#awaitsArray = false;
        return false;
    }
  }

  #isMember(): boolean {
    if (this.#member === undefined || this.#key === undefined) return false;
    if (this.#key.length >= MAX_KEY_BYTES) return false;
    return parseJson(Uint8Array.from([QUOTE, ...this.#key, QUOTE])) === this.#member;
  }

  #enter(byte: number): boolean {
    this.#depth++;
    if (this.#depth > MAX_DEPTH) throw tooDeep();
    const begins = this.#awaitsArray && byte === OPEN_ARRAY;
    this.#awaitsArray = false;
    if (!begins) return false;
    if (this.#arraySeen) throw new BadAnswer(`the answer holds ${this.#member ?? 'its array'} twice`);
    this.#arraySeen = true;
    this.#arrayDepth = this.#depth;
    this.#key = undefined;
    return true;
  }

  #leave(): void {
    if (this.#arrayDepth === this.#depth) this.#arrayDepth = undefined;
    this.#depth--;
    if (this.#depth < 0) throw new BadAnswer('the answer is not valid JSON');
  }

  /** `rest`: the part of the element that is not collected yet. */
  #finishElement(elements: Uint8Array[], rest: Uint8Array, end: number): void {
    const bytes = this.#element.length === 0 ? rest : Buffer.concat([...this.#element, rest]);
    if (bytes.length > this.#limits.maxElementBytes) throw this.#elementTooLarge();
    this.#element = [];
    this.#elementBytes = 0;
    // Only `[]` may hold nothing between its marks.
    if (end === CLOSE_ARRAY && this.#elementsSeen === 0 && isBlank(bytes)) return;
    if (++this.#elementsSeen > this.#limits.maxElements)
      throw new BadAnswer(`the answer has more than ${this.#limits.maxElements} elements`);
    elements.push(bytes);
  }

  #collect(bytes: Uint8Array): void {
    if (this.#arrayDepth === undefined) {
      this.#collectOuter(bytes);
      return;
    }
    if (bytes.length === 0) return;
    this.#elementBytes += bytes.length;
    if (this.#elementBytes > this.#limits.maxElementBytes) throw this.#elementTooLarge();
    this.#element.push(bytes);
  }

  #elementTooLarge(): BadAnswer {
    return tooLarge('one element of the answer', this.#limits.maxElementBytes);
  }

  #collectOuter(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#outerBytes += bytes.length;
    if (this.#outerBytes > this.#limits.maxElementBytes) throw tooLarge('the answer', this.#limits.maxElementBytes);
    this.#outer.push(bytes);
  }
}

function tooLarge(what: string, maxBytes: number): BadAnswer {
  return new BadAnswer(`${what} is larger than ${maxBytes} bytes`);
}

function tooDeep(): BadAnswer {
  return new BadAnswer('the answer is nested too deeply');
}

/** Reports whether it holds nothing but white space, if anything. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}
