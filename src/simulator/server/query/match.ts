import { bind, type Concept, type Row } from './concepts.ts';
import type { Thing } from './data.ts';
import { compares, evaluate, variablesOf } from './expressions.ts';
import { attributesOfData, type Graph, instancesOf, requireType } from './graph.ts';
import { matchTypes } from './match-types.ts';
import { impossible } from './refusal.ts';
import { isKindOf, kindOf, lineage } from './schema-lookup.ts';
import type { Pattern, Role } from './syntax.ts';

/** All ways to fulfil the patterns, starting from this row. The cheapest pattern is tried first. */
export function* solve(graph: Graph, patterns: readonly Pattern[], row: Row): Generator<Row> {
  if (patterns.length === 0) {
    yield row;
    return;
  }
  const next = cheapest(patterns, row);
  const others = patterns.filter((pattern) => pattern !== next);
  for (const extended of expand(graph, next, row)) yield* solve(graph, others, extended);
}

function cheapest(patterns: readonly Pattern[], row: Row): Pattern {
  let best: Pattern | undefined;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const pattern of patterns) {
    const cost = costOf(pattern, row);
    if (cost < bestCost) {
      best = pattern;
      bestCost = cost;
    }
  }
  if (best === undefined) throw impossible('A variable is used in a comparison or calculation, but nothing binds it');
  return best;
}

const NOT_YET = Number.POSITIVE_INFINITY;

/** Relative cost: 0 only checks, more looks through more. Patterns that depend on unbound variables have to wait. */
function costOf(pattern: Pattern, row: Row): number {
  switch (pattern.pattern) {
    case 'isa':
      return row.has(pattern.variable) ? 0 : 'label' in pattern.type ? 20 : 30;
    case 'iid':
      return 1;
    case 'has': {
      const needs = 'operand' in pattern.value ? variablesOf(pattern.value.operand) : [];
      if (!needs.every((variable) => row.has(variable))) return NOT_YET;
      return row.has(pattern.owner) ? 2 : 25;
    }
    case 'links':
      return row.has(pattern.relation) ? 3 : 26;
    case 'compare':
      return [...variablesOf(pattern.left), ...variablesOf(pattern.right)].every((name) => row.has(name)) ? 0 : NOT_YET;
    case 'let':
      return variablesOf(pattern.expression).every((variable) => row.has(variable)) ? 0 : NOT_YET;
    case 'kind':
    case 'label':
    case 'sub':
    case 'owns':
    case 'plays':
    case 'relates':
      return 10;
    case 'or':
      return 50;
    // Negated and optional patterns come after everything else.
    case 'not':
      return 90;
    case 'try':
      return 95;
  }
}

function expand(graph: Graph, pattern: Pattern, row: Row): Iterable<Row> {
  switch (pattern.pattern) {
    case 'isa':
      return matchIsa(graph, pattern, row);
    case 'iid':
      return matchIid(graph, pattern, row);
    case 'has':
      return matchHas(graph, pattern, row);
    case 'links':
      return matchLinks(graph, pattern, row);
    case 'compare':
      return compares(evaluate(pattern.left, row), pattern.comparator, evaluate(pattern.right, row)) ? [row] : [];
    case 'let':
      return bind(row, pattern.variable, { concept: 'value', ...evaluate(pattern.expression, row) });
    case 'not':
      return isEmpty(solve(graph, pattern.patterns, row)) ? [row] : [];
    case 'try':
      return orElse(solve(graph, pattern.patterns, row), row);
    case 'or':
      return matchOr(graph, pattern.branches, row);
    default:
      return matchTypes(graph.schema, pattern, row);
  }
}

