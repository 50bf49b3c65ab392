import type { Concept, Row } from './concepts.ts';
import type { Attribute } from './data.ts';
import { requireType } from './graph.ts';
import type { Schema } from './schema.ts';
import { valueTypeOf } from './schema-lookup.ts';

export interface AnswerForm {
  readonly includeInstanceTypes: boolean;
  /** Whether keys without a value are null (compatibility.md) or absent. */
  readonly nulls: boolean;
}

/** Concept-row answer: one entry for each variable of the query (Resources, Query response). */
export function renderRow(schema: Schema, columns: readonly string[], row: Row, form: AnswerForm): unknown {
  const entries = columns.flatMap((column): [string, unknown][] => {
    const concept = row.get(column);
    if (concept === undefined) return form.nulls ? [[column, null]] : [];
    return [[column, renderConcept(schema, concept, form)]];
  });
  return { data: Object.fromEntries(entries) };
}

/** Resources, Concept shapes in concept rows. */
function renderConcept(schema: Schema, concept: Concept, form: AnswerForm): unknown {
  switch (concept.concept) {
    case 'instance': {
      const { kind } = requireType(schema, concept.type);
      return { kind, iid: concept.iid, ...typeMember(schema, concept.type, form) };
    }
    case 'attribute':
      return renderAttribute(schema, concept.attribute, form);
    case 'value':
      return { kind: 'value', value: concept.value, valueType: concept.valueType };
    case 'type':
      return renderType(schema, concept.label, form);
    case 'role':
      return { kind: 'roleType', label: concept.label };
  }
}

function renderAttribute(schema: Schema, { type, value, valueType }: Attribute, form: AnswerForm): unknown {
  return { kind: 'attribute', value, valueType, ...typeMember(schema, type, form) };
}

function typeMember(schema: Schema, label: string, form: AnswerForm): Record<string, unknown> {
  if (form.includeInstanceTypes) return { type: renderType(schema, label, form) };
  return form.nulls ? { type: null } : {};
}

function renderType(schema: Schema, label: string, form: AnswerForm): unknown {
  const { kind } = requireType(schema, label);
  if (kind !== 'attribute') return { kind: `${kind}Type`, label };
  const valueType = valueTypeOf(schema, label);
  return {
    kind: 'attributeType',
    label,
    ...(valueType === undefined && !form.nulls ? {} : { valueType: valueType ?? null }),
  };
}
