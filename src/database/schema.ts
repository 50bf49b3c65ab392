import { z } from 'zod';
import { maybe } from '../http/answer.ts';
import { givenSegmentProblem } from '../http/api-url.ts';

/*
 * Answers of the Database Server HTTP API, read tolerantly: unknown fields are dropped, unknown words kept, null is absent. A
 * value of the wrong type is an error.
 */

/** A token must fit in a header. */
export const tokenSchema = z.object({ token: z.string().regex(/^[\x21-\x7e]+$/, 'not a token') });

export const serverInfoSchema = z.object({ distribution: z.string(), version: z.string() });

export const databaseSchema = z.object({ name: z.string().min(1) });

export const userSchema = z.object({ username: z.string().min(1) });

/** An id that cannot be sent back would look like a refusal of what is done in the transaction. */
const transactionIdSchema = z.string().refine((id) => givenSegmentProblem(id) === undefined, 'not an id');

export const openedTransactionSchema = z.object({ transactionId: transactionIdSchema });

/** A query response without its answers. */
export const queryResponseSchema = z.object({
  queryType: maybe(z.string()),
  answerType: z.string(),
  warning: maybe(z.string()),
});

export interface ServerInfo {
  readonly distribution: string;
  readonly version: string;
}

/** "Concept shapes in concept rows". */
export type Concept =
  | { readonly kind: 'entity'; readonly iid: string; readonly type: TypeConcept | undefined }
  | { readonly kind: 'relation'; readonly iid: string; readonly type: TypeConcept | undefined }
  | {
      readonly kind: 'attribute';
      readonly value: ConceptValue;
      readonly valueType: string;
      readonly type: TypeConcept | undefined;
    }
  | { readonly kind: 'value'; readonly value: ConceptValue; readonly valueType: string }
  | TypeConcept
  /** A kind newer than this code, as it is. */
  | { readonly kind: 'other'; readonly concept: unknown };

export interface TypeConcept {
  readonly kind: 'entityType' | 'relationType' | 'attributeType' | 'roleType';
  /** A role type's label has the form `<relation_type_label>:<role_label>`. */
  readonly label: string;
  /** Only for an attribute type; an abstract one has none. */
  readonly valueType: string | undefined;
}

/** Integers that a number cannot hold exactly are bigints; struct values are objects. */
export type ConceptValue = unknown;

const typeConceptSchema: z.ZodType<TypeConcept> = z.object({
  kind: z.enum(['entityType', 'relationType', 'attributeType', 'roleType']),
  label: z.string(),
  valueType: maybe(z.string()),
});

const thing = { iid: z.string(), type: maybe(typeConceptSchema) };

/** By `kind`. */
export const conceptSchemas: Readonly<Record<string, z.ZodType<Concept>>> = {
  entity: z.object({ kind: z.literal('entity'), ...thing }),
  relation: z.object({ kind: z.literal('relation'), ...thing }),
  attribute: z.object({
    kind: z.literal('attribute'),
    value: z.unknown(),
    valueType: z.string(),
    type: maybe(typeConceptSchema),
  }),
  value: z.object({ kind: z.literal('value'), value: z.unknown(), valueType: z.string() }),
  entityType: typeConceptSchema,
  relationType: typeConceptSchema,
  attributeType: typeConceptSchema,
  roleType: typeConceptSchema,
};

export const rowSchema = z.object({ data: z.custom<object>(isObject, 'expected an object') });

export const conceptKindSchema = z.object({ kind: z.string() });

/** z.record would drop a variable called `__proto__`. */
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
