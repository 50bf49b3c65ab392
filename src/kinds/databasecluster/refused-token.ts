import { TerminalError } from '../../base/errors.ts';
import type { AccessLevel } from '../../cloud/token.ts';
import { ApiError } from '../../http/api-error.ts';
import { spaceKeyOf } from './identity.ts';
import type { ClusterSubject } from './observation.ts';
import type { ClusterWorld } from './world.ts';

/** If the cloud refuses a call because of its token, says which Secrets to look at: they are the space's. */
export async function namingSecrets<T>(world: ClusterWorld, subject: ClusterSubject, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError) || error.api !== 'cloud') throw error;
    const space = spaceKeyOf(subject);
    const level = world.connections.get(space)?.client.refusedLevel(error);
    if (error.kind !== 'unauthorized' && level === undefined) throw error;
    throw new TerminalError('CredentialsInvalid', refusalWords(world, subject, error, level), { cause: error });
  }
}

/** Says which Secrets to look at after a refusal. `level`: of the API token that was refused; undefined: it may be any. */
export function refusalWords(
  world: Pick<ClusterWorld, 'space'>,
  subject: ClusterSubject,
  error: ApiError,
  level: AccessLevel | undefined,
): string {
  const { apiTokens = [] } = world.space(spaceKeyOf(subject))?.spec ?? {};
  const meant = apiTokens.filter((token) => level === undefined || token.level === level);
  const names = [...new Set(meant.map(({ secretRef }) => `"${secretRef.name}"`))];
  const [tokens, secrets] = names.length === 1 ? ['API token', 'Secret'] : ['API tokens', 'Secrets'];
  return `${error.message}. Check the ${tokens} of DatabaseSpace "${subject.spec.spaceRef.name}", in the ${secrets} ${names.join(', ')}`;
}
