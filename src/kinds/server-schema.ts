import * as z from 'zod';
import type { PrinterColumn, ValidationRule } from '../kube/definition.ts';
import { IS_KNOWN, immutable, objectReference, rules } from './shared-schema.ts';

/* What DatabaseUser and Database have in common in their specs: both are things on the server of a DatabaseCluster. */

/**
 * Names on a server are "Unicode identifiers with `-`" (compatibility.md); XID_Start and XID_Continue in the classes that
 * both RE2, which the API server runs, and JavaScript know.
 */
const IDENTIFIER = String.raw`^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}-]*$`;
const identifier = new RegExp(IDENTIFIER, 'u');

/** Whether a server takes it as the name of a user or database. */
export function isIdentifier(name: string): boolean {
  return identifier.test(name);
}

/**
 * Whether the name is as Unicode composes it (NFC). Servers may compose what they are given, or not: under another spelling it is found
 * on some only. The API server has no rule for that.
 */
export function isComposed(name: string): boolean {
  return name === name.normalize();
}

/** What to say of a name that is not; `field`: of the spec. */
export function notComposed(name: string, field: string): string {
  return `"${name}" has letters that are written as several characters, such as e and an accent, which servers may join, and then not find: create another object with spec.${field} in Unicode's composed form (NFC)`;
}

/** The name of a user or database; `example` is one. `more`: rules besides, as `.meta()` would take the place of this one. */
export function serverName(example: string, ...more: readonly ValidationRule[]) {
  return z
    .string()
    .min(1)
    .max(253)
    .meta(
      rules(
        {
          // A raw string: the backslashes are the pattern's.
          rule: `self.matches(r'${IDENTIFIER}')`,
          message: `must begin with a letter or underscore, and go on with letters, digits, underscores and hyphens, such as ${example}`,
        },
        ...more,
      ),
    );
}

export function clusterReference() {
  return objectReference('DatabaseCluster')
    .meta(rules(immutable('clusterRef', 'what is on one cluster cannot move to another, so create another object')))
    .describe('The DatabaseCluster on whose server it is. Immutable.');
}

export const CLUSTER_COLUMN: PrinterColumn = {
  name: 'Cluster',
  type: 'string',
  jsonPath: '.spec.clusterRef.name',
  description: 'The DatabaseCluster that it is on.',
};

/** The rules, on the object, that a name which defaults to metadata.name stays, be it that it is only written down or left out. */
export function nameStays(field: string, kind: string): readonly ValidationRule[] {
  const remedy = `a ${kind} keeps the name it was created with, so create another ${kind}`;
  const told = { fieldPath: `.spec.${field}`, reason: 'FieldValueForbidden' } as const;
  return [
    {
      rule: `!has(oldSelf.spec.${field}) || has(self.spec.${field}) || oldSelf.spec.${field} == self.metadata.name`,
      message: `${field} cannot be removed: ${remedy}`,
      ...told,
    },
    {
      rule: `has(oldSelf.spec.${field}) || !has(self.spec.${field}) || self.spec.${field} == self.metadata.name`,
      message: `${field} cannot be added: ${remedy}`,
      ...told,
    },
  ];
}

/** The rule, on the object, that the name of the object serves where none is set. */
export function nameNeeded(field: string): ValidationRule {
  return {
    rule: `has(self.spec.${field}) || self.metadata.name.matches(r'${IDENTIFIER}') || ${IS_KNOWN}`,
    message: `metadata.name begins with a digit or has dots, which a name on the server cannot: set spec.${field}`,
    fieldPath: `.spec.${field}`,
    reason: 'FieldValueRequired',
  };
}
