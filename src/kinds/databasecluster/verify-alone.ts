import { parseDuration } from '../../base/duration.ts';
import { type ConditionUpdate, findStatusCondition } from '../../kube/condition.ts';
import { reconciling } from '../../kube/summary.ts';
import type { SpaceConnection } from '../databasespace/connection.ts';
import type { DatabaseSpaceSpec } from '../databasespace/schema.ts';
import { untilVerification } from '../verification.ts';
import type { ClusterSubject, LoginObservation, WaitingForSpace } from './observation.ts';
import { observeLogin } from './observe-login.ts';
import { type ClusterDecision, factoryLoginRetired, loginWorks, unobserved } from './present.ts';
import type { ClusterWorld } from './world.ts';

/*
 * A cluster that was Ready stays so while its space is not observed. What Ready promises is asked of its server all the same, which
 * takes no word of the cloud; and where it cannot be asked, it is not promised any more once it should have been.
 */

/** Undefined: there is no login to be verified. */
export async function loginMeanwhile(
  world: ClusterWorld,
  subject: ClusterSubject,
  space: Pick<DatabaseSpaceSpec, 'verifyInterval'> | undefined,
  connection: SpaceConnection | undefined,
  signal: AbortSignal,
): Promise<WaitingForSpace['login']> {
  const endpoint = subject.status.credentials?.endpoint;
  if (endpoint === undefined || !isToWork(subject)) return undefined;
  if (connection !== undefined) return observeLogin(world, subject, connection, endpoint, signal);
  const lastMs = world.memory.verifications.lastAtMs(subject.key);
  const intervalMs = parseDuration(space?.verifyInterval ?? '0s');
  const verifyInMs = untilVerification(subject.metadata.uid, intervalMs, lastMs, world.clock.now());
  return verifyInMs === undefined || verifyInMs > 0 ? { login: 'settled', verifyInMs } : { login: 'untriable' };
}

/** Its server ran, with a login that worked, and it is to. */
function isToWork({ metadata, spec, status, deleting }: ClusterSubject): boolean {
  const ready = findStatusCondition(status.conditions, 'Ready');
  return (
    !deleting &&
    spec.managementPolicy === 'Manage' &&
    spec.state === 'Running' &&
    status.state === 'running' &&
    status.endpoint === status.credentials?.endpoint &&
    status.observedGeneration === metadata.generation &&
    (ready?.status === 'True' || ready?.reason === 'WaitingForSpace')
  );
}

/** Of a cluster that is or was Ready. Nothing is mended before the cloud says which cluster it is. */
export function decideMeanwhile(
  subject: ClusterSubject,
  { reason, message, login }: WaitingForSpace,
  isReady: boolean,
): ClusterDecision | undefined {
  if (login === undefined) return isReady ? { conditions: 'keep' } : undefined;
  const found = meaningOf(subject, login);
  const verifyInMs = login.login === 'settled' || login.login === 'tried' ? login.verifyInMs : undefined;
  const when = verifyInMs === undefined ? {} : { requeueAfterMs: verifyInMs };
  const again = login.login === 'unreachable' ? ({ retry: 'soon' } as const) : when;
  const failing = found.find(({ status }) => status !== 'True');
  if (isReady && failing === undefined) return { conditions: 'keep', ...again };
  const types = new Set(found.map(({ type }) => type));
  const others = unobserved(subject, reason).filter(({ type }) => !types.has(type));
  const told = failing ?? others.find(({ type, status }) => type === 'Available' && status !== 'True');
  return {
    conditions: [
      ...reconciling(reason, told === undefined ? message : `${message}. ${told.message}`),
      ...others,
      ...found,
    ],
    ...again,
    ...(login.login === 'unreachable' ? { mayPass: !login.heldBack } : {}),
  };
}

/** The conditions that it changes. */
function meaningOf(
  { status }: ClusterSubject,
  login: LoginObservation | { readonly login: 'untriable' },
): readonly ConditionUpdate[] {
  const endpoint = status.credentials?.endpoint;
  const not = (what: string, known: 'False' | 'Unknown' = 'False'): ConditionUpdate => ({
    type: 'Available',
    status: known,
    reason: 'NotVerified',
    message: what,
  });
  switch (login.login) {
    case 'untriable':
      return [not(`The login cannot be tried at ${endpoint} while the space is not connected`, 'Unknown')];
    case 'unreachable':
      // What is held back, or put off, says nothing new.
      return login.heldBack || login.isThrottled
        ? []
        : [not(`The server at ${endpoint} cannot be used: ${login.message}`)];
    case 'secretTaken':
      return [not(`Secret "${login.secretName}" does not hold the login of this cluster any more`)];
    case 'tried': {
      if (login.factoryAlive === true) {
        const message = `The login that new clusters come with works at ${endpoint}`;
        return [not(message), { type: 'CredentialsSecured', status: 'False', reason: 'NotYet', message }];
      }
      if (login.working !== 'current' && login.working !== 'next')
        return [not(`The server at ${endpoint} refuses the login in Secret "${login.secretName}"`)];
      return [loginWorks({ endpoint }), factoryLoginRetired(login.secretName)];
    }
    default:
      return [];
  }
}
