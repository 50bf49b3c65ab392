import { ApiError, isHeldBack } from '../../../http/api-error.ts';
import { isStatusConditionTrue } from '../../../kube/condition.ts';
import type { SpaceConnection } from '../../databasespace/connection/connection.ts';
import type { Login } from '../../secrets.ts';
import { earlier, untilVerification } from '../../verification.ts';
import { adminSecretName, currentID } from '../identity.ts';
import type { ClusterSubject, LoginObservation, WorkingLogin } from '../observation.ts';
import type { Work } from '../work.ts';
import type { ClusterWorld } from '../world.ts';
import { findWorking, isHeld, powerlessUser, tryOthers } from './find-working.ts';
import { leftOf, otherLandsForMs } from './former-secrets.ts';
import { isFactorysLogin, isOtherUser, type KnownLogins, paddedIn, readLogins, untilReplaced } from './known-logins.ts';
import { refusalAbout } from './refusal.ts';
import { takenByLogin, takenByOthers } from './secret-taken.ts';

/**
 * Returns which login works. Throws TransientError or TerminalError if none does and existingSecretRef names a Secret or key
 * that is missing. Makes no call while Secret and server are those last verified and no verification is due; otherwise
 * one sign-in with the published login and one with the factory's, which must fail.
 */
export async function observeLogin(work: Work, endpoint: string): Promise<LoginObservation> {
  const { world, subject, connection } = work;
  const { clock, memory, secrets } = world;
  const { verifications } = memory;
  const lastMs = verifications.lastAtMs(subject.key);
  const verifyInMs = untilNext(subject, connection, lastMs, otherLandsForMs(world, subject), clock.now());
  const isDoubtful = memory.putElsewhere(subject.key, adminSecretName(subject)) !== undefined;
  const due = subject.lookNow || isDoubtful || (verifyInMs !== undefined && verifyInMs <= 0);
  const asVerified = isAsVerified(work, endpoint);
  const settled = (againInMs: number | undefined): LoginObservation => {
    const secretUID = secrets.uid(subject.metadata.namespace ?? '', adminSecretName(subject));
    return {
      login: 'settled',
      verifyInMs: againInMs,
      refusal: refusalOf(world, subject, secretUID),
    };
  };
  if (!due && asVerified) return settled(verifyInMs);
  try {
    return await tryLogins(work, endpoint, due);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A server that asks for fewer calls has not been down.
    if (error.kind !== 'throttled') memory.looksAway(subject.key);
    const isRoutine = asVerified && !isDoubtful;
    const againInMs = verifications.putOff.againInMs(subject, isRoutine, error, clock.monotonic());
    return againInMs === undefined ? unreachable(world, subject, error) : settled(againInMs);
  }
}

/** `fresh`: nothing remembered counts. */
async function tryLogins(work: Work, endpoint: string, fresh: boolean): Promise<LoginObservation> {
  const { world, subject, connection, signal } = work;
  const { clock, memory, random } = world;
  const nowMs = clock.now();
  const known = await readLogins(work, connection.factoryLogin);
  const { secret, secretName, nextIs } = known;
  const taken = secret && takenByOthers(subject, secret);
  if (taken !== undefined) return taken;
  const logins = connection.logins(endpoint, currentID(subject));
  if (!memory.looksAt(subject.key, endpoint)) logins.doubt();
  const isNextTaken = isJustTaken(world, subject, endpoint, known.next);
  const found = await findWorking(logins, known, { fresh, nextFirst: isNextTaken || nextIs === 'foreign' }, signal);
  const working: WorkingLogin = found?.working ?? (isHeld(world, subject, logins, known) ? 'held' : 'none');
  const isAwaited = isNextTaken || (working === 'none' && isTakenElsewhere(world, subject, endpoint, known));
  // Nobody else may know the password of a cluster that was let go, so it is not overwritten.
  if (working !== 'current' && working !== 'next' && secret !== undefined) {
    const others = takenByLogin(world, subject, secret, connection);
    if (others !== undefined) return others;
  }
  if (working === 'none' && !isAwaited && known.existingMissing !== undefined) throw known.existingMissing;
  const { factoryAlive, acceptsAny } = await tryOthers(logins, known, working, random, signal);
  // A session begun meanwhile would count as proof of its password once the server is right again.
  if (acceptsAny && found !== undefined) logins.drop(logins.session(found.login));
  const isJustSet = working === 'current' && isJustTaken(world, subject, endpoint, known.current);
  // Either the server accepts both for a moment, or somebody set the factory's password since: the next look signs in again.
  if (isJustSet && factoryAlive === true) logins.doubt();
  const powerless = await powerlessUser(logins, known, found?.login, signal);
  const isOther = factoryAlive === true && powerless === undefined && isOtherUser(known, found?.login);
  memory.unreachable.forget(subject.key);
  if (factoryAlive === false) memory.verified(subject.key, secretName, nowMs);
  const { landsForMs, ...left } = leftOf(world, subject, known.inherited);
  return {
    login: 'tried',
    secretName,
    secretVersion: known.current === undefined ? undefined : secret?.resourceVersion,
    factoryVersion: connection.factoryVersion(),
    next: nextIs,
    isAwaited,
    isJustSet,
    replacedInMs: untilReplaced(world, subject, known, factoryAlive === true ? 'factory' : working),
    working,
    ...(found?.of === undefined ? {} : { workingOf: found.of }),
    // A factory login that came back is what the Secret holds until another one replaces it.
    factoryAlive: factoryAlive ?? (isFactorysLogin(known, working) ? true : undefined),
    acceptsAny,
    powerless,
    managedBy: isOther ? found?.login.username : undefined,
    verifyInMs: untilNext(subject, connection, nowMs, landsForMs, nowMs),
    refusal: refusalOf(world, subject, secret?.uid),
    ...left,
    ...(working === 'none' ? { paddedIn: paddedIn(known), hasFormer: known.inherited.length > 0 } : {}),
  };
}

