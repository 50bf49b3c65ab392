import * as z from 'zod';
import { DURATION_PATTERN } from '../base/duration.ts';
import type { PrinterColumn, ValidationRule } from '../kube/definition.ts';
import { SECRET_KEY } from '../kube/names.ts';

/** CEL rules for `.meta(…)`, next to the field that they judge. */
export function rules(...list: readonly ValidationRule[]) {
  return { 'x-kubernetes-validations': list };
}

/** A rule in CEL, and in code as `holds`, so that objects older than the rule are judged by it, too. */
export interface Ruled<T> extends ValidationRule {
  /** Absent: the violation is reported elsewhere. */
  readonly holds?: (value: T) => boolean;
}

export function ruled<T extends z.ZodType>(schema: T, ...list: readonly Ruled<z.output<T>>[]): T {
  const told = schema.meta(rules(...list.map(({ holds: _, ...rule }) => rule)));
  return list.reduce((so, { holds, message }) => (holds === undefined ? so : so.refine(holds, message)), told);
}

/**
 * CEL for a text with values, which the text marks with %s, or %d for whole numbers. Uses format(), as the estimated cost of a
 * rule treats the result of `+` and string() as endless; and dyn(), as values may differ in type.
 */
export function textWith(text: string, ...values: readonly string[]): string {
  return `${JSON.stringify(text)}.format([${values.map((value) => `dyn(${value})`).join(', ')}])`;
}

/** The rule for a field that keeps its value as long as it is set. */
export function immutable(field: string, remedy: string): ValidationRule {
  return { rule: 'self == oldSelf', message: `${field} cannot change: ${remedy}`, reason: 'FieldValueForbidden' };
}

/** As `immutable`, for a string, number or boolean: the message shows both values. */
export function immutableScalar(field: string, remedy: string): ValidationRule {
  const messageExpression = textWith(`${field} cannot change from %s to %s: ${remedy}`, 'oldSelf', 'self');
  return { ...immutable(field, remedy), messageExpression };
}

/** The rule on the parent that a field stays set: rules on the field itself are not evaluated when it is removed. */
export function keepsField(field: string, remedy: string): ValidationRule {
  return {
    rule: `!has(oldSelf.${field}) || has(self.${field})`,
    message: `${field} cannot be removed: ${remedy}`,
    fieldPath: `.${field}`,
    reason: 'FieldValueForbidden',
  };
}

const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The name of a Kubernetes object. */
export function objectName() {
  return z.string().min(1).max(253).regex(DNS_SUBDOMAIN);
}

function namespaceName() {
  return z.string().min(1).max(63).regex(DNS_LABEL);
}

/** A key in a Secret's data. */
export function secretKey() {
  return z.string().min(1).max(253).regex(new RegExp(SECRET_KEY));
}

/** A duration of at least `minimum`; with `orZero`, 0s as well. */
export function durationText(field: string, minimum: string, orZero = false) {
  const is = duration(field);
  const schema = z
    .string()
    .max(32)
    .meta(rules(is, atLeast(field, minimum, orZero)));
  return schema.refine((text) => DURATION_PATTERN.test(text), is.message);
}

const IS_DURATION = `self.matches('${DURATION_PATTERN.source}')`;

/** A rule, not a pattern: for a pattern the API server shows the regular expression, which names no remedy. */
function duration(field: string): ValidationRule {
  const remedy =
    'a duration such as 720h, 30m or 1h30m; days are not a unit: write 720h for 30d; numbers have five digits at most';
  return { rule: IS_DURATION, message: `${field} must be ${remedy}` };
}

/** Passes anything that is not a duration, as the other rule reports that and CEL's duration() would fail for it. */
function atLeast(field: string, minimum: string, orZero: boolean): ValidationRule {
  const long = `${orZero ? `duration(self) == duration('0s') || ` : ''}duration(self) >= duration('${minimum}')`;
  return {
    rule: `!${IS_DURATION} || ${long}`,
    message: `${field} must be at least ${minimum}${orZero ? ', or 0s' : ''}`,
  };
}

/** A login in a Secret of the same namespace. Key names have no default in the schema (it would show as drift in GitOps). */
export function loginSecretRef() {
  return z.object({
    name: objectName().describe('Name of the Secret, in the same namespace.'),
    usernameKey: secretKey().optional().describe('Key that holds the username. Default: username.'),
    passwordKey: secretKey().optional().describe('Key that holds the password. Default: password.'),
  });
}

/** A reference to another of our objects, possibly in another namespace, which must then allow it. */
export function objectReference(kind: string) {
  return z.object({
    name: objectName().describe(`Name of the ${kind}.`),
    namespace: namespaceName()
      .optional()
      .describe(
        `Namespace of the ${kind}. Default: the namespace of this object. Another namespace is possible only if the ` +
          `${kind}'s allowedNamespaces admits this one.`,
      ),
  });
}

/** A point in time, RFC 3339. */
export const timestamp = () => z.iso.datetime({ offset: true });

/** metav1.Condition, as in kube/condition.ts. */
const condition = z.object({
  type: z.string().min(1).max(316).describe('What the condition is about, such as Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('True, False or Unknown.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .describe('Why, as one stable CamelCase word. docs/conditions.md says what to do about each.'),
  message: z.string().max(32_768).describe('The reason in detail, for people.'),
  observedGeneration: z
    .int()
    .optional()
    .describe(
      'The metadata.generation that the condition was set for. If that is lower than the current one, the condition is out of date.',
    ),
  lastTransitionTime: timestamp().describe('When status last changed from one value to another.'),
});

/**
 * The status fields that every kind has. Words in a status are open strings, never enums: a status written by a newer
 * operator, or a word that the cloud has learned since, must stay readable.
 */
export const commonStatus = {
  observedGeneration: z
    .int()
    .default(-1)
    .describe(
      'The metadata.generation that this status was written for. -1: the operator has not seen the object yet.',
    ),
  lastHandledReconcileAt: z
    .string()
    .optional()
    .describe('The last value of the annotation mooring.dev/reconcile-at that was acted on.'),
  conditions: z
    .array(condition)
    .max(32)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .describe(
      'The current conditions of the object. Ready is always present; Reconciling and Stalled only while true (Stalled: a person must act).',
    ),
  lastError: z
    .object({
      operation: z.string().describe('What was tried, such as Deploy.'),
      httpStatus: z
        .int()
        .optional()
        .describe('The HTTP status of the answer. Absent: there was no answer, or no request.'),
      code: z.string().optional().describe('The error code in the answer, for people; it is not stable.'),
      message: z.string().describe('What went wrong.'),
      time: timestamp().describe('When it last went wrong.'),
    })
    .optional()
    .describe(
      'The last step that failed and has not succeeded since, such as a request to change something. Why something cannot be looked at is only in the conditions.',
    ),
};

/** The first columns of every kind. */
export const READY_COLUMNS: readonly PrinterColumn[] = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether the object is as its spec says.',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why it is ready or not.',
  },
];

/** The column for a kind whose objects stand for something outside. `what`: that thing, such as a cluster. */
export function deletionColumn(what: string): PrinterColumn {
  return {
    name: 'Deletion',
    type: 'string',
    jsonPath: '.spec.deletionPolicy',
    description: `What deleting this object does to the ${what}.`,
    priority: 1,
  };
}

/** The last column of every kind. */
export const AGE_COLUMN: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Age of this object.',
};

/** An object that is older than the rule can still be changed and deleted. */
export const IS_KNOWN = '(has(self.status) && self.status.observedGeneration >= 0)';
