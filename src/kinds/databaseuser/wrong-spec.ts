import { isIdentifier } from '../server-schema.ts';
import { unknownPlaceholder } from './content.ts';
import { type UserSubject, usernameOf } from './observation.ts';
import { refusalOfSecret } from './schema.ts';

/** What the API server refuses, in an object from before its rules; undefined: there may be such a user. */
export function wrongSpec(
  subject: Pick<UserSubject, 'metadata' | 'spec'>,
): { readonly reason: string; readonly message: string } | undefined {
  const username = usernameOf(subject);
  if (!isIdentifier(username)) {
    const message = `"${username}" cannot be the name of a user: it must begin with a letter or underscore, and go on with letters, digits, underscores and hyphens. Create a DatabaseUser with spec.username`;
    return { reason: 'InvalidUsername', message };
  }
  const refusal = refusalOfSecret(subject.spec);
  if (refusal !== undefined) return { reason: 'InvalidSpec', message: refusal };
  const key = unknownPlaceholder(subject);
  if (key === undefined) return undefined;
  const message = `connectionSecret.template has a placeholder under key "${key}" that is not known, or braces that do not match: correct it`;
  return { reason: 'InvalidTemplate', message };
}
