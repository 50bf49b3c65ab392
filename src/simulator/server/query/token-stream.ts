import { positionOf, type Token, tokenize } from './lexer.ts';
import { SyntaxRefusal } from './refusal.ts';

/** The tokens of one query, read from left to right. */
export class TokenStream {
  readonly #query: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #anonymous = 0;

  constructor(query: string) {
    this.#query = query;
    this.#tokens = tokenize(query);
  }

  peek(ahead = 0): Token {
    const last = this.#tokens.length - 1;
    const token = this.#tokens[Math.min(this.#next + ahead, last)];
    if (token === undefined) throw new Error('A query has at least its end');
    return token;
  }

  take(): Token {
    const token = this.peek();
    this.#next += 1;
    return token;
  }

  /** Reports whether a keyword or symbol comes next. */
  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return (token.type === 'word' || token.type === 'symbol') && token.text === text;
  }

  /** Takes the keyword or symbol if it comes next. */
  accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.#next += 1;
    return true;
  }

  expect(text: string): void {
    if (!this.accept(text)) throw this.unexpected(JSON.stringify(text));
  }

  word(what: string): string {
    const token = this.peek();
    if (token.type !== 'word') throw this.unexpected(what);
    this.#next += 1;
    return token.text;
  }

  /** Takes a variable and returns its name; each `$_` is a separate variable whose name no answer shows. */
  variable(): string {
    const token = this.peek();
    if (token.type !== 'variable') throw this.unexpected('a variable');
    this.#next += 1;
    return token.text === '_' ? this.anonymous() : token.text;
  }

  anonymous(): string {
    this.#anonymous += 1;
    return ` ${this.#anonymous}`;
  }

  /** Takes one or more items, separated by commas. */
  list<T>(item: () => T): readonly T[] {
    const items = [item()];
    while (this.accept(',')) items.push(item());
    return items;
  }

  /** The text from `start` to the current position. */
  textSince(start: Token): string {
    const end = this.#tokens[this.#next - 1] ?? start;
    const length = end.type === 'variable' ? end.text.length + 1 : end.text.length;
    return this.#query.slice(start.at, end.at + length);
  }

  unexpected(wanted: string): SyntaxRefusal {
    const token = this.peek();
    const found = token.type === 'end' ? 'the end' : JSON.stringify(token.text);
    return new SyntaxRefusal(`Expected ${wanted} but found ${found} at ${positionOf(this.#query, token.at)}`);
  }
}

/** Reports whether answers leave out the variable. */
export const isAnonymous = (variable: string): boolean => variable.startsWith(' ');
