import { LET_GO, LOOK_THERE } from '../../kube/annotations.ts';
import { failing, reconciling } from '../../kube/summary.ts';
import { LANDING_MS } from '../attempts.ts';
import { whyLeft } from '../server/dependents.ts';
import {
  connectionSecretName,
  type UserDecision,
  type UserObservation,
  type UserSubject,
  usernameOf,
} from './observation.ts';

/** Decides what happens to the user when its object is deleted. The connection Secret goes with the object, which owns it. */
export function decideDeletion(subject: UserSubject, observation: UserObservation, nowMs: number): UserDecision {
  const { spec } = subject;
  const release: UserDecision = { conditions: 'keep', release: true };
  if (spec.deletionPolicy === 'Retain' || observation.server === 'notNeeded') return release;
  const username = usernameOf(subject);
  if (observation.server === 'refused') {
    const message = `User "${username}" cannot be deleted: ${observation.message}. ${LET_GO}`;
    return { conditions: failing('DeletionBlocked', message), retry: 'slowly' };
  }
  if (observation.server === 'waiting') {
    const { reason, message, why, destroyed, starting } = observation;
    const cause = whyLeft(subject, observation);
    if (cause === undefined) {
      if (starting) return { conditions: 'keep' };
      const waits = `User "${username}" is deleted when its cluster can be used: ${message}. ${LET_GO}`;
      return { conditions: reconciling(reason, waits) };
    }
    if (destroyed) return release;
    const remedy =
      why === 'shared'
        ? 'A DatabaseUser there may use it: leave the user as it is, unless you are sure that nobody does'
        : 'If the cluster was destroyed, the user went with it; if it still exists, delete the user there, unless another DatabaseUser or an application uses it';
    const left = `User "${username}" was not deleted on the server, as ${cause}. ${remedy}`;
    return { ...release, steps: [{ do: 'TellLeft', message: left }] };
  }
  const { login, claimedBy } = observation;
  const { clusterName, endpoint, identity } = observation.at;
  if (login.login === 'anyAccepted') {
    const message = `The server at ${endpoint} accepts any password, even one that it was never given, so Mooring cannot tell whether user "${username}" was created for this object, and does not delete it: check whether its authentication is switched off, or something in front of it answers instead, ${LOOK_THERE}. ${LET_GO}`;
    return { conditions: failing('AnyPasswordAccepted', message), retry: 'slowly' };
  }
  if (claimedBy !== undefined || login.login !== 'ending' || login.whose === 'others') return release;
  if (login.whose === 'coming') {
    // Nothing more is asked for once it is being deleted. The API server's clock may be a little ahead; if by more, some clock is wrong.
    const landsInMs = Date.parse(subject.metadata.deletionTimestamp ?? '') + LANDING_MS - nowMs;
    if (!(landsInMs > 0 && landsInMs <= 2 * LANDING_MS)) return release;
    const message = `User "${username}" may have been asked for, but does not exist: Mooring waits a minute, as it may still be created. ${LET_GO}`;
    return { conditions: reconciling('CreatingUser', message), requeueAfterMs: landsInMs };
  }
  if (login.whose === 'unknown') {
    const left = `User "${username}" is on the server of DatabaseCluster "${clusterName}", and Mooring can no longer tell whether it was created for this object, as its Secret "${connectionSecretName(subject)}" went first, or had another name: delete it there, unless it is somebody else's`;
    return { ...release, steps: [{ do: 'TellLeft', message: left }] };
  }
  const message = `User "${username}" of DatabaseCluster "${clusterName}" is being deleted`;
  const conditions = reconciling('DeletingUser', message);
  return { conditions, steps: [{ do: 'DeleteUser', username, identity }], release: true };
}
