import type { CloudCredential } from '../../cloud/token.ts';
import { type SecretContents, valueFrom } from '../secrets.ts';
import type { DatabaseSpaceSpec } from './schema.ts';

/**
 * The API tokens of the space, from the contents of the Secrets that it names.
 * Throws TransientError SecretNotFound and TerminalError SecretKeyMissing, as `valueFrom`.
 */
export function credentialsFrom(
  { apiTokens }: Pick<DatabaseSpaceSpec, 'apiTokens'>,
  contents: ReadonlyMap<string, SecretContents | undefined>,
  namespace: string,
): readonly CloudCredential[] {
  return apiTokens.map(({ level, secretRef }) => {
    const secret = contents.get(secretRef.name);
    const value = (wanted: string) => valueFrom(secret, secretRef.name, wanted, namespace);
    return {
      level,
      clientID: value(secretRef.clientIDKey ?? 'clientID'),
      clientSecret: value(secretRef.clientSecretKey ?? 'clientSecret'),
    };
  });
}
