import { digestOf } from '../../../database/logins.ts';
import { ROTATE_AT } from '../../../kube/annotations.ts';
import type { OpenServer } from '../../server/access.ts';
import { type UserSubject, usernameOf } from '../observation.ts';

/**
 * Returns what a password was refused for: once any of it has changed, the server may take a new password. `password` is part of it
 * only if it is a person's own.
 */
export function refusalAbout(
  subject: UserSubject,
  { identity, endpoint }: Pick<OpenServer, 'identity' | 'endpoint'>,
  password: string,
  secretUID: string | undefined,
): string {
  const { metadata, spec } = subject;
  const own = spec.passwordSecretRef === undefined ? '' : digestOf({ username: usernameOf(subject), password });
  const asked = metadata.annotations?.[ROTATE_AT];
  return JSON.stringify([metadata.uid, metadata.generation, asked, own, identity, endpoint, secretUID]);
}
