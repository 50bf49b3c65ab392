import { ApiError } from '../../base/api-error.ts';
import { TerminalError } from '../../base/errors.ts';
import { spaceKeyOf } from './claimants.ts';
import type { ClusterSubject } from './observation.ts';
import type { ClusterWorld } from './world.ts';

/** A call to the cloud that was refused for its token says which Secrets to look at: they are the space's. */
export async function namingSecrets<T>(world: ClusterWorld, subject: ClusterSubject, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError) || error.api !== 'cloud' || error.kind !== 'unauthorized') throw error;
    const { apiTokens = [] } = world.space(spaceKeyOf(subject))?.spec ?? {};
    const names = [...new Set(apiTokens.map(({ secretRef }) => `"${secretRef.name}"`))].join(', ');
    const message = `${error.message}. Check the API tokens of DatabaseSpace "${subject.spec.spaceRef.name}", in the Secrets ${names}`;
    throw new TerminalError('CredentialsInvalid', message, { cause: error });
  }
}
