import { ROTATE_AT } from '../../kube/annotations.ts';
import type { Refusal } from '../password-tries.ts';
import type { ClusterSubject } from './observation.ts';
import type { ClusterWorld } from './world.ts';

/** What the server may say otherwise to: it is another one, or a person changes or asks for something, or the Secret is lost. */
export function refusalAbout({ metadata, status }: ClusterSubject, secretUID: string | undefined): string {
  const { uid, generation, annotations } = metadata;
  return JSON.stringify([uid, generation, annotations?.[ROTATE_AT], status.createdAt, status.endpoint, secretUID]);
}

/** Of a new password; undefined: one may be tried, as nothing was refused just now, or a person asks for a look. */
export function standingRefusal(
  { clock, memory }: Pick<ClusterWorld, 'clock' | 'memory'>,
  subject: ClusterSubject,
  secretUID: string | undefined,
): Refusal | undefined {
  if (subject.lookNow) return undefined;
  return memory.tries.refusal(subject.key, refusalAbout(subject, secretUID), clock.monotonic());
}
