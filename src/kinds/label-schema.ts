import * as z from 'zod';
import { isLabelKey, LABEL_KEY, LABEL_VALUE, MAX_DNS_NAME } from '../kube/names.ts';
import { type Ruled, ruled, rules } from './shared-schema.ts';

/* Labels, annotations and label selectors, as Kubernetes accepts them. */

const REMEDY =
  'use at most 63 letters, digits, hyphens, underscores and dots, such as team, optionally after a DNS name and a slash, such as example.com/team';

/** CEL: whether the text that CEL calls `name` is such a key. */
const isKey = (name: string, pattern: string) =>
  `${name}.indexOf('/') <= ${MAX_DNS_NAME} && ${name}.matches('${pattern}')`;

/** The rule for a map whose keys are label or annotation keys: `pattern` in CEL, and `holds` for the same. */
export function keysOf(
  field: string,
  pattern: string,
  holds: (key: string) => boolean,
): Ruled<Readonly<Record<string, string>>> {
  return {
    rule: `self.all(key, ${isKey('key', pattern)})`,
    message: `${field} has a key that Kubernetes does not accept: ${REMEDY}`,
    holds: (entries) => Object.keys(entries).every(holds),
  };
}

const labelValue = z
  .string()
  .max(63)
  .regex(
    new RegExp(LABEL_VALUE),
    'a label value has only letters, digits, hyphens, underscores and dots, and begins and ends with a letter or digit',
  );

/** Labels by their keys, at most 32. Messages call them `field`. */
export function labels(field: string) {
  return ruled(z.record(z.string(), labelValue), keysOf(field, LABEL_KEY, isLabelKey)).meta({ maxProperties: 32 });
}

const requirementKey = ruled(z.string().min(1).max(317), {
  rule: isKey('self', LABEL_KEY),
  message: `key is not a valid label key: ${REMEDY}`,
  holds: isLabelKey,
});

const labelSelector = z
  .object({
    matchLabels: labels('matchLabels')
      .optional()
      .describe('Labels that the namespace must have, with exactly these values.'),
    matchExpressions: z
      .array(
        z
          .object({
            key: requirementKey.describe('Label key that the requirement applies to.'),
            operator: z
              .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
              .describe('How the label relates to the values: In, NotIn, Exists or DoesNotExist.'),
            values: z
              .array(labelValue)
              .max(32)
              .optional()
              .meta({ 'x-kubernetes-list-type': 'atomic' })
              .describe('Values for In and NotIn; empty for Exists and DoesNotExist.'),
          })
          .meta(
            rules({
              rule: `(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)`,
              message: 'values must be set with operator In or NotIn, and only then: add a value, or remove values',
              fieldPath: '.values',
            }),
          ),
      )
      .max(16)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('Requirements on the labels of the namespace; all must hold.'),
  })
  .meta({ 'x-kubernetes-map-type': 'atomic' });

/** Who may refer to an object from another namespace, as in Gateway API. Absent means Same. */
export function allowedNamespaces(what: string) {
  return z
    .object({
      from: z
        .enum(['Same', 'All', 'Selector'])
        .describe(
          'Same: only the namespace of this object. All: every namespace. Selector: those that match selector.',
        ),
      selector: labelSelector
        .optional()
        .describe('Labels of the namespaces that are admitted in addition to this one. Only with from: Selector.'),
    })
    .meta(
      rules({
        rule: `(self.from == 'Selector') == has(self.selector)`,
        message: 'selector must be set with from: Selector, and only then: set from to Selector, or remove selector',
        fieldPath: '.selector',
      }),
    )
    .describe(`${what} Default: {from: Same}, the namespace of this object only.`);
}
