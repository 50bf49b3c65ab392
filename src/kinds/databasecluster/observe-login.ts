import { ApiError, isHeldBack } from '../../base/api-error.ts';
import { TerminalError, TransientError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { digestOf, type Logins, type Verdict } from '../../database/logins.ts';
import { isStatusConditionTrue } from '../../kube/condition.ts';
import type { SpaceConnection } from '../databasespace/connection.ts';
import { whereOf } from '../password-tries.ts';
import { isForeign, NEXT_ANNOTATIONS } from '../rotation.ts';
import type { SecretHolder } from '../secret-holder.ts';
import { type Login, loginFrom, type SecretContents } from '../secrets.ts';
import { earlier, untilVerification } from '../verification.ts';
import { claimantsOf } from './claimants.ts';
import { leftOf, otherLandsForMs, readFormer } from './former-secrets.ts';
import { holderOf, holdsOwnLogin, isInUse, isOurSecret, shownID } from './login-of.ts';
import {
  adminSecretName,
  type ClusterSubject,
  currentID,
  type LoginObservation,
  type NextIs,
  type UsableLogin,
  type WorkingLogin,
} from './observation.ts';
import { refusalAbout } from './refusal.ts';
import { databaseClusterDefinition } from './schema.ts';
import type { ClusterWorld } from './world.ts';

/** The logins that may work, with their passwords: for a single use, never kept. */
export interface KnownLogins {
  readonly secretName: string;
  /** The admin Secret; undefined: there is none. */
  readonly secret: SecretContents | undefined;
  readonly current: Login | undefined;
  /** The coming login; undefined also if its password is the factory's, which does not count. */
  readonly next: Login | undefined;
  readonly nextIs: NextIs;
  /** Logins in Secrets that may hold one since before `secretName` changed; for a clone, its source's. The likeliest first. */
  readonly inherited: readonly Inherited[];
  readonly existing: Login | undefined;
  /** Why there is no `existing` although the spec names one. Matters only if nothing else works. */
  readonly existingMissing: Error | undefined;
  readonly factory: Login;
}

/** The logins in another Secret, with the coming one if its password was being replaced. */
interface Inherited {
  readonly secretName: string;
  readonly current: Login | undefined;
  readonly next: Login | undefined;
}

export async function readLogins(
  world: ClusterWorld,
  subject: ClusterSubject,
  factory: Login,
  signal: AbortSignal,
): Promise<KnownLogins> {
  const secretName = adminSecretName(subject);
  const secret = await world.secrets.read(subject.metadata.namespace ?? '', secretName, signal);
  const former = await readFormer(world, subject, secret, signal);
  return {
    secretName,
    secret,
    current: loginUnder('password', secret),
    ...nextIn(secret, factory),
    inherited: former.map((each) => ({
      secretName: each.name,
      current: loginUnder('password', each),
      next: nextIn(each, factory).next,
    })),
    ...(await readExisting(world, subject, signal)),
    factory,
  };
}

/** Returns the coming login in a Secret of ours, and whose it is. */
function nextIn(secret: SecretContents | undefined, factory: Login): Pick<KnownLogins, 'next' | 'nextIs'> {
  const next = loginUnder('nextPassword', secret);
  if (next === undefined) return { next, nextIs: 'none' };
  if (isFactorys(next, factory)) return { next: undefined, nextIs: 'factory' };
  return { next, nextIs: isForeign(next, secret?.annotations[NEXT_ANNOTATIONS.mark]) ? 'foreign' : 'ours' };
}

/** Whether the password is the one that new clusters come with, whichever user has it. */
export function isFactorys({ password }: Login, factory: Login): boolean {
  return password === factory.password;
}

/**
 * For how much longer the coming password that somebody else wrote is left in place; undefined: there is none, or no longer.
 * There is no wait while the factory login works, or while only a session does, as that may end at any moment.
 */
export function untilReplaced(
  { clock, memory }: ClusterWorld,
  { key }: ClusterSubject,
  { next, nextIs }: KnownLogins,
  working: WorkingLogin,
): number | undefined {
  if (next === undefined || nextIs !== 'foreign' || working === 'held' || working === 'factory') return undefined;
  const leftMs = memory.tries.leftMs(key, next, clock.monotonic());
  return leftMs > 0 ? leftMs : undefined;
}

/** A login in a Secret of ours. */
function loginUnder(key: 'password' | 'nextPassword', secret: SecretContents | undefined): Login | undefined {
  const username = secret?.data.get('username');
  const password = secret?.data.get(key);
  return username === undefined || !password ? undefined : { username, password };
}

async function readExisting(
  world: ClusterWorld,
  { metadata, spec }: ClusterSubject,
  signal: AbortSignal,
): Promise<Pick<KnownLogins, 'existing' | 'existingMissing'>> {
  const ref = spec.adminCredentials?.existingSecretRef;
  if (ref === undefined) return { existing: undefined, existingMissing: undefined };
  const namespace = metadata.namespace ?? '';
  const secret = await world.secrets.read(namespace, ref.name, signal);
  try {
    return { existing: loginFrom(secret, ref, namespace), existingMissing: undefined };
  } catch (error) {
    if (!(error instanceof TransientError) && !(error instanceof TerminalError)) throw error;
    return { existing: undefined, existingMissing: error };
  }
}

/** The user whose password the Secret holds, or will hold. */
export function adminUsername({ current, next, factory }: KnownLogins): string {
  return (current ?? next ?? factory).username;
}

/** The DatabaseCluster whose login is in the Secret, although the Secret has the label of this one. */
function ownerOfLogin(
  world: ClusterWorld,
  subject: ClusterSubject,
  secret: SecretContents,
  connection: SpaceConnection,
): SecretHolder | undefined {
  const id = shownID(secret, connection);
  const owner =
    id === undefined ? undefined : claimantsOf(world, subject, id).find((record) => holdsOwnLogin(record, secret));
  return owner && { kind: databaseClusterDefinition.kind, name: owner.metadata.name };
}

/**
 * Returns which login works. Throws TransientError or TerminalError if none does and existingSecretRef names a Secret or key
 * that is missing. Makes no call while Secret and server are those last verified and no verification is due; otherwise
 * one sign-in with the published login and one with the factory's, which must fail.
 */
export async function observeLogin(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  endpoint: string,
  signal: AbortSignal,
): Promise<LoginObservation> {
  const nowMs = world.clock.now();
  const untilNext = (lastMs: number, landsForMs: number | undefined) =>
    earlier(
      untilVerification(subject.metadata.uid, connection.verifyIntervalMs, lastMs, nowMs),
      landsForMs === undefined ? undefined : Math.min(landsForMs, untilLook(lastMs, nowMs)),
    );
  const verifyInMs = untilNext(world.memory.verifications.lastAtMs(subject.key), otherLandsForMs(world, subject));
  const isDoubtful = world.memory.putElsewhere(subject.key, adminSecretName(subject)) !== undefined;
  const due = subject.lookNow || isDoubtful || (verifyInMs !== undefined && verifyInMs <= 0);
  const asVerified = isAsVerified(world, subject, connection, endpoint);
  const refusalOf = (secretUID: string | undefined) =>
    world.memory.tries.refusal(subject, refusalAbout(subject, secretUID), world.clock.monotonic());
  const settled = (againInMs: number | undefined): LoginObservation => {
    const uid = world.secrets.uid(subject.metadata.namespace ?? '', adminSecretName(subject));
    return { login: 'settled', verifyInMs: againInMs, refusal: refusalOf(uid) };
  };
  if (!due && asVerified) return settled(verifyInMs);

  const known = await readLogins(world, subject, connection.factoryLogin, signal);
  if (known.secret !== undefined && !isOurSecret(subject, known.secret)) {
    return { login: 'secretTaken', secretName: known.secretName, by: holderOf(subject, known.secret) };
  }
  try {
    const logins = connection.logins(endpoint, currentID(subject));
    const { tries } = world.memory;
    const next = known.next && { ...known.next, where: whereOf(subject.status.createdAt, endpoint) };
    const isAwaited = next !== undefined && tries.isAwaited(subject.key, next, world.clock.monotonic());
    const found = await findWorking(
      logins,
      known,
      { fresh: due, nextFirst: isAwaited || known.nextIs === 'foreign' },
      signal,
    );
    const working: WorkingLogin = found?.working ?? (isHeld(world, subject, logins, known) ? 'held' : 'none');
    // Nobody else may know the password of a cluster that was let go, so it is not overwritten.
    const isTheirs = working !== 'current' && working !== 'next' && known.secret !== undefined;
    if (isTheirs && isInUse(subject, known.secret, connection)) {
      const by = ownerOfLogin(world, subject, known.secret, connection);
      return { login: 'secretTaken', secretName: known.secretName, isOfAnother: true, by };
    }
    if (working === 'none' && !isAwaited && known.existingMissing !== undefined) throw known.existingMissing;
    const { factoryAlive, acceptsAny } = await tryOthers(logins, known, working, world.random, signal);
    // A session begun meanwhile would count as proof of its password once the server is right again.
    if (acceptsAny && found !== undefined) logins.drop(logins.session(found.login));
    const powerless = await powerlessUser(logins, known, found?.login, signal);
    const isOther = factoryAlive === true && powerless === undefined && isOfAnother(known, found?.login);
    world.memory.unreachable.forget(subject.key);
    if (factoryAlive === false) world.memory.verified(subject.key, known.secretName, nowMs);
    const { landsForMs, ...left } = leftOf(world, subject, known.inherited);
    return {
      login: 'tried',
      secretName: known.secretName,
      secretVersion: known.current === undefined ? undefined : known.secret?.resourceVersion,
      factoryVersion: connection.factoryVersion,
      next: known.nextIs,
      isAwaited,
      replacedInMs: untilReplaced(world, subject, known, factoryAlive === true ? 'factory' : working),
      working,
      ...(found?.of === undefined ? {} : { workingOf: found.of }),
      // A factory login that came back is what the Secret holds until another one replaces it.
      factoryAlive: factoryAlive ?? (isFactorysLogin(known, working) ? true : undefined),
      acceptsAny,
      powerless,
      managedBy: isOther ? found?.login.username : undefined,
      verifyInMs: untilNext(nowMs, landsForMs),
      refusal: refusalOf(known.secret?.uid),
      ...left,
      ...(working === 'none' ? { lineBreakIn: lineBreakIn(known) } : {}),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { putOff } = world.memory.verifications;
    const againInMs = putOff.againInMs(subject, asVerified && !isDoubtful, error, world.clock.monotonic());
    return againInMs === undefined ? unreachable(world, subject, error) : settled(againInMs);
  }
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

/**
 * Tries the logins that must fail. The factory's, once the published one works and no other is to come. And a made-up password, if two
 * logins work, or if the only other one that may be right is about to go.
 */
async function tryOthers(
  logins: Logins,
  known: KnownLogins,
  working: WorkingLogin,
  random: Random,
  signal: AbortSignal,
): Promise<{ readonly factoryAlive: boolean | undefined; readonly acceptsAny: boolean }> {
  const isInPlace = working === 'current' && known.nextIs !== 'ours';
  const factoryAlive = isInPlace ? await isFactoryAlive(logins, known, signal) : undefined;
  const isDoubted = factoryAlive === true || (working === 'next' && hasOwnPassword(known));
  return { factoryAlive, acceptsAny: isDoubted && (await logins.acceptsAny(adminUsername(known), random, signal)) };
}

/** How often the login is tried while another Secret's password may still replace its own. */
const LOOK_MS = 30_000;

/** 0 if the wall clock was set back. */
function untilLook(lastMs: number, nowMs: number): number {
  return lastMs > nowMs ? 0 : lastMs + LOOK_MS - nowMs;
}

/** Whether the Secrets and the server are those whose logins were verified last. */
function isAsVerified(
  world: ClusterWorld,
  subject: ClusterSubject,
  { factoryVersion }: SpaceConnection,
  endpoint: string,
): boolean {
  const { credentials, conditions } = subject.status;
  const secretName = adminSecretName(subject);
  return (
    credentials !== undefined &&
    ['Available', 'CredentialsSecured'].every((type) => isStatusConditionTrue(conditions, type)) &&
    credentials.endpoint === endpoint &&
    credentials.secretName === secretName &&
    credentials.factoryVersion === factoryVersion &&
    credentials.secretResourceVersion === world.secrets.version(subject.metadata.namespace ?? '', secretName)
  );
}

/** A known login by its name, and, if it is in another Secret, by the name of that. */
interface Candidate {
  readonly working: Exclude<UsableLogin, 'held'> | 'next';
  readonly of?: string;
  readonly login: Login;
}

/**
 * In the order in which they are likely to work, except that the factory login comes before the existing one: it must be
 * retired first, and the existing one is not needed while it works.
 */
function candidates({ next, current, inherited, factory, existing }: KnownLogins): readonly Candidate[] {
  const each = (working: Candidate['working'], login: Login | undefined, of?: string): readonly Candidate[] =>
    login === undefined ? [] : [{ working, login, ...(of === undefined ? {} : { of }) }];
  return [
    ...each('next', next),
    ...each('current', current),
    ...inherited.flatMap((former) => [
      ...each('inheritedNext', former.next, former.secretName),
      ...each('inherited', former.current, former.secretName),
    ]),
    ...each('factory', factory),
    ...each('existing', existing),
  ];
}

/** Returns the login of that name. `of`: the other Secret that it is in. */
export function loginNamed(known: KnownLogins, name: UsableLogin, of: string | undefined): Login | undefined {
  return candidates(known).find((each) => each.working === name && each.of === of)?.login;
}

/**
 * Tries the logins. A held session proves its password without a call, unless `fresh` asks for more: nobody tells us when the
 * password is changed elsewhere. So a login from elsewhere, which would overwrite a password in the Secret, is always
 * tried, and after that password. `nextFirst`: tries the coming one first, whatever is held, as a session may end at any moment.
 */
async function findWorking(
  logins: Logins,
  known: KnownLogins,
  { fresh, nextFirst }: { readonly fresh: boolean; readonly nextFirst: boolean },
  signal: AbortSignal,
): Promise<Candidate | undefined> {
  const isInPlace = ({ working }: Candidate) => working === 'next' || working === 'current';
  const held = (each: Candidate) =>
    !fresh && (known.current === undefined || isInPlace(each)) && logins.isHeld(each.login);
  const isFirst = (each: Candidate) => (nextFirst ? each.working === 'next' : held(each));
  const refused = new Set<string>();
  for (const each of candidates(known).toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))) {
    const digest = digestOf(each.login);
    if (refused.has(digest)) continue;
    if (held(each) || (await logins.attempt(each.login, signal)) === 'accepted') return each;
    refused.add(digest);
  }
  return undefined;
}

/** A session outlives a lost password. It must be this object's own: the server may have been another object's before. */
function isHeld(
  { memory }: ClusterWorld,
  { key, status }: ClusterSubject,
  logins: Logins,
  known: KnownLogins,
): boolean {
  const hadLogin = status.credentials !== undefined || memory.hadLogin(key);
  return hadLogin && logins.heldBy(adminUsername(known)) !== undefined;
}

/** Returns the user whose login works but may not manage others; undefined: none. The user that new clusters come with always may. */
async function powerlessUser(
  logins: Logins,
  known: KnownLogins,
  login: Login | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (login === undefined || !isOfAnother(known, login)) return undefined;
  return (await logins.seesUsers(login, signal)) ? undefined : login.username;
}

/** A value made with `echo` ends with a line break, which no server strips. */
function lineBreakIn(known: KnownLogins) {
  return (['current', 'existing', 'factory'] as const).filter((name) => {
    const { username = '', password = '' } = known[name] ?? {};
    return [username, password].some((value) => /[\r\n]$/u.test(value));
  });
}

/** Whether the login is of a user other than the one that new clusters come with. */
function isOfAnother({ factory }: KnownLogins, login: Login | undefined): boolean {
  return login !== undefined && login.username !== factory.username;
}

/** Always asks the server: Ready promises that the factory login is refused. */
async function isFactoryAlive(logins: Logins, known: KnownLogins, signal: AbortSignal): Promise<boolean> {
  const verdict: Verdict = await logins.attempt(known.factory, signal);
  return verdict === 'accepted';
}

/** Whether the login in our own Secret works and is the factory login. */
function isFactorysLogin({ current, factory }: KnownLogins, working: WorkingLogin): boolean {
  return working === 'current' && current !== undefined && digestOf(current) === digestOf(factory);
}

/** Whether the coming password replaces one that nobody else knows. */
function hasOwnPassword({ current, factory }: KnownLogins): boolean {
  return current !== undefined && digestOf(current) !== digestOf(factory);
}