/** Whether the password was taken so lately that not all servers and their machines may know of it yet. */
function isJustTaken(
  { clock, memory }: ClusterWorld,
  { key, status }: ClusterSubject,
  endpoint: string,
  login: Login | undefined,
): boolean {
  if (login === undefined) return false;
  return memory.tries.isAwaited(key, { ...login, identity: status.createdAt, endpoint }, clock.monotonic());
}

/**
 * Likewise for the password in place, at a server that only has to learn of it: the one that took it has shown that it knows it, so
 * a refusal there is news, as it is at any server where this very Secret was verified.
 */
function isTakenElsewhere(
  { clock, memory }: ClusterWorld,
  { key, status: { createdAt, credentials } }: ClusterSubject,
  endpoint: string,
  { current, secret }: KnownLogins,
): boolean {
  const isVerified =
    credentials?.endpoint === endpoint && credentials.secretResourceVersion === secret?.resourceVersion;
  if (current === undefined || isVerified) return false;
  return memory.tries.isAwaitedElsewhere(key, { ...current, identity: createdAt, endpoint }, clock.monotonic());
}

/** The refusal of the next password, while its pause lasts. */
function refusalOf({ clock, memory }: ClusterWorld, subject: ClusterSubject, secretUID: string | undefined) {
  return memory.tries.refusal(subject, refusalAbout(subject, secretUID), clock.monotonic());
}

/** In how many milliseconds to try again. `landsForMs`: for how long another Secret's password may still replace this one. */
function untilNext(
  { metadata: { uid } }: ClusterSubject,
  { verifyIntervalMs }: SpaceConnection,
  lastMs: number,
  landsForMs: number | undefined,
  nowMs: number,
): number | undefined {
  return earlier(
    untilVerification(uid, verifyIntervalMs, lastMs, nowMs),
    landsForMs === undefined ? undefined : Math.min(landsForMs, untilLook(lastMs, nowMs)),
  );
}

function unreachable({ clock, memory }: ClusterWorld, subject: ClusterSubject, error: ApiError): LoginObservation {
  return {
    login: 'unreachable',
    message: error.message,
    isNonsense: error.kind === 'badAnswer',
    isThrottled: error.kind === 'throttled',
    heldBack: isHeldBack(error),
    forMs: memory.unreachable.begin(subject, clock.monotonic()),
  };
}

/** Whether the Secrets and the server are those whose logins were verified last. */
function isAsVerified({ world, subject, connection }: Work, endpoint: string): boolean {
  const { credentials, conditions } = subject.status;
  const secretName = adminSecretName(subject);
  return (
    credentials !== undefined &&
    ['Available', 'CredentialsSecured'].every((type) => isStatusConditionTrue(conditions, type)) &&
    credentials.endpoint === endpoint &&
    credentials.secretName === secretName &&
    credentials.factoryVersion === connection.factoryVersion() &&
    credentials.secretResourceVersion === world.secrets.version(subject.metadata.namespace ?? '', secretName)
  );
}

/** How often the login is tried while another Secret's password may still replace its own. */
const LOOK_MS = 30_000;

/** 0 if the wall clock was set back. */
function untilLook(lastMs: number, nowMs: number): number {
  return lastMs > nowMs ? 0 : lastMs + LOOK_MS - nowMs;
}
