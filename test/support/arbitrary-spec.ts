import fc from 'fast-check';
import { type StructuralSchema, structuralSchema } from '../../src/kube/crd/structural-schema.ts';
import type { ResourceDefinition } from '../../src/kube/definition.ts';

const MAX_LENGTH = 12;
const MAX_ITEMS = 3;

/** A change of a spec: fields with new values; undefined removes the field. */
export type SpecChange = Readonly<Record<string, unknown>>;

/**
 * Arbitrary changes of up to three fields of a spec, drawn from its schema, valid or not. They respect types, enums and bounds, and texts
 * are mostly among `texts`. Fields that cannot be changed, because a rule compares them with `oldSelf`, are not drawn, nor are numbers
 * above those in `most`.
 */
export function arbitraryChange(
  definition: ResourceDefinition,
  texts: readonly string[],
  most: Readonly<Record<string, number>> = {},
): fc.Arbitrary<SpecChange> {
  const { properties = {}, required = [] } = structuralSchema(definition.spec, 'spec');
  const transitions = (definition.rules ?? []).filter(({ rule }) => rule.includes('oldSelf'));
  const stays = (field: string) =>
    properties[field]?.['x-kubernetes-validations']?.some(({ rule }) => rule.includes('oldSelf')) ||
    transitions.some(({ rule, fieldPath }) => fieldPath === `.spec.${field}` || rule.includes(`self.spec.${field} ==`));
  const fields = Object.keys(properties).filter((field) => !stays(field));
  return fc.subarray(fields, { minLength: 1, maxLength: 3 }).chain((chosen) =>
    fc.record(
      Object.fromEntries(
        chosen.map((field) => {
          const maximum = most[field] ?? properties[field]?.maximum;
          const schema = { ...properties[field], ...(maximum === undefined ? {} : { maximum }) };
          const value = arbitraryValue(schema, texts);
          return [field, required.includes(field) ? value : fc.option(value, { nil: undefined, freq: 6 })];
        }),
      ),
    ),
  );
}

function arbitraryValue(schema: StructuralSchema, texts: readonly string[]): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1, max: schema.maximum ?? 1_000 });
    case 'array':
      return fc.array(arbitraryValue(schema.items ?? {}, texts), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? MAX_ITEMS, MAX_ITEMS),
      });
    case 'object':
      return arbitraryObject(schema, texts);
    default: {
      const minLength = schema.minLength ?? 0;
      const random = fc.string({ minLength, maxLength: Math.max(minLength, MAX_LENGTH) });
      return fc.oneof({ arbitrary: fc.constantFrom(...texts), weight: 4 }, { arbitrary: random, weight: 1 });
    }
  }
}

function arbitraryObject(schema: StructuralSchema, texts: readonly string[]): fc.Arbitrary<unknown> {
  const { properties, additionalProperties, required = [] } = schema;
  if (properties === undefined)
    return fc.dictionary(fc.constantFrom(...texts), arbitraryValue(additionalProperties ?? {}, texts), { maxKeys: 2 });
  const fields = Object.entries(properties).map(([name, each]) => [name, arbitraryValue(each, texts)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
}
