import { SyntaxRefusal } from './refusal.ts';
import { type Annotations, KINDS, type Kind, VALUE_TYPES } from './schema.ts';
import type { Clause, Definition, Undefinition } from './syntax.ts';
import type { TokenStream } from './token-stream.ts';

/** Words that cannot be names of types: they would be read as something else. */
const RESERVED = new Set([
  ...['define', 'undefine', 'redefine', 'match', 'insert', 'delete', 'update', 'put', 'select', 'distinct', 'sort'],
  ...['offset', 'limit', 'reduce', 'fetch', 'given', 'not', 'or', 'try', 'let', 'isa', 'has', 'links', 'sub', 'owns'],
  ...['plays', 'relates', 'value', 'label', 'iid', 'fun', 'return', 'from', 'of', 'entity', 'relation', 'attribute'],
]);

export function parseDefinitions(stream: TokenStream): readonly Definition[] {
  const definitions: Definition[] = [];
  while (stream.peek().type !== 'end') {
    definitions.push(stream.is('fun') ? parseFunction(stream) : parseType(stream));
  }
  return definitions;
}

function parseType(stream: TokenStream): Definition {
  const kind = acceptKind(stream);
  const label = parseLabel(stream);
  const annotations = parseAnnotations(stream, ['@abstract']);
  const clauses: Clause[] = [];
  // The comma before the first clause may be left out.
  stream.accept(',');
  while (!stream.is(';')) {
    clauses.push(parseClause(stream));
    if (!stream.accept(',')) break;
  }
  stream.expect(';');
  return { what: 'type', kind, label, annotations, clauses };
}

function acceptKind(stream: TokenStream): Kind | undefined {
  return KINDS.find((kind) => stream.accept(kind));
}

function parseClause(stream: TokenStream): Clause {
  if (stream.accept('sub')) return { clause: 'sub', label: parseLabel(stream) };
  if (stream.accept('value')) {
    const name = stream.word('a value type');
    const valueType = VALUE_TYPES.find((candidate) => candidate === name);
    if (valueType === undefined) {
      throw new SyntaxRefusal(`Value type ${name} is not one of ${VALUE_TYPES.join(', ')}`);
    }
    return { clause: 'value', valueType };
  }
  if (stream.accept('owns')) {
    const label = parseLabel(stream);
    return { clause: 'owns', label, annotations: parseAnnotations(stream, ['@key', '@unique', '@card']) };
  }
  if (stream.accept('plays')) {
    return { clause: 'plays', label: parseScopedLabel(stream), annotations: parseAnnotations(stream, ['@card']) };
  }
  if (stream.accept('relates')) {
    return {
      clause: 'relates',
      label: parseLabel(stream),
      annotations: parseAnnotations(stream, ['@card', '@abstract']),
    };
  }
  throw stream.unexpected('sub, value, owns, plays or relates');
}

/** Annotations as in the schema text: `@key`, `@card(0..1)`. */
function parseAnnotations(stream: TokenStream, allowed: readonly string[]): Annotations {
  const annotations: string[] = [];
  for (let token = stream.peek(); token.type === 'annotation'; token = stream.peek()) {
    if (!allowed.includes(token.text)) throw new SyntaxRefusal(`Annotation ${token.text} is not understood here`);
    stream.take();
    annotations.push(token.text === '@card' ? parseCard(stream) : token.text);
  }
  return annotations;
}

function parseCard(stream: TokenStream): string {
  stream.expect('(');
  const min = parseCount(stream);
  stream.expect('..');
  const max = stream.is(')') ? '' : String(parseCount(stream));
  stream.expect(')');
  return `@card(${min}..${max})`;
}

export function parseCount(stream: TokenStream): number {
  const token = stream.peek();
  if (token.type !== 'literal' || token.valueType !== 'integer') throw stream.unexpected('a number');
  stream.take();
  return Number(token.value);
}

export function parseLabel(stream: TokenStream): string {
  const label = stream.word('a name');
  if (RESERVED.has(label)) throw new SyntaxRefusal(`${label} is a keyword, not a name`);
  return label;
}

/** `relation:role` */
function parseScopedLabel(stream: TokenStream): string {
  const relation = parseLabel(stream);
  stream.expect(':');
  return `${relation}:${parseLabel(stream)}`;
}

/** Kept as text, up to the end of its return clause; never called. */
function parseFunction(stream: TokenStream): Definition {
  const start = stream.take();
  const name = parseLabel(stream);
  while (!stream.is('return')) {
    if (stream.take().type === 'end') throw stream.unexpected('the return clause of the function');
  }
  while (!stream.is(';')) {
    if (stream.take().type === 'end') throw stream.unexpected('";"');
  }
  stream.expect(';');
  return { what: 'function', name, text: stream.textSince(start) };
}

export function parseUndefinitions(stream: TokenStream): readonly Undefinition[] {
  const undefinitions: Undefinition[] = [];
  while (stream.peek().type !== 'end') {
    undefinitions.push(parseUndefinition(stream));
    stream.expect(';');
  }
  return undefinitions;
}

function parseUndefinition(stream: TokenStream): Undefinition {
  if (stream.accept('fun')) return { what: 'function', name: parseLabel(stream) };
  for (const capability of ['owns', 'plays', 'relates'] as const) {
    if (!stream.accept(capability)) continue;
    const label = capability === 'plays' ? parseScopedLabel(stream) : parseLabel(stream);
    stream.expect('from');
    return { what: 'capability', capability, label, from: parseLabel(stream) };
  }
  return { what: 'type', label: parseLabel(stream) };
}