function* matchIsa(graph: Graph, pattern: Extract<Pattern, { pattern: 'isa' }>, row: Row): Generator<Row> {
  const { variable, type } = pattern;
  const label = 'label' in type ? type.label : undefined;
  if (label !== undefined) requireType(graph.schema, label);
  const bound = row.get(variable);
  for (const concept of bound === undefined ? candidates(graph, label) : [bound]) {
    const direct = directType(concept);
    if (direct === undefined) throw impossible(`$${variable} is not an instance`);
    if ('label' in type) {
      if (isKindOf(graph.schema, direct, type.label)) yield* bind(row, variable, concept);
      continue;
    }
    for (const { label: above } of lineage(graph.schema, direct)) {
      for (const typed of bind(row, type.variable, { concept: 'type', label: above })) {
        yield* bind(typed, variable, concept);
      }
    }
  }
}

function directType(concept: Concept): string | undefined {
  if (concept.concept === 'instance') return concept.type;
  return concept.concept === 'attribute' ? concept.attribute.type : undefined;
}

function* candidates(graph: Graph, label: string | undefined): Generator<Concept> {
  const kind = label === undefined ? undefined : kindOf(graph.schema, label);
  if (kind !== 'attribute') for (const thing of instancesOf(graph, label)) yield instance(thing);
  if (kind === undefined || kind === 'attribute') {
    for (const attribute of attributesOfData(graph, label)) yield { concept: 'attribute', attribute };
  }
}

const instance = (thing: Thing): Concept => ({ concept: 'instance', iid: thing.iid, type: thing.type });

function matchIid(graph: Graph, pattern: Extract<Pattern, { pattern: 'iid' }>, row: Row): readonly Row[] {
  const thing = graph.data.get(pattern.iid);
  return thing === undefined ? [] : bind(row, pattern.variable, instance(thing));
}

function* matchHas(graph: Graph, pattern: Extract<Pattern, { pattern: 'has' }>, row: Row): Generator<Row> {
  const { owner, type, value } = pattern;
  if (type !== undefined) requireType(graph.schema, type);
  for (const thing of thingsFor(graph, owner, row)) {
    for (const attribute of thing.has) {
      if (type !== undefined && !isKindOf(graph.schema, attribute.type, type)) continue;
      if ('operand' in value && !compares(attribute, value.comparator, evaluate(value.operand, row))) continue;
      for (const owned of bind(row, owner, instance(thing))) {
        if ('variable' in value) yield* bind(owned, value.variable, { concept: 'attribute', attribute });
        else yield owned;
      }
    }
  }
}

function* matchLinks(graph: Graph, pattern: Extract<Pattern, { pattern: 'links' }>, row: Row): Generator<Row> {
  for (const thing of thingsFor(graph, pattern.relation, row)) {
    for (const related of bind(row, pattern.relation, instance(thing))) {
      yield* assign(graph, thing, pattern.players, new Set(), related);
    }
  }
}

/** Every way to assign different players of the relation to the roles asked for. */
function* assign(
  graph: Graph,
  relation: Thing,
  roles: readonly Role[],
  used: ReadonlySet<number>,
  row: Row,
): Generator<Row> {
  const [wanted, ...others] = roles;
  if (wanted === undefined) {
    yield row;
    return;
  }
  for (const [index, { role, iid }] of relation.players.entries()) {
    if (used.has(index) || (wanted.role !== undefined && wanted.role !== role)) continue;
    const player = graph.data.get(iid);
    if (player === undefined) continue;
    for (const extended of bind(row, wanted.player, instance(player))) {
      yield* assign(graph, relation, others, new Set([...used, index]), extended);
    }
  }
}

function* thingsFor(graph: Graph, variable: string, row: Row): Generator<Thing> {
  const bound = row.get(variable);
  if (bound === undefined) yield* graph.data.values();
  if (bound?.concept !== 'instance') return;
  const thing = graph.data.get(bound.iid);
  if (thing !== undefined) yield thing;
}

function* matchOr(graph: Graph, branches: readonly (readonly Pattern[])[], row: Row): Generator<Row> {
  for (const branch of branches) yield* solve(graph, branch, row);
}

function isEmpty(rows: Iterable<Row>): boolean {
  for (const _ of rows) return false;
  return true;
}

function* orElse(rows: Iterable<Row>, otherwise: Row): Generator<Row> {
  let some = false;
  for (const row of rows) {
    some = true;
    yield row;
  }
  if (!some) yield otherwise;
}
