import { createHash } from 'node:crypto';

/** Returns the digest of a source or a schema, which the status has as `hash` or under a name that ends so. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const CLAUSE = /\s*,?\s+(?=(?:sub|value|owns|plays|relates)\s)/;
const TYPE = /^(?:entity|relation|attribute|struct)\s/;

const LITERAL = /"(?:[^"\\]|\\.)*"/gs;
/** Stand in for what ends words and statements elsewhere, as it means something in a text such as that of `@regex`. */
const VEIL = 0xe000;
const veiled = (literal: string) =>
  literal.replaceAll(/[\t\n\v\f\r ;]/g, (mark) => String.fromCharCode(VEIL + mark.charCodeAt(0)));
const unveiled = (statement: string) =>
  statement.replaceAll(/[\ue009-\ue03b]/g, (mark) => String.fromCharCode(mark.charCodeAt(0) - VEIL));

/**
 * Returns the digest of a schema as a server shows it. The order of types and of their clauses means nothing and may differ from one
 * read to the next; whitespace outside texts means nothing either.
 */
export function schemaDigest(text: string): string {
  const statements: string[] = [];
  let inFunction = false;
  for (const part of text
    .replaceAll(LITERAL, veiled)
    .replace(/^\s*define\b/, '')
    .split(';')) {
    const statement = part.trim().replaceAll(/\s+/g, ' ');
    if (statement === '') continue;
    const isType = TYPE.test(statement);
    if (isType || statement.startsWith('fun ')) {
      inFunction = !isType;
      statements.push(isType ? typeStatement(statement) : statement);
    } else if (inFunction) statements.push(`${statements.pop()}; ${statement}`);
    else statements.push(statement);
  }
  return hashOf(statements.map(unveiled).toSorted().join(';\n'));
}

function typeStatement(statement: string): string {
  const [head = '', ...clauses] = statement.split(CLAUSE).map(unveiled);
  return [head, ...clauses.toSorted()].join(', ');
}
