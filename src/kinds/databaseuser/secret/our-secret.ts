import { otherHolder, type SecretHolder } from '../../secret-holder.ts';
import { ADMIN_ANNOTATIONS, ownerValue, type SecretContents, USER_LABEL } from '../../secrets.ts';
import type { UserSubject } from '../observation.ts';
import { databaseUserDefinition } from '../schema.ts';
import type { LocalWork } from '../work.ts';

/* Whose a Secret is. */

export function isOurSecret({ metadata }: Pick<UserSubject, 'metadata'>, secret: SecretContents): boolean {
  const isTold = secret.labels[USER_LABEL] === ownerValue(metadata.name);
  // The login of a cluster is never a user's, whoever has become the Secret's owner.
  const isOwner =
    !(ADMIN_ANNOTATIONS.loginOf in secret.annotations) &&
    secret.ownerReferences.some(({ uid }) => uid === metadata.uid);
  return isOwner || (isTold && holderOf({ metadata }, secret) === undefined);
}

/** Returns another object that the Secret belongs to. */
export function holderOf(
  { metadata }: Pick<UserSubject, 'metadata'>,
  secret: SecretContents,
): SecretHolder | undefined {
  return otherHolder({ kind: databaseUserDefinition.kind, name: metadata.name }, secret);
}

/** Reads a Secret of this object; undefined: there is none, or it is not ours. */
export async function readOurs(
  { world, subject, signal }: LocalWork,
  name: string,
): Promise<SecretContents | undefined> {
  const secret = await world.secrets.read(subject.metadata.namespace ?? '', name, signal);
  return secret !== undefined && isOurSecret(subject, secret) ? secret : undefined;
}
