import * as z from 'zod';
import type { ValidationRule } from '../definition.ts';

/** The part of OpenAPI that a CustomResourceDefinition may use (a "structural schema"). */
export interface StructuralSchema {
  readonly description?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly allOf?: readonly { readonly pattern: string }[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** Why a zod schema cannot become a structural schema: each place, what is wrong there, and what to write instead. */
export class StructuralSchemaError extends Error {
  override readonly name = 'StructuralSchemaError';
  readonly refusals: readonly string[];

  constructor(refusals: readonly string[]) {
    super(refusals.join('\n'));
    this.refusals = refusals;
  }
}

/**
 * Returns the structural schema of what users may write for a zod schema. `path` is its place, for errors.
 *
 * z.toJSONSchema() alone is quietly lossy: a refinement, a regex flag, a pattern on a record's keys are just gone. So this conforms a few
 * spellings that mean the same and refuses everything else, instead of weakening what the code says. Throws StructuralSchemaError with
 * every refusal.
 */
export function structuralSchema(schema: z.ZodType, path: string): StructuralSchema {
  const refusals = new Set<string>();
  const raw = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path: steps }) => {
      for (const refusal of refusalsOf(zodSchema)) refusals.add(`${path}${pathText(steps)}: ${refusal}`);
      formatNumber(zodSchema, jsonSchema);
    },
  });
  const conformed = conform(raw, path, (at, reason) => refusals.add(`${at}: ${reason}`));
  if (refusals.size > 0) throw new StructuralSchemaError([...refusals]);
  return conformed;
}

/** JSON Schema path (`properties`, `a`, `items`) → `.a[]`. */
function pathText(steps: readonly (string | number)[]): string {
  let text = '';
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index];
    if (step === 'properties') text += `.${steps[++index]}`;
    else if (step === 'items') text += '[]';
    else if (step === 'additionalProperties') text += '{}';
  }
  return text;
}

// Part one: what zod knows and JSON Schema does not.

/** Zod types whose whole meaning can be expressed to the API server. */
const TYPES: ReadonlySet<string> = new Set([
  ...['string', 'number', 'boolean', 'enum', 'literal', 'object', 'array', 'record'],
  ...['optional', 'nullable', 'default', 'prefault'],
  // Judged in part two, where their marker is visible.
  ...['any', 'unknown', 'union', 'lazy', 'never'],
]);

const CHECKS: ReadonlySet<string> = new Set([
  ...['number_format', 'greater_than', 'less_than', 'multiple_of'],
  ...['string_format', 'min_length', 'max_length', 'length_equals'],
]);

function refusalsOf(schema: z.core.$ZodTypes): string[] {
  const { def } = schema._zod;
  if (!TYPES.has(def.type)) {
    return [
      `${def.type} is not known to the API server, which would not check it: Use a plain type, and CEL for the rest`,
    ];
  }
  const refusals: string[] = [];
  if (def.type === 'record' && !isPlainString(def.keyType)) {
    refusals.push('The rule on the keys of a record would be lost: Use z.string() for keys, and a CEL rule');
  }
  // A check beside CEL rules says the same as they do.
  const hasRules = z.globalRegistry.get(schema)?.['x-kubernetes-validations'] !== undefined;
  for (const check of checksOf(schema)) {
    if ('check' in check && !CHECKS.has(String(check.check)) && !(hasRules && check.check === 'custom')) {
      refusals.push(`The check ${JSON.stringify(check.check)} (such as one of refine) would be lost: Write a CEL rule`);
    }
    if ('pattern' in check && check.pattern instanceof RegExp && check.pattern.flags !== '') {
      refusals.push(`The flags of ${check.pattern} would be lost: Write the pattern without flags`);
    }
  }
  return refusals;
}

function isPlainString(schema: z.core.$ZodType): boolean {
  return schema._zod.def.type === 'string' && checksOf(schema).every((check) => !('check' in check));
}

/** A schema's checks; some schemas, such as z.int(), are one themselves. */
function checksOf(schema: z.core.$ZodType): readonly object[] {
  const { def } = schema._zod;
  return [def, ...(def.checks ?? []).map((each) => each._zod.def)];
}

