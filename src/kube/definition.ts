import type * as z from 'zod';
import { frozen } from '../base/immutable.ts';

/** The names and contents of one of our kinds: the one source of its CustomResourceDefinition, its types and its parsing. */
export interface ResourceDefinition<Spec = unknown, Status = unknown> {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Shown by `kubectl explain`. */
  readonly description: string;
  readonly spec: z.ZodType<Spec>;
  /** What a spec must satisfy to be read, if `spec` has later rules that the kind judges itself. Default: `spec`. */
  readonly storedSpec?: z.ZodType<Spec>;
  readonly status: z.ZodType<Status>;
  readonly printerColumns: readonly PrinterColumn[];
  /** CEL rules on the whole object; of its metadata they see only the name. Rules on spec are in its schema. */
  readonly rules?: readonly ValidationRule[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly description: string;
  /** 1: only in `kubectl get -o wide`. */
  readonly priority?: 0 | 1;
}

/** One entry of `x-kubernetes-validations`. A rule with `oldSelf` is judged on updates only. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  /** CEL for a message that names values; if it fails, `message` is used. */
  readonly messageExpression?: string;
  /** The field that the error names, relative to where the rule is, such as `.region`. */
  readonly fieldPath?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
}

export type ParsedSpec<Spec> =
  | { readonly ok: true; readonly spec: Spec }
  | { readonly ok: false; readonly message: string };

/**
 * Reads the spec of an object as it came from the API server. An object may be older than the rules of its definition,
 * so this can fail: `message` names each wrong field, its value and what it should be.
 */
export function parseSpec<Spec>(
  { spec, storedSpec = spec }: Pick<ResourceDefinition<Spec>, 'spec' | 'storedSpec'>,
  raw: unknown,
): ParsedSpec<Spec> {
  const result = read(storedSpec, raw);
  if (result.success) return { ok: true, spec: result.data };
  const issues = result.error.issues.map((issue) => describeIssue(issue, raw));
  return { ok: false, message: issues.map(({ field, text }) => `${field} ${text}`).join('; ') };
}

/** A field with an invalid value. */
export interface FieldIssue {
  /** Such as `spec.storageSizeGB`. */
  readonly field: string;
  /** What it is, and what it should be. */
  readonly text: string;
  /** What it should be, if an API server says that in the same words. */
  readonly rule?: string;
}

/** Returns what is wrong with a spec by all of its rules, field by field. */
export function specIssues(definition: { readonly spec: z.ZodType }, raw: unknown): readonly FieldIssue[] {
  const { error } = definition.spec.safeParse(raw ?? {});
  return error === undefined ? [] : error.issues.map((issue) => describeIssue(issue, raw));
}

/**
 * Reads a status. Never fails, because a status can be written again: unreadable top-level fields count as absent, so that one of them
 * does not take the cluster's identity with it.
 */
export function parseStatus<Status>(definition: { readonly status: z.ZodType<Status> }, raw: unknown): Status {
  return parseInPart(definition.status, raw)?.value ?? definition.status.parse({});
}

/** Returns a spec without the top-level fields that cannot be read, and which these are; undefined: it needs one of them. */
export function parseSpecInPart<Spec>(
  definition: { readonly spec: z.ZodType<Spec> },
  raw: unknown,
): { readonly value: Spec; readonly unread: ReadonlySet<unknown> } | undefined {
  return parseInPart(definition.spec, raw);
}

function parseInPart<T>(schema: z.ZodType<T>, raw: unknown) {
  const whole = read(schema, raw);
  if (whole.success) return { value: whole.data, unread: new Set<unknown>() };
  const unread = new Set<unknown>(whole.error.issues.map((issue) => issue.path[0]));
  const fields = isRecord(raw) ? Object.entries(raw).filter(([name]) => !unread.has(name)) : [];
  const rest = schema.safeParse(Object.fromEntries(fields));
  return rest.success ? { value: rest.data, unread } : undefined;
}

/** Results for values that can no longer change, such as the parts of a cached object. */
const results = new WeakMap<z.ZodType, WeakMap<object, z.ZodSafeParseResult<unknown>>>();

/** Many hear of one object, and each reads it: a value that can no longer change is parsed once. */
function read<T>(schema: z.ZodType<T>, raw: unknown): z.ZodSafeParseResult<T> {
  if (!isRecord(raw) || !Object.isFrozen(raw)) return schema.safeParse(raw ?? {});
  const known = results.get(schema) ?? new WeakMap<object, z.ZodSafeParseResult<unknown>>();
  results.set(schema, known);
  const before = known.get(raw) as z.ZodSafeParseResult<T> | undefined;
  if (before !== undefined) return before;
  const result = schema.safeParse(raw);
  known.set(raw, result);
  frozen(result.data);
  return result;
}

const SHOWN_VALUE_LENGTH = 80;

function describeIssue(issue: z.core.$ZodIssue, raw: unknown): FieldIssue {
  const path = issue.path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`),
    'spec',
  );
  const value = issue.path.reduce<unknown>(
    (parent, step) => (isRecord(parent) ? parent[String(step)] : undefined),
    raw,
  );
  if (value === undefined) return { field: path, text: 'is missing: set it' };
  const shown = JSON.stringify(value);
  const short = shown.length <= SHOWN_VALUE_LENGTH ? shown : `${shown.slice(0, SHOWN_VALUE_LENGTH)}…`;
  const text = `cannot be ${short}: ${issue.message}`;
  return issue.code === 'custom' ? { field: path, text, rule: issue.message } : { field: path, text };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
