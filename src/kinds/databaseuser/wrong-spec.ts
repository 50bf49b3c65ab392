import { MAX_DNS_NAME } from '../../kube/names.ts';
import { isComposed, isIdentifier, notComposed } from '../server-schema.ts';
import { connectionSecretName, owns, type UserSubject, usernameOf } from './observation.ts';
import { OWN_PASSWORD_FROM_OURS, refusalOfSecret } from './schema.ts';
import { unknownPlaceholder } from './secret/content.ts';

/** Returns what is wrong with a spec that is older than the API server's rules, or beyond them; undefined: the user may exist. */
export function wrongSpec(
  subject: Pick<UserSubject, 'metadata' | 'spec' | 'status'>,
): { readonly reason: string; readonly message: string } | undefined {
  const username = usernameOf(subject);
  if (!isIdentifier(username)) {
    const message = `"${username}" cannot be the name of a user: it must begin with a letter or underscore, followed by letters, digits, underscores and hyphens. Create a DatabaseUser with spec.username`;
    return { reason: 'InvalidUsername', message };
  }
  // If the object has a user, the server is known to accept the name.
  if (!owns(subject) && !isComposed(username))
    return { reason: 'InvalidUsername', message: notComposed(username, 'username') };
  const refusal = refusalOfSecret(subject.spec);
  if (refusal !== undefined) return { reason: 'InvalidSpec', message: refusal };
  const secretName = connectionSecretName(subject);
  if (secretName.length > MAX_DNS_NAME) {
    const message = `The name of the Secret can have ${MAX_DNS_NAME} characters at most, so it cannot be the name of this object with "-connection": set connectionSecret.name`;
    return { reason: 'InvalidSpec', message };
  }
  if (subject.spec.passwordSecretRef?.name === secretName)
    return { reason: 'InvalidSpec', message: OWN_PASSWORD_FROM_OURS };
  const key = unknownPlaceholder(subject);
  if (key === undefined) return undefined;
  const message = `connectionSecret.template has a placeholder under key "${key}" that is not known, or braces that do not match: correct it`;
  return { reason: 'InvalidTemplate', message };
}
