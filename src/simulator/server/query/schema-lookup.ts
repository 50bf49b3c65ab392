import type { Annotations, Capabilities, Kind, Schema, TypeDefinition, ValueType } from './schema.ts';

/** The type and everything it inherits from, itself first. */
export function lineage(schema: Schema, label: string): readonly TypeDefinition[] {
  const line: TypeDefinition[] = [];
  for (let next: string | undefined = label; next !== undefined; ) {
    const type = schema.types.get(next);
    // A cycle is refused when it is defined; until that check it must not hang.
    if (type === undefined || line.includes(type)) break;
    line.push(type);
    next = type.parent;
  }
  return line;
}

export function isKindOf(schema: Schema, label: string, ancestor: string): boolean {
  return lineage(schema, label).some((type) => type.label === ancestor);
}

/** Labels of the type and everything below it. */
export function subtypes(schema: Schema, label: string): ReadonlySet<string> {
  const labels = new Set<string>();
  for (const candidate of schema.types.keys()) if (isKindOf(schema, candidate, label)) labels.add(candidate);
  return labels;
}

/** Own and inherited capabilities; those nearer to the type win. */
export function capabilitiesOf(schema: Schema, label: string, what: 'owns' | 'plays' | 'relates'): Capabilities {
  const all = new Map<string, Annotations>();
  for (const type of lineage(schema, label)) {
    for (const [name, annotations] of type[what]) if (!all.has(name)) all.set(name, annotations);
  }
  return all;
}

export function kindOf(schema: Schema, label: string): Kind | undefined {
  return schema.types.get(label)?.kind;
}

export function valueTypeOf(schema: Schema, label: string): ValueType | undefined {
  return lineage(schema, label).find((type) => type.valueType !== undefined)?.valueType;
}

export function isAbstract(type: TypeDefinition): boolean {
  return type.annotations.includes('@abstract');
}

/** `relation:role` with the relation that declares the role, as role types are named. */
export function roleLabel(schema: Schema, relation: string, role: string): string | undefined {
  const declaring = lineage(schema, relation).find((type) => type.relates.has(role));
  return declaring === undefined ? undefined : `${declaring.label}:${role}`;
}

export interface Cardinality {
  readonly min: number;
  readonly max: number;
}

/** `@card(a..b)`, or `@key` for exactly one; without either, at most one. */
export function cardinalityOf(annotations: Annotations): Cardinality {
  for (const annotation of annotations) {
    const match = /^@card\((\d+)\.\.(\d*)\)$/.exec(annotation);
    if (match !== null)
      return { min: Number(match[1]), max: match[2] === '' ? Number.POSITIVE_INFINITY : Number(match[2]) };
  }
  return annotations.includes('@key') ? { min: 1, max: 1 } : { min: 0, max: 1 };
}

export const isUnique = (annotations: Annotations): boolean =>
  annotations.includes('@key') || annotations.includes('@unique');
