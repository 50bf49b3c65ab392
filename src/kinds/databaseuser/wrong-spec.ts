import { MAX_DNS_NAME } from '../../kube/names.ts';
import { refusalOfServerName } from '../server-schema.ts';
import { connectionSecretName, owns, type UserSubject, usernameOf } from './observation.ts';
import { OWN_PASSWORD_FROM_OURS, refusalOfSecret } from './schema.ts';
import { unknownPlaceholder } from './secret/content.ts';

/** Returns what is wrong with a spec that is older than the API server's rules, or beyond them; undefined: the user may exist. */
export function wrongSpec(
  subject: Pick<UserSubject, 'metadata' | 'spec' | 'status'>,
): { readonly reason: string; readonly message: string } | undefined {
  const words = { thing: 'a user', instead: 'a DatabaseUser', field: 'username' };
  const wrongName = refusalOfServerName(usernameOf(subject), owns(subject), words);
  if (wrongName !== undefined) return { reason: 'InvalidUsername', message: wrongName };
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
