import { acceptComparator, parseExpression } from './parse-expressions.ts';
import { parseLabel } from './parse-schema.ts';
import { KINDS } from './schema.ts';
import type { Pattern, Reference, Role } from './syntax.ts';
import type { TokenStream } from './token-stream.ts';

/** Statements up to the next stage, the closing brace or the end. Each ends with a semicolon. */
export function parsePatterns(stream: TokenStream): readonly Pattern[] {
  const patterns: Pattern[] = [];
  while (startsPattern(stream)) {
    patterns.push(...parseStatement(stream));
    stream.expect(';');
  }
  if (patterns.length === 0) throw stream.unexpected('a statement');
  return patterns;
}

/** Words that follow a reference to a type. */
const AFTER_LABEL = ['owns', 'plays', 'relates', 'sub'];

function startsPattern(stream: TokenStream): boolean {
  const token = stream.peek();
  if (token.type === 'variable' || token.type === 'literal') return true;
  if (token.type === 'symbol') return token.text === '{' || token.text === '(' || token.text === '-';
  if (token.type !== 'word') return false;
  const words: readonly string[] = [...KINDS, 'not', 'try', 'let'];
  return words.includes(token.text) || AFTER_LABEL.some((word) => stream.is(word, 1));
}

function parseStatement(stream: TokenStream): readonly Pattern[] {
  for (const word of ['not', 'try'] as const) {
    if (stream.accept(word)) return [{ pattern: word, patterns: parseBlock(stream) }];
  }
  if (stream.is('{')) {
    const branches = [parseBlock(stream)];
    while (stream.accept('or')) branches.push(parseBlock(stream));
    return [{ pattern: 'or', branches }];
  }
  if (stream.accept('let')) {
    const variable = stream.variable();
    stream.expect('=');
    return [{ pattern: 'let', variable, expression: parseExpression(stream) }];
  }
  const kind = KINDS.find((candidate) => stream.accept(candidate));
  if (kind !== undefined) {
    const variable = stream.variable();
    return [{ pattern: 'kind', variable, kind }, ...parseTypeConstraints(stream, { variable }, stream.accept(','))];
  }
  if (stream.peek().type === 'word') return parseTypeConstraints(stream, { label: parseLabel(stream) }, true);
  return isComparison(stream) ? [parseComparison(stream)] : parseSubject(stream);
}

function parseBlock(stream: TokenStream): readonly Pattern[] {
  stream.expect('{');
  const patterns = parsePatterns(stream);
  stream.expect('}');
  return patterns;
}

const CONSTRAINTS = ['isa', 'iid', 'has', 'links', 'sub', 'owns', 'plays', 'relates', 'label'];

function isComparison(stream: TokenStream): boolean {
  return stream.peek().type !== 'variable' || !CONSTRAINTS.some((word) => stream.is(word, 1));
}

function parseComparison(stream: TokenStream): Pattern {
  const left = parseExpression(stream);
  const comparator = acceptComparator(stream);
  if (comparator === undefined) throw stream.unexpected('isa, has, links, a comparison or another constraint');
  return { pattern: 'compare', left, comparator, right: parseExpression(stream) };
}

/** `$x isa person, has name $n, …` */
function parseSubject(stream: TokenStream): readonly Pattern[] {
  const variable = stream.variable();
  const patterns: Pattern[] = [];
  do {
    if (AFTER_LABEL.some((word) => stream.is(word)) || stream.is('label')) {
      patterns.push(...parseTypeConstraints(stream, { variable }, true));
    } else patterns.push(...parseConstraint(stream, variable));
  } while (stream.accept(','));
  return patterns;
}

function parseConstraint(stream: TokenStream, variable: string): readonly Pattern[] {
  if (stream.accept('isa')) {
    const isa: Pattern = { pattern: 'isa', variable, type: parseReference(stream) };
    return stream.is('(') ? [isa, { pattern: 'links', relation: variable, players: parseRoles(stream) }] : [isa];
  }
  if (stream.accept('iid')) {
    const token = stream.peek();
    if (token.type !== 'iid') throw stream.unexpected('an iid');
    stream.take();
    return [{ pattern: 'iid', variable, iid: token.text.toLowerCase() }];
  }
  if (stream.accept('links')) return [{ pattern: 'links', relation: variable, players: parseRoles(stream) }];
  stream.expect('has');
  return [parseHas(stream, variable)];
}

function parseHas(stream: TokenStream, owner: string): Pattern {
  if (stream.peek().type === 'variable') {
    return { pattern: 'has', owner, type: undefined, value: { variable: stream.variable() } };
  }
  const type = parseLabel(stream);
  const comparator = acceptComparator(stream);
  if (comparator === undefined && stream.peek().type === 'variable') {
    return { pattern: 'has', owner, type, value: { variable: stream.variable() } };
  }
  return { pattern: 'has', owner, type, value: { comparator: comparator ?? '==', operand: parseExpression(stream) } };
}

function parseRoles(stream: TokenStream): readonly Role[] {
  stream.expect('(');
  const roles = stream.list((): Role => {
    if (stream.peek().type === 'variable') return { role: undefined, player: stream.variable() };
    const role = parseLabel(stream);
    stream.expect(':');
    return { role, player: stream.variable() };
  });
  stream.expect(')');
  return roles;
}

/** `$t sub person, owns $a`, `employment relates $role`; none if `some` is false. */
function parseTypeConstraints(stream: TokenStream, subject: Reference, some: boolean): readonly Pattern[] {
  if (!some) return [];
  const patterns: Pattern[] = [];
  do patterns.push(parseTypeConstraint(stream, subject));
  while (stream.accept(','));
  return patterns;
}

function parseTypeConstraint(stream: TokenStream, subject: Reference): Pattern {
  if ('variable' in subject && stream.accept('label')) {
    return { pattern: 'label', variable: subject.variable, label: parseLabel(stream) };
  }
  for (const word of ['sub', 'owns', 'plays', 'relates'] as const) {
    if (stream.accept(word)) return { pattern: word, subject, object: parseReference(stream) };
  }
  throw stream.unexpected('label, sub, owns, plays or relates');
}

/** A variable, a label, or `relation:role`. */
function parseReference(stream: TokenStream): Reference {
  if (stream.peek().type === 'variable') return { variable: stream.variable() };
  const label = parseLabel(stream);
  return { label: stream.accept(':') ? `${label}:${parseLabel(stream)}` : label };
}
