import { parseExpression } from './parse-expressions.ts';
import { parsePatterns } from './parse-patterns.ts';
import { parseCount, parseLabel } from './parse-schema.ts';
import { SyntaxRefusal } from './refusal.ts';
import { type Deletion, type FetchObject, type FetchValue, REDUCERS, type Reduction, type Stage } from './syntax.ts';
import type { TokenStream } from './token-stream.ts';

/** The stages of a pipeline, until `isOver`. */
export function parseStages(stream: TokenStream, isOver: () => boolean): readonly Stage[] {
  const stages: Stage[] = [];
  do stages.push(parseStage(stream));
  while (!isOver());
  const fetches = stages.slice(0, -1).some((stage) => stage.stage === 'fetch');
  if (fetches) throw new SyntaxRefusal('Nothing can follow fetch');
  return stages;
}

function parseStage(stream: TokenStream): Stage {
  if (stream.accept('match')) return { stage: 'match', patterns: parsePatterns(stream) };
  if (stream.accept('insert')) return { stage: 'insert', patterns: parsePatterns(stream) };
  if (stream.accept('update')) return { stage: 'update', patterns: parsePatterns(stream) };
  if (stream.accept('delete')) return { stage: 'delete', deletions: parseDeletions(stream) };
  const stage = parseModifier(stream);
  stream.expect(';');
  return stage;
}

function parseModifier(stream: TokenStream): Stage {
  if (stream.accept('select')) return { stage: 'select', variables: stream.list(() => stream.variable()) };
  if (stream.accept('distinct')) return { stage: 'distinct' };
  if (stream.accept('sort')) return { stage: 'sort', keys: stream.list(() => parseSortKey(stream)) };
  if (stream.accept('offset')) return { stage: 'offset', count: parseCount(stream) };
  if (stream.accept('limit')) return { stage: 'limit', count: parseCount(stream) };
  if (stream.accept('reduce')) {
    const reductions = stream.list(() => parseReduction(stream));
    const groupBy = stream.accept('groupby') ? stream.list(() => stream.variable()) : [];
    return { stage: 'reduce', reductions, groupBy };
  }
  if (stream.accept('fetch')) return { stage: 'fetch', template: parseFetchObject(stream) };
  throw stream.unexpected('a stage of a query');
}

function parseSortKey(stream: TokenStream): { readonly variable: string; readonly descending: boolean } {
  const variable = stream.variable();
  const descending = stream.accept('desc');
  if (!descending) stream.accept('asc');
  return { variable, descending };
}

function parseReduction(stream: TokenStream): Reduction {
  const variable = stream.variable();
  stream.expect('=');
  const name = stream.word('count, sum, min, max or mean');
  const reducer = REDUCERS.find((candidate) => candidate === name);
  if (reducer === undefined) throw new SyntaxRefusal(`Reducer ${name} is not one of ${REDUCERS.join(', ')}`);
  const of = stream.accept('(') ? stream.variable() : undefined;
  if (of !== undefined) stream.expect(')');
  if (of === undefined && reducer !== 'count') throw stream.unexpected('"("');
  return { variable, reducer, of };
}

function parseDeletions(stream: TokenStream): readonly Deletion[] {
  const deletions: Deletion[] = [];
  while (stream.is('has') || stream.peek().type === 'variable') {
    deletions.push(parseDeletion(stream));
    stream.expect(';');
  }
  if (deletions.length === 0) throw stream.unexpected('a variable or has');
  return deletions;
}

function parseDeletion(stream: TokenStream): Deletion {
  if (!stream.accept('has')) return { what: 'instance', variable: stream.variable() };
  const attribute = stream.variable();
  stream.expect('of');
  return { what: 'has', attribute, owner: stream.variable() };
}

/** `{ "name": $n, "all": [$p.name], "everything": { $p.* }, "nested": { … }, "list": [ match …; fetch …; ] }` */
function parseFetchObject(stream: TokenStream): FetchObject {
  stream.expect('{');
  const entries = stream.list((): readonly [string, FetchValue] => {
    const token = stream.peek();
    if (token.type !== 'literal' || token.valueType !== 'string') throw stream.unexpected('a key in quotes');
    stream.take();
    stream.expect(':');
    return [String(token.value), parseFetchValue(stream)];
  });
  stream.expect('}');
  return { fetch: 'object', entries };
}

function parseFetchValue(stream: TokenStream): FetchValue {
  if (stream.is('{')) return parseBraces(stream);
  if (stream.accept('[')) {
    const value: FetchValue = stream.is('match')
      ? { fetch: 'query', stages: parseStages(stream, () => stream.is(']')) }
      : parseAttribute(stream, true);
    stream.expect(']');
    return value;
  }
  if (stream.peek().type === 'variable' && stream.is('.', 1)) return parseAttribute(stream, false);
  return { fetch: 'expression', expression: parseExpression(stream) };
}

function parseBraces(stream: TokenStream): FetchValue {
  if (stream.peek(1).type !== 'variable') return parseFetchObject(stream);
  stream.expect('{');
  const owner = stream.variable();
  stream.expect('.');
  stream.expect('*');
  stream.expect('}');
  return { fetch: 'everything', owner };
}

function parseAttribute(stream: TokenStream, all: boolean): FetchValue {
  const owner = stream.variable();
  stream.expect('.');
  return { fetch: 'attribute', owner, type: parseLabel(stream), all };
}
