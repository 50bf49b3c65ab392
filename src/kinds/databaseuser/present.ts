import { ROTATE_AT } from '../../kube/annotations.ts';
import type { ConditionUpdate } from '../../kube/condition.ts';
import { ready, stalled } from '../../kube/summary.ts';
import { awaitsRotation } from '../rotation.ts';
import { connectionSecretName, type UserDecision, type UserSeen, type UserSubject, usernameOf } from './observation.ts';

/** A person must act. A change of what the object refers to leads to a pass at once; other changes are found out slowly. */
export function stuck(reason: string, message: string): UserDecision {
  return { conditions: stalled(reason, message), retry: 'slowly' };
}

/** What people call the user. */
export function nameOf(subject: UserSubject, { at }: UserSeen): string {
  return `User "${usernameOf(subject)}" of DatabaseCluster "${at.clusterName}"`;
}

/** The password in the Secret signs in. */
export function readyConditions(subject: UserSubject, { at }: UserSeen): readonly ConditionUpdate[] {
  const { metadata, spec, status } = subject;
  const message = `User "${usernameOf(subject)}" signs in at ${at.endpoint} with the password in Secret "${connectionSecretName(subject)}"`;
  const own = spec.passwordSecretRef?.name;
  // Said until the next look: the annotation stays, and may be older than the person's own password.
  const isAsked = own !== undefined && awaitsRotation({ metadata, status });
  const hint = `. Annotation ${ROTATE_AT} replaces generated passwords only: to replace this one, change Secret "${own}"`;
  return ready('LoginWorks', isAsked ? `${message}${hint}` : message);
}
