import type { Attribute, Primitive } from './data.ts';
import type { ValueType } from './schema.ts';

/** What a variable can stand for. */
export type Concept =
  | { readonly concept: 'instance'; readonly iid: string; readonly type: string }
  | { readonly concept: 'attribute'; readonly attribute: Attribute }
  | { readonly concept: 'value'; readonly valueType: ValueType; readonly value: Primitive }
  | { readonly concept: 'type'; readonly label: string }
  /** `relation:role` */
  | { readonly concept: 'role'; readonly label: string };

/** One answer: what each variable stands for. A variable of a branch not taken is missing. */
export type Row = ReadonlyMap<string, Concept>;

/** Equal concepts have equal keys. */
export function conceptKey(concept: Concept): string {
  switch (concept.concept) {
    case 'instance':
      return concept.iid;
    case 'attribute':
      return JSON.stringify(['attribute', concept.attribute.type, concept.attribute.value]);
    case 'value':
      return JSON.stringify(['value', concept.valueType, concept.value]);
    case 'type':
    case 'role':
      return JSON.stringify([concept.concept, concept.label]);
  }
}

const isSameConcept = (a: Concept, b: Concept): boolean => conceptKey(a) === conceptKey(b);

export interface TypedValue {
  readonly valueType: ValueType;
  readonly value: Primitive;
}

/** The value of a concept that is an attribute or a value; others have none. */
export function typedValueOf(concept: Concept): TypedValue | undefined {
  if (concept.concept !== 'attribute' && concept.concept !== 'value') return undefined;
  const { valueType, value } = concept.concept === 'attribute' ? concept.attribute : concept;
  return { valueType, value };
}

/** The row with the variable bound; no row if the variable already stands for something else. */
export function bind(row: Row, variable: string, concept: Concept): readonly Row[] {
  const before = row.get(variable);
  if (before === undefined) return [new Map(row).set(variable, concept)];
  return isSameConcept(before, concept) ? [row] : [];
}
