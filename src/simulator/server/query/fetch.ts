import type { Concept, Row } from './concepts.ts';
import { evaluate } from './expressions.ts';
import { type Graph, requireType } from './graph.ts';
import { impossible } from './refusal.ts';
import { isKindOf } from './schema-lookup.ts';
import type { FetchObject, FetchValue, Stage } from './syntax.ts';

/** Runs the stages of a list within the document, for one row. */
export type RunNested = (stages: readonly Stage[], row: Row) => readonly unknown[];

/** Concept-document answer: "its keys and nesting follow the query". */
export function fetchDocument(graph: Graph, template: FetchObject, row: Row, nested: RunNested): unknown {
  return Object.fromEntries(
    template.entries.map(([key, value]): [string, unknown] => [key, fetchValue(graph, value, row, nested)]),
  );
}

function fetchValue(graph: Graph, value: FetchValue, row: Row, nested: RunNested): unknown {
  switch (value.fetch) {
    case 'object':
      return fetchDocument(graph, value, row, nested);
    case 'query':
      return nested(value.stages, row);
    case 'attribute': {
      requireType(graph.schema, value.type);
      const values = ownedBy(graph, row, value.owner)
        .filter((attribute) => isKindOf(graph.schema, attribute.type, value.type))
        .map((attribute) => attribute.value);
      if (value.all) return values;
      if (values.length > 1) throw impossible(`$${value.owner} has several of ${value.type}: fetch them as a list`);
      return values[0] ?? null;
    }
    case 'everything':
      return everything(graph, row, value.owner);
    case 'expression': {
      const { expression } = value;
      const concept = expression.expression === 'variable' ? row.get(expression.variable) : undefined;
      if (expression.expression === 'variable' && concept === undefined) return null;
      return typeDocument(graph, concept) ?? evaluate(expression, row).value;
    }
  }
}

/** "type objects with `kind` and `label`" */
function typeDocument(graph: Graph, concept: Concept | undefined): unknown {
  if (concept?.concept === 'role') return { kind: 'roleType', label: concept.label };
  if (concept?.concept !== 'type') return undefined;
  return { kind: `${requireType(graph.schema, concept.label).kind}Type`, label: concept.label };
}

function everything(graph: Graph, row: Row, owner: string): Record<string, unknown> {
  const values = new Map<string, unknown[]>();
  for (const { type, value } of ownedBy(graph, row, owner)) values.set(type, [...(values.get(type) ?? []), value]);
  return Object.fromEntries([...values].map(([type, all]) => [type, all.length === 1 ? all[0] : all]));
}

function ownedBy(graph: Graph, row: Row, variable: string) {
  const concept = row.get(variable);
  if (concept?.concept !== 'instance') throw impossible(`$${variable} is not an entity or relation`);
  return graph.data.get(concept.iid)?.has ?? [];
}