/** Gives whole numbers a width instead of that width's bounds, which zod writes. */
function formatNumber(schema: z.core.$ZodTypes, json: z.core.JSONSchema.BaseSchema): void {
  if (schema._zod.def.type !== 'number') return;
  const formats = checksOf(schema).map((check) => ('format' in check ? check.format : undefined));
  if (formats.includes('int32')) {
    json.format = 'int32';
    dropBounds(json, -(2 ** 31), 2 ** 31 - 1);
  } else if (formats.includes('safeint')) {
    json.format = 'int64';
    dropBounds(json, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  }
}

function dropBounds(json: z.core.JSONSchema.BaseSchema, minimum: number, maximum: number): void {
  if (json.minimum === minimum) delete json.minimum;
  if (json.maximum === maximum) delete json.maximum;
}

// Part two: what JSON Schema can say and a structural schema cannot.

type Json = Readonly<Record<string, unknown>>;
type Refuse = (path: string, reason: string) => void;

/** Every keyword that may come out, in the order written. */
const KEYWORDS = [
  ...['description', 'type', 'format', 'default', 'nullable', 'enum'],
  ...['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'pattern', 'allOf', 'anyOf'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'],
  ...['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type', 'x-kubernetes-validations'],
  ...['required', 'properties', 'additionalProperties', 'items'],
];

/** Formats that the API server checks (k8s.io/kube-openapi); it ignores others. */
const FORMATS: ReadonlySet<unknown> = new Set([
  ...['int32', 'int64', 'float', 'double', 'byte', 'date', 'date-time', 'email', 'uri', 'uuid', 'ipv4', 'ipv6'],
]);

/** zod's names for patterns, which add nothing to the pattern. */
const PATTERN_NAMES: ReadonlySet<unknown> = new Set(['starts_with', 'ends_with', 'includes', 'lowercase', 'uppercase']);

function conform(raw: Json, path: string, refuse: Refuse): StructuralSchema {
  const json = isIntOrString(raw)
    ? { ...raw, anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }
    : conformObject(conformText(raw, path, refuse));
  refuseUnknown(json, path, refuse);

  const out: Record<string, unknown> = {};
  for (const keyword of KEYWORDS) {
    const value = json[keyword];
    if (value === undefined) continue;
    if (keyword === 'properties') out[keyword] = conformProperties(value, path, refuse);
    else if (keyword === 'additionalProperties') out[keyword] = conform(jsonOf(value), `${path}{}`, refuse);
    else if (keyword === 'items') out[keyword] = conform(jsonOf(value), `${path}[]`, refuse);
    else out[keyword] = value;
  }
  return out;
}

function conformProperties(value: unknown, path: string, refuse: Refuse): Json {
  return Object.fromEntries(
    Object.entries(jsonOf(value)).map(([name, child]) => [name, conform(jsonOf(child), `${path}.${name}`, refuse)]),
  );
}

function isIntOrString(json: Json): boolean {
  const types = listOf(json['anyOf']).map((branch) => branch['type']);
  return types.length === 2 && types.includes('integer') && types.includes('string');
}

/** strictObject needs no keyword, since unknown fields are pruned anyway; looseObject has one of its own. */
function conformObject(json: Json): Json {
  const { additionalProperties, ...rest } = json;
  if (additionalProperties === undefined || json['type'] !== 'object') return json;
  if (additionalProperties === false) return rest;
  const keepsAll = Object.keys(jsonOf(additionalProperties)).length === 0 && json['properties'] !== undefined;
  return keepsAll ? { ...rest, 'x-kubernetes-preserve-unknown-fields': true } : json;
}

function conformText(json: Json, path: string, refuse: Refuse): Json {
  if (json['type'] !== 'string') return json;
  const { format, pattern, contentEncoding, allOf, ...rest } = json;
  if (format === 'base64') return { ...rest, format: 'byte' };
  // The API server parses a time itself; zod's pattern for it is 400 characters long.
  if (format === 'date-time' || format === 'date') return { ...rest, format };
  const patterns = [json, ...listOf(allOf)].flatMap((part) =>
    typeof part['pattern'] === 'string' ? part['pattern'] : [],
  );
  for (const each of patterns) refuseUnlessRe2(each, path, refuse);
  return {
    ...rest,
    ...(format === undefined || PATTERN_NAMES.has(format) ? {} : { format }),
    ...(patterns.length === 1 ? { pattern: patterns[0] } : {}),
    ...(patterns.length > 1 ? { allOf: patterns.map((each) => ({ pattern: each })) } : {}),
    ...(contentEncoding === undefined ? {} : { contentEncoding }),
  };
}

/** The API server's regular expressions are RE2's: no lookaround, no backreferences, no \u escapes. */
function refuseUnlessRe2(pattern: string, path: string, refuse: Refuse): void {
  const foreign = /\(\?<?[=!]|\\[1-9]|\\k<|\\u|\\c/.exec(pattern)?.[0];
  if (foreign !== undefined) {
    refuse(path, `The pattern ${pattern} has ${foreign}, which RE2 does not know: Write it without, or as a CEL rule`);
  }
}

function refuseUnknown(json: Json, path: string, refuse: Refuse): void {
  if (json['$ref'] !== undefined || json['definitions'] !== undefined) {
    refuse(path, 'A reference cannot be followed: Remove meta({id}) or the recursion');
    return;
  }
  const intOrString = json['x-kubernetes-int-or-string'] === true;
  if (!intOrString && (json['anyOf'] !== undefined || json['oneOf'] !== undefined)) {
    refuse(path, 'A union has no type of its own: Use an object with an enum field and one optional field per variant');
    return;
  }
  if (!intOrString && json['type'] === undefined && json['x-kubernetes-preserve-unknown-fields'] !== true) {
    refuse(
      path,
      "There is no type: Add meta({'x-kubernetes-preserve-unknown-fields': true}) if anything is allowed here",
    );
  }
  if (json['properties'] !== undefined && json['additionalProperties'] !== undefined) {
    refuse(path, 'Named fields and a catchall exclude each other: Use z.object() or z.record()');
  }
  if (json['format'] !== undefined && !FORMATS.has(json['format'])) {
    refuse(path, `The format ${String(json['format'])} is not checked by the API server: Use a pattern`);
  }
  for (const keyword of Object.keys(json)) {
    if (!KEYWORDS.includes(keyword)) refuse(path, `The keyword ${keyword} is not known to the API server: Remove it`);
  }
}

function jsonOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(jsonOf) : [];
}
