import { digestOf } from '../../database/logins.ts';
import { ROTATE_AT } from '../../kube/annotations.ts';
import type { Refusal } from '../password-tries.ts';
import type { OpenServer } from '../server/access.ts';
import { type UserSubject, usernameOf } from './observation.ts';
import type { UserWorld } from './world.ts';

/**
 * What the server may say otherwise to: another user or password of a person, or that a person asks for one, or has the Secret.
 * `password`: matters only where it is a person's own.
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

/** Of the coming password; undefined: it may be tried, as nothing was refused just now, or a person asks for a look. */
export function standingRefusal(
  { clock, memory }: Pick<UserWorld, 'clock' | 'memory'>,
  subject: UserSubject,
  access: OpenServer,
  password: string,
  secretUID: string | undefined,
): Refusal | undefined {
  if (subject.lookNow) return undefined;
  return memory.tries.refusal(subject.key, refusalAbout(subject, access, password, secretUID), clock.monotonic());
}
