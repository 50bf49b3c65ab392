import { ROTATE_AT } from '../../../kube/annotations.ts';
import type { ClusterSubject } from '../observation.ts';

/** What the refusal of a password depends on: once any of it changes, the server may take a new password. */
export function refusalAbout({ metadata, status }: ClusterSubject, secretUID: string | undefined): string {
  const { uid, generation, annotations } = metadata;
  return JSON.stringify([uid, generation, annotations?.[ROTATE_AT], status.createdAt, status.endpoint, secretUID]);
}
