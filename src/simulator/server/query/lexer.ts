import { SyntaxRefusal } from './refusal.ts';
import type { ValueType } from './schema.ts';

export type Token =
  /** Keywords, labels and function names. */
  | { readonly type: 'word'; readonly text: string; readonly at: number }
  /** Without the dollar sign. */
  | { readonly type: 'variable'; readonly text: string; readonly at: number }
  /** With the at sign. */
  | { readonly type: 'annotation'; readonly text: string; readonly at: number }
  | { readonly type: 'iid'; readonly text: string; readonly at: number }
  | { readonly type: 'symbol'; readonly text: string; readonly at: number }
  | {
      readonly type: 'literal';
      readonly text: string;
      readonly at: number;
      readonly valueType: ValueType;
      readonly value: string | number | boolean;
    }
  | { readonly type: 'end'; readonly text: ''; readonly at: number };

const NAME = String.raw`[\p{XID_Start}_][\p{XID_Continue}-]*`;
const TIME = String.raw`T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?`;
const ZONE = String.raw`(?: ?(?:Z|[+-]\d\d:?\d\d)| [A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)*)`;

/** The first rule that matches applies. */
const RULES: readonly (readonly [Kind, RegExp])[] = [
  ['space', /(?:[ \t\r\n]|#[^\n]*)+/uy],
  ['datetime-tz', new RegExp(String.raw`\d{4}-\d\d-\d\d${TIME}${ZONE}`, 'uy')],
  ['datetime', new RegExp(String.raw`\d{4}-\d\d-\d\d${TIME}`, 'uy')],
  ['date', /\d{4}-\d\d-\d\d/uy],
  ['iid', /0x[0-9a-fA-F]+/uy],
  ['double', /\d+\.\d+(?:[eE][+-]?\d+)?/uy],
  ['integer', /\d+/uy],
  ['string', /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/suy],
  ['variable', new RegExp(String.raw`\$${NAME}`, 'uy')],
  ['annotation', new RegExp(`@${NAME}`, 'uy')],
  ['word', new RegExp(NAME, 'uy')],
  ['symbol', /==|!=|<=|>=|->|\.\.|[;,(){}[\]:=<>.*+/?-]/uy],
];

type Kind = 'space' | 'iid' | 'variable' | 'annotation' | 'word' | 'symbol' | ValueType;

export function tokenize(query: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < query.length) {
    const [kind, text] = nextOf(query, at);
    if (kind !== 'space') tokens.push(tokenOf(kind, text, at));
    at += text.length;
  }
  tokens.push({ type: 'end', text: '', at });
  return tokens;
}

function nextOf(query: string, at: number): readonly [Kind, string] {
  for (const [kind, pattern] of RULES) {
    pattern.lastIndex = at;
    const text = pattern.exec(query)?.[0];
    if (text !== undefined) return [kind, text];
  }
  throw new SyntaxRefusal(`Cannot read ${JSON.stringify(query.slice(at, at + 10))} at ${positionOf(query, at)}`);
}

function tokenOf(kind: Exclude<Kind, 'space'>, text: string, at: number): Token {
  switch (kind) {
    case 'variable':
      return { type: 'variable', text: text.slice(1), at };
    case 'word':
      return text === 'true' || text === 'false'
        ? { type: 'literal', text, at, valueType: 'boolean', value: text === 'true' }
        : { type: 'word', text, at };
    case 'annotation':
    case 'iid':
    case 'symbol':
      return { type: kind, text, at };
    case 'integer':
    case 'double':
      return { type: 'literal', text, at, valueType: kind, value: Number(text) };
    case 'string':
      return { type: 'literal', text, at, valueType: kind, value: unquote(text) };
    default:
      return { type: 'literal', text, at, valueType: kind, value: text };
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(/\\(.)/gsu, (_, character: string) => ESCAPES[character] ?? character);
}

/** Line and column, from 1, for people. */
export function positionOf(query: string, at: number): string {
  const before = query.slice(0, at).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
