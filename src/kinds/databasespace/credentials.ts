import type { CloudCredential } from '../../cloud/token.ts';
import { type SecretContents, valuesFrom } from '../secrets.ts';
import type { DatabaseSpaceSpec } from './schema.ts';

/**
 * The API tokens of the space, from the contents of the Secrets that it names.
 * Throws TransientError SecretNotFound and TerminalError SecretKeyMissing, as `valuesFrom`.
 */
export function credentialsFrom(
  { apiTokens }: Pick<DatabaseSpaceSpec, 'apiTokens'>,
  contents: ReadonlyMap<string, SecretContents | undefined>,
  namespace: string,
): readonly CloudCredential[] {
  return apiTokens.map(({ level, secretRef }) => {
    const secret = contents.get(secretRef.name);
    const keys = [secretRef.clientIDKey ?? 'clientID', secretRef.clientSecretKey ?? 'clientSecret'] as const;
    const [clientID, clientSecret] = valuesFrom(secret, secretRef.name, keys, namespace);
    return { level, clientID, clientSecret };
  });
}
