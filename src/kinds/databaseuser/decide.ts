import { LOOK_THERE } from '../../kube/annotations.ts';
import { settling } from '../claim.ts';
import { rotationWaits } from '../rotation.ts';
import { takenWords } from '../secret-holder.ts';
import { labelsInWords, USER_LABEL } from '../secrets.ts';
import { type NoServer, withoutServer } from '../server/dependents.ts';
import { decideDeletion } from './decide-deletion.ts';
import { decideLogin } from './login/decide-login.ts';
import { decideWorking } from './login/decide-working.ts';
import {
  connectionSecretName,
  type UserDecision,
  type UserObservation,
  type UserSubject,
  usernameOf,
} from './observation.ts';
import { stuck } from './present.ts';
import { wrongSpec } from './wrong-spec.ts';

/**
 * The first answer wins. The order is behaviour: whether there may be such a user at all comes before whether its server can be
 * worked on; then whose the user is, before anything is done to it.
 */
export function decideUser(subject: UserSubject, observation: UserObservation, nowMs: number): UserDecision {
  if (subject.deleting) return decideDeletion(subject, observation, nowMs);
  const wrong = wrongSpec(subject);
  if (wrong !== undefined) return stuck(wrong.reason, wrong.message);
  if (observation.server === 'notNeeded') return { conditions: 'keep' };
  if (observation.server !== 'open') return withoutServer(subject, withRotation(subject, observation));
  const { claimedBy, at, login } = observation;
  const username = usernameOf(subject);
  const where = `DatabaseCluster "${at.clusterName}"`;
  if (claimedBy !== undefined) {
    const message = `User "${username}" of ${where} belongs to DatabaseUser "${claimedBy}": ${settling('create this one with another username', ', with which its connection Secret goes')}`;
    return stuck('UserClaimed', message);
  }
  switch (login.login) {
    case 'reserved': {
      const message = `User "${username}" is the one that ${where} itself works with, and is left alone: create this object with another username`;
      return stuck('UsernameReserved', message);
    }
    case 'secretTaken': {
      const rename = 'set connectionSecret.name to another name';
      const labels = labelsInWords(USER_LABEL, subject.metadata.name);
      return stuck('SecretNotOurs', takenWords(connectionSecretName(subject), login.by, labels, rename));
    }
    case 'anyAccepted': {
      // Promoting a password because it signs in might erase the one that the server has.
      const message = `The server at ${at.endpoint} accepts any password, even one that it was never given, so Mooring cannot tell which password user "${username}" has, and changes nothing: check whether its authentication is switched off, or something in front of it answers instead, ${LOOK_THERE}`;
      return stuck('AnyPasswordAccepted', message);
    }
    case 'settled':
      return decideWorking(subject, observation, undefined, login, nowMs);
    case 'tried':
      return decideLogin(subject, observation, login, nowMs);
    case 'notTried':
    case 'ending':
      throw new Error(`A login that is ${login.login} is decided on before`);
    default:
      return login satisfies never;
  }
}

/** Also says that a new password, which was asked for, waits for a cluster that sleeps. The first one is as new as can be. */
function withRotation(subject: UserSubject, access: NoServer): NoServer {
  const isAsleep = access.server === 'waiting' && access.why === 'suspended';
  if (!isAsleep || subject.status.lastRotation === undefined || subject.spec.passwordSecretRef !== undefined)
    return access;
  return { ...access, message: `${access.message}${rotationWaits(subject, 'the cluster runs again')}` };
}
