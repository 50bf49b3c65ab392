import { TransientError } from '../../../base/errors.ts';
import type { CloudCredential } from '../../../cloud/token.ts';
import { type SecretContents, valuesFrom } from '../../secrets.ts';
import type { DatabaseSpaceSpec } from '../schema.ts';

/**
 * Returns the API tokens of the space, from the contents of the Secrets that it names.
 * Throws TransientError SecretNotFound and TerminalError SecretKeyMissing, like `valuesFrom`.
 */
export function credentialsFrom(
  { apiTokens }: Pick<DatabaseSpaceSpec, 'apiTokens'>,
  contents: ReadonlyMap<string, SecretContents | undefined>,
  namespace: string,
): readonly CloudCredential[] {
  return apiTokens.map(({ level, secretRef }) => {
    const secret = contents.get(secretRef.name);
    const [clientID, clientSecret] = valuesFrom(secret, secretRef.name, tokenKeys(secretRef), namespace);
    return { level, clientID, clientSecret };
  });
}

function tokenKeys(ref: DatabaseSpaceSpec['apiTokens'][number]['secretRef']) {
  return [ref.clientIDKey ?? 'clientID', ref.clientSecretKey ?? 'clientSecret'] as const;
}

/** Returns an error that names all missing Secrets; undefined: at most one is missing, which `valuesFrom` reports. */
export function severalMissing(
  {
    apiTokens,
    defaultCredentialsSecretRef: login,
  }: Pick<DatabaseSpaceSpec, 'apiTokens' | 'defaultCredentialsSecretRef'>,
  contents: ReadonlyMap<string, SecretContents | undefined>,
  namespace: string,
): TransientError | undefined {
  const wanted = [
    ...apiTokens.map(({ secretRef }) => ({ name: secretRef.name, keys: tokenKeys(secretRef) })),
    { name: login.name, keys: [login.usernameKey ?? 'username', login.passwordKey ?? 'password'] },
  ].filter(({ name }) => contents.get(name) === undefined);
  const byName = [...Map.groupBy(wanted, ({ name }) => name)];
  if (byName.length < 2) return undefined;
  // Secrets with the same keys are listed together.
  const keysOf = new Map(
    byName.map(([name, uses]) => [name, [...new Set(uses.flatMap(({ keys }) => keys))].join(', ')] as const),
  );
  const groups = [...Map.groupBy(keysOf.keys(), (name) => keysOf.get(name))].map(
    ([keys, names]) => `${names.map((name) => `"${name}"`).join(', ')} (keys ${keys})`,
  );
  const message = `Secrets ${groups.join(' and ')} do not exist: create them in namespace "${namespace}"`;
  return new TransientError('SecretNotFound', message);
}
