import * as z from 'zod';
import type { PrinterColumn, ValidationRule } from '../kube/definition.ts';
import { IS_KNOWN, immutable, objectReference, rules } from './shared-schema.ts';

/* What the specs of DatabaseUser and Database have in common: both describe things on the server of a DatabaseCluster. */

/**
 * Names on a server are "Unicode identifiers with `-`" (compatibility.md). This is XID_Start and XID_Continue, in classes that
 * both JavaScript and RE2, which the API server uses, know.
 */
const IDENTIFIER = String.raw`^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}-]*$`;
const identifier = new RegExp(IDENTIFIER, 'u');

/** Whether a server accepts it as the name of a user or database. */
export function isIdentifier(name: string): boolean {
  return identifier.test(name);
}

/** How messages about a name call things. */
interface NameWords {
  /** Such as `a user`. */
  readonly thing: string;
  /** What to create instead. */
  readonly instead: string;
  /** The name's field in the spec. */
  readonly field: string;
}

/**
 * Returns why nothing on a server can have this name; undefined: something can. The API server checks most of it, but not for older
 * objects. `isThere`: the object has something of that name, so the server is known to accept it.
 */
export function refusalOfServerName(
  name: string,
  isThere: boolean,
  { thing, instead, field }: NameWords,
): string | undefined {
  if (!isIdentifier(name))
    return `"${name}" cannot be the name of ${thing}: it must begin with a letter or underscore, followed by letters, digits, underscores and hyphens. Create ${instead} with spec.${field}`;
  if (isThere || isComposed(name)) return undefined;
  return `"${name}" has letters that are written as several characters, such as e and an accent; a server may join them and then not find the name: create another object with spec.${field} in Unicode's composed form (NFC)`;
}

/**
 * Whether the name is in Unicode's composed form (NFC). Some servers compose names, others do not, so a name in another form
 * is found on some only. The API server has no rule for this.
 */
function isComposed(name: string): boolean {
  return name === name.normalize();
}

/** The name of a user or database, such as `example`. `more`: further rules, which a later `.meta()` would replace. */
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
          message: `must begin with a letter or underscore, followed by letters, digits, underscores and hyphens, such as ${example}`,
        },
        ...more,
      ),
    );
}

export function clusterReference() {
  return objectReference('DatabaseCluster')
    .meta(rules(immutable('clusterRef', 'an object cannot move from one cluster to another, so create another object')))
    .describe('The DatabaseCluster that it is on. Immutable.');
}

export const CLUSTER_COLUMN: PrinterColumn = {
  name: 'Cluster',
  type: 'string',
  jsonPath: '.spec.clusterRef.name',
  description: 'The DatabaseCluster that it is on.',
};

/** Rules on the object: a name that defaults to metadata.name stays the same, though it may be written out or left out. */
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

/** The rule on the object: if no name is set, metadata.name must be a valid one. */
export function nameNeeded(field: string): ValidationRule {
  return {
    rule: `has(self.spec.${field}) || self.metadata.name.matches(r'${IDENTIFIER}') || ${IS_KNOWN}`,
    message: `metadata.name begins with a digit or has dots, which is not allowed in a name on the server: set spec.${field}`,
    fieldPath: `.spec.${field}`,
    reason: 'FieldValueRequired',
  };
}
