import { parseDuration } from '../../../base/duration.ts';
import { type ConditionUpdate, findStatusCondition } from '../../../kube/condition.ts';
import { reconciling } from '../../../kube/summary.ts';
import type { SpaceConnection } from '../../databasespace/connection/connection.ts';
import type { DatabaseSpaceSpec } from '../../databasespace/schema.ts';
import { untilVerification } from '../../verification.ts';
import type { ClusterDecision, ClusterSubject, TriedLogin, WaitingForSpace } from '../observation.ts';
import { factoryLoginRetired, loginWorks, notVerified, unobserved, verifiedLogin } from '../present.ts';
import type { LocalWork } from '../work.ts';
import { observeLogin } from './observe-login.ts';
import { whatIsWrong } from './wrong-login.ts';

/*
 * A cluster that was Ready stays so while its space is not observed. What Ready promises is still asked of its server, which
 * needs no word from the cloud. If the server should have been asked but cannot be, the promise ends.
 */

/** Undefined: there is no login to verify. */
export async function loginMeanwhile(
  work: LocalWork,
  space: Pick<DatabaseSpaceSpec, 'verifyInterval'> | undefined,
  connection: SpaceConnection | undefined,
): Promise<WaitingForSpace['login']> {
  const { world, subject } = work;
  const endpoint = subject.status.credentials?.endpoint;
  if (endpoint === undefined || !isToWork(subject)) return undefined;
  if (connection !== undefined && isServerOf(connection, subject, endpoint))
    return observeLogin({ ...work, connection }, endpoint);
  const lastMs = world.memory.verifications.lastAtMs(subject.key);
  const intervalMs = parseDuration(space?.verifyInterval ?? '0s');
  const verifyInMs = untilVerification(subject.metadata.uid, intervalMs, lastMs, world.clock.now());
  return verifyInMs === undefined || verifyInMs > 0 ? { login: 'settled', verifyInMs } : { login: 'untriable' };
}

/** The status alone is no reason to send a login there: the address must still be the one that the space makes of it, and allowed. */
function isServerOf(connection: SpaceConnection, { status }: ClusterSubject, endpoint: string): boolean {
  return status.servers?.some(({ address }) => connection.findServerURL(address) === endpoint) ?? false;
}

/** Whether its server ran, with a login that worked, and should run. */
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

/**
 * For a cluster that is or was Ready. Nothing is mended before the cloud says which cluster it is. But a new password that the
 * server already has is put where applications look for it.
 */
export function decideMeanwhile(
  subject: ClusterSubject,
  { reason, message, starting, login }: WaitingForSpace,
  isReady: boolean,
  nowMs: number,
): ClusterDecision | undefined {
  if (login === undefined) return isReady ? { conditions: 'keep' } : undefined;
  const { conditions = [], credentials } = subject.status;
  const endpoint = credentials?.endpoint ?? '';
  const found =
    login.login === 'tried' ? meaningOf(subject, endpoint, login) : meaningUntried(subject, endpoint, login);
  const failing = found.find(({ status }) => status !== 'True');
  const works = login.login === 'tried' && failing === undefined;
  if (works && login.working === 'next') return { conditions: 'keep', steps: [{ do: 'PromotePassword' }], hold: true };
  const verified = works ? verifiedLogin(subject, { login, endpoint }, nowMs) : undefined;
  const rest = { ...(verified === undefined ? {} : { status: verified }), ...paceOf(login) };
  const isNews = found.some(({ type, status }) => findStatusCondition(conditions, type)?.status !== status);
  if ((isReady && failing === undefined) || (starting && !isNews)) return { conditions: 'keep', ...rest };
  const types = new Set(found.map(({ type }) => type));
  const others = unobserved(subject, reason).filter(({ type }) => !types.has(type));
  const told = failing ?? others.find(({ type, status }) => type === 'Available' && status !== 'True');
  const summary = reconciling(reason, told === undefined ? message : `${message}. ${told.message}`);
  return { conditions: [...summary, ...others, ...found], ...rest, ...(mayPass(login) ? { mayPass: true } : {}) };
}

type Login = NonNullable<WaitingForSpace['login']>;

/** When to try again. */
function paceOf(login: Login): Pick<ClusterDecision, 'retry' | 'requeueAfterMs'> {
  if (login.login === 'unreachable' || isAwaited(login)) return { retry: 'soon' };
  const verifyInMs = login.login === 'settled' || login.login === 'tried' ? login.verifyInMs : undefined;
  return verifyInMs === undefined ? {} : { requeueAfterMs: verifyInMs };
}

/** Whether the failure may be over in a moment, and need not be reported yet. */
function mayPass(login: Login): boolean {
  return login.login === 'unreachable' ? !login.heldBack : isAwaited(login);
}

/** Whether a new password was taken a moment ago that does not sign in yet. */
function isAwaited(login: Login): boolean {
  return login.login === 'tried' && login.working === 'none' && login.isAwaited;
}

/** The conditions that follow from trying the logins. */
function meaningOf(subject: ClusterSubject, endpoint: string, login: TriedLogin): readonly ConditionUpdate[] {
  const { working, workingOf, factoryAlive, secretName } = login;
  const wrong = whatIsWrong(subject, endpoint, login);
  if (wrong !== undefined) return wrong.secured === undefined ? [wrong.available] : [wrong.available, wrong.secured];
  if (working === 'next') return [];
  if (factoryAlive === true || working === 'factory') {
    const message = `The login that new clusters come with works at ${endpoint}`;
    return [notVerified(message), { type: 'CredentialsSecured', status: 'False', reason: 'NotYet', message }];
  }
  const works = loginWorks({ endpoint });
  if (working === 'current') return factoryAlive === false ? [works, factoryLoginRetired(secretName)] : [works];
  // Users and databases on the cluster use the Secret that the status names, until the login has moved.
  if (working === 'inherited' && workingOf === subject.status.credentials?.secretName) return [works];
  if (working === 'none') return [notVerified(`The new password was taken, but does not sign in yet at ${endpoint}`)];
  return [notVerified(`Secret "${secretName}" holds no login that works: it gets one once the space is observed`)];
}

/** Likewise if none was tried. */
function meaningUntried(
  { status }: ClusterSubject,
  endpoint: string,
  login: Exclude<Login, TriedLogin>,
): readonly ConditionUpdate[] {
  const isTold = findStatusCondition(status.conditions, 'Available')?.status === 'False';
  switch (login.login) {
    case 'untriable':
      return [notVerified(`The login cannot be tried at ${endpoint} before the space is observed`, 'Unknown')];
    case 'unreachable':
      // A server that asks for fewer calls is there. A call that was held back says nothing new, unless nothing was said yet.
      return login.isThrottled || (login.heldBack && isTold)
        ? []
        : [notVerified(`The server at ${endpoint} cannot be used: ${login.message}`)];
    case 'secretTaken':
      return [notVerified(`Secret "${login.secretName}" does not hold the login of this cluster any more`)];
    default:
      return [];
  }
}
