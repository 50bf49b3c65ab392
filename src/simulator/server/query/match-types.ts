import { bind, type Concept, type Row } from './concepts.ts';
import { requireType } from './graph.ts';
import type { Schema } from './schema.ts';
import { capabilitiesOf, lineage, roleLabel } from './schema-lookup.ts';
import type { Pattern, Reference } from './syntax.ts';

type TypePattern = Extract<Pattern, { pattern: 'kind' | 'label' | 'sub' | 'owns' | 'plays' | 'relates' }>;

/** Patterns about the schema itself: which types exist, and what they may do. */
export function* matchTypes(schema: Schema, pattern: TypePattern, row: Row): Generator<Row> {
  switch (pattern.pattern) {
    case 'kind':
      for (const type of schema.types.values()) {
        if (type.kind === pattern.kind) yield* refer(row, { variable: pattern.variable }, typeConcept(type.label));
      }
      return;
    case 'label':
      requireType(schema, pattern.label);
      yield* refer(row, { variable: pattern.variable }, typeConcept(pattern.label));
      return;
    default:
      if ('label' in pattern.subject) requireType(schema, pattern.subject.label);
      for (const label of schema.types.keys()) {
        for (const subject of refer(row, pattern.subject, typeConcept(label))) {
          for (const object of objectsOf(schema, pattern.pattern, label)) {
            yield* refer(subject, pattern.object, object);
          }
        }
      }
  }
}

function objectsOf(schema: Schema, pattern: 'sub' | 'owns' | 'plays' | 'relates', label: string): readonly Concept[] {
  switch (pattern) {
    case 'sub':
      return lineage(schema, label).map((type) => typeConcept(type.label));
    case 'owns':
      return [...capabilitiesOf(schema, label, 'owns').keys()].map(typeConcept);
    case 'plays':
      return [...capabilitiesOf(schema, label, 'plays').keys()].map(roleConcept);
    case 'relates':
      return [...capabilitiesOf(schema, label, 'relates').keys()].map((role) =>
        roleConcept(roleLabel(schema, label, role) ?? `${label}:${role}`),
      );
  }
}

const typeConcept = (label: string): Concept => ({ concept: 'type', label });
const roleConcept = (label: string): Concept => ({ concept: 'role', label });

/** A label refers to the concept of that name; for a role, the name after the colon is enough. */
function refer(row: Row, reference: Reference, concept: Concept): readonly Row[] {
  if ('label' in reference) {
    if (concept.concept !== 'type' && concept.concept !== 'role') return [];
    return concept.label === reference.label || concept.label.endsWith(`:${reference.label}`) ? [row] : [];
  }
  return bind(row, reference.variable, concept);
}
