import { MAX_DNS_NAME } from '../../kube/names.ts';
import { isComposed, isIdentifier, notComposed } from '../server-schema.ts';
import { unknownPlaceholder } from './content.ts';
import { connectionSecretName, owns, type UserSubject, usernameOf } from './observation.ts';
import { PASSWORD_FROM_OWN_SECRET, refusalOfSecret } from './schema.ts';

/** What the API server refuses, in an object from before its rules, or cannot refuse; undefined: there may be such a user. */
export function wrongSpec(
  subject: Pick<UserSubject, 'metadata' | 'spec' | 'status'>,
): { readonly reason: string; readonly message: string } | undefined {
  const username = usernameOf(subject);
  if (!isIdentifier(username)) {
    const message = `"${username}" cannot be the name of a user: it must begin with a letter or underscore, and go on with letters, digits, underscores and hyphens. Create a DatabaseUser with spec.username`;
    return { reason: 'InvalidUsername', message };
  }
  // Of one that is its own it is known that the server takes it.
  if (!owns(subject) && !isComposed(username))
    return { reason: 'InvalidUsername', message: notComposed(username, 'username') };
  const refusal = refusalOfSecret(subject.spec);
  if (refusal !== undefined) return { reason: 'InvalidSpec', message: refusal };
  const secretName = connectionSecretName(subject);
  if (secretName.length > MAX_DNS_NAME) {
    const message = `The name of the Secret, ${MAX_DNS_NAME} characters at most, cannot be that of this object with "-connection": set connectionSecret.name`;
    return { reason: 'InvalidSpec', message };
  }
  // Of one that has its user the password stands there already, and keeping it as it is may be what is wanted.
  if (!owns(subject) && subject.spec.passwordSecretRef?.name === secretName)
    return { reason: 'InvalidSpec', message: PASSWORD_FROM_OWN_SECRET };
  const key = unknownPlaceholder(subject);
  if (key === undefined) return undefined;
  const message = `connectionSecret.template has a placeholder under key "${key}" that is not known, or braces that do not match: correct it`;
  return { reason: 'InvalidTemplate', message };
}
