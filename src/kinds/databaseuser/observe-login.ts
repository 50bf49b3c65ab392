import { TerminalError, TransientError } from '../../base/errors.ts';
import { findStatusCondition } from '../../kube/condition.ts';
import { whereOf } from '../password-tries.ts';
import { type SecretContents, valuesFrom } from '../secrets.ts';
import { CLUSTER_SUSPENDED, type OpenServer } from '../server/access.ts';
import { untilVerification } from '../verification.ts';
import {
  changesTo,
  holderOf,
  isNextForeign,
  isOurSecret,
  type Passwords,
  passwordsIn,
  refusalOfPassword,
  SECRET_ANNOTATIONS,
  SECRET_TYPE,
  wantedSecret,
  withOwn,
} from './content.ts';
import {
  connectionSecretName,
  defaultSecretName,
  hasBegun,
  isOurs,
  type LoginObservation,
  type TriedLogin,
  type UserPlace,
  type UserSubject,
  usernameOf,
} from './observation.ts';
import { refusalAbout } from './refusal.ts';
import type { UserWorld } from './world.ts';

/**
 * Finds out which password works. Makes no call while the Secrets and the server are as last verified and it is not time to verify
 * again. Otherwise it makes up to three sign-ins, and a List that all users of the server share.
 */
export async function observeLogin(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  at: UserPlace,
  signal: AbortSignal,
): Promise<LoginObservation> {
  const { clock, memory } = world;
  const { uid } = subject.metadata;
  const untilNext = (lastMs: number) => untilVerification(uid, access.verifyIntervalMs, lastMs, clock.now());
  const verifyInMs = untilNext(memory.verifiedAtMs(subject.key));
  const due = subject.lookNow || (verifyInMs !== undefined && verifyInMs <= 0);
  const asVerified = isAsVerified(world, subject, at);
  const settled = (againInMs: number | undefined): LoginObservation => {
    const secretUID = world.secrets.uid(subject.metadata.namespace ?? '', connectionSecretName(subject));
    const about = refusalAbout(subject, access, '', secretUID);
    return {
      login: 'settled',
      verifyInMs: againInMs,
      refusal: memory.tries.refusal(subject, about, clock.monotonic()),
    };
  };
  if (!due && asVerified) return settled(verifyInMs);
  try {
    return await tryLogin(world, subject, access, at, { due, untilNext }, signal);
  } catch (error) {
    const againInMs = memory.putOff.againInMs(subject, asVerified, error, clock.monotonic());
    if (againInMs === undefined) throw error;
    return settled(againInMs);
  }
}

async function tryLogin(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  at: UserPlace,
  { due, untilNext }: { readonly due: boolean; readonly untilNext: (lastMs: number) => number | undefined },
  signal: AbortSignal,
): Promise<LoginObservation> {
  const { clock, memory, secrets } = world;
  const { namespace = '' } = subject.metadata;
  const secretName = connectionSecretName(subject);
  const secret = await secrets.read(namespace, secretName, signal);
  if (secret !== undefined && !isOurSecret(subject, secret))
    return { login: 'secretTaken', by: holderOf(subject, secret) };
  const username = usernameOf(subject);
  const known = isOurs(subject, at.identity);
  const isReserved = () => world.servers.isReserved(access, username, signal);
  if (!known && (await isReserved())) return { login: 'reserved' };
  const passwords = passwordsIn(secret, access, subject);
  // A login that was never verified has nothing old to prove again.
  const fresh = known ? due : subject.lookNow;
  const isListed = () => world.servers.hasUser(access, username, signal);
  // A user never seen to be ours is first looked for in the List: trying a password would cost the server more.
  const sent = passwords.next ?? passwords.current;
  const tried =
    sent === undefined ? undefined : { username, password: sent, where: whereOf(access.identity, access.endpoint) };
  const isAwaited = () => tried !== undefined && memory.tries.isAwaited(subject.key, tried, clock.monotonic());
  const mayExist = known || isAwaited() || (await isListed());
  // What is not known to be ours does not become ours because a server signs in with any password.
  const trust = { fresh, any: isAwaited() ? 'both' : known ? 'current' : 'neither' } as const;
  const works = mayExist ? await findWorking(world, subject, access, passwords, trust, signal) : 'none';
  if (works === 'any') return { login: 'anyAccepted' };
  const { source, refusal } = await observeSource(world, subject, access, { secret, passwords }, signal);
  // It is on its way until no Secret has it any more, whatever the person says meanwhile: the server may be about to take it.
  if (passwords.next !== undefined && source.is === 'own' && source.coming)
    memory.chose(subject.key, { username, password: passwords.next });
  const noted = source.is === 'own' && source.applied ? withOwn(passwords) : passwords;
  const isSettled = works === 'current' && passwords.next === undefined && source.is !== 'unusable';
  if (known && !isSettled && (await isReserved())) return { login: 'reserved' };
  const exists = works !== 'none' || (mayExist && (await isListed()));
  const held = [passwords.next, passwords.current].flatMap((password) =>
    password === undefined ? [] : [{ username, password }],
  );
  if (works === 'none' && exists && !isAwaited()) memory.refused(subject.key, held);
  return {
    login: 'tried',
    secretVersion: secret?.resourceVersion,
    hasCurrent: passwords.current !== undefined,
    hasNext: passwords.next !== undefined,
    isNextForeign: isNextForeign(passwords, subject, memory),
    isOwn: noted.own?.includes('current') === true,
    isFactory: passwords.current !== undefined && access.isFactoryPassword(passwords.current),
    works,
    exists,
    isUnsent: passwords.next !== undefined && isUnsent(world, subject, passwords.next),
    isAwaited: isAwaited(),
    isCreated: memory.wasCreated(subject, at.identity),
    hasLostPassword: memory.hasLostPassword(subject, at.identity, held),
    asVerified: wasVerified(world, subject, secret, passwords.current),
    content: secret === undefined ? 'asWanted' : contentOf(world, subject, at, secret, noted),
    previous: await observePrevious(world, subject, access, secret !== undefined, signal),
    source,
    refusal,
    verifyInMs: untilNext(memory.verifiedAtMs(subject.key)),
  };
}

/** Reports whether Secrets, server and spec are those whose login was last verified. */
function isAsVerified(world: UserWorld, subject: UserSubject, at: UserPlace): boolean {
  const { metadata, status } = subject;
  const { connection, conditions } = status;
  const ready = findStatusCondition(conditions, 'Ready');
  return (
    isOurs(subject, at.identity) &&
    ready?.status === 'True' &&
    ready.reason !== CLUSTER_SUSPENDED &&
    ready.observedGeneration === metadata.generation &&
    connection?.endpoint === at.endpoint &&
    connection.addresses === at.addresses &&
    areSecretsAsVerified(world, subject)
  );
}

/** Reports whether the Secrets are those whose login was last verified. Makes no call. */
export function areSecretsAsVerified(world: UserWorld, subject: UserSubject): boolean {
  const { metadata, spec, status } = subject;
  const { connection, binding } = status;
  const version = (name: string) => world.secrets.version(metadata.namespace ?? '', name);
  const secretName = connectionSecretName(subject);
  const own = spec.passwordSecretRef?.name;
  return (
    connection !== undefined &&
    binding?.name === secretName &&
    connection.secretName === secretName &&
    connection.secretResourceVersion === version(secretName) &&
    connection.sourceResourceVersion === (own === undefined ? undefined : version(own))
  );
}

async function findWorking(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  { current, next }: Passwords,
  { fresh, any }: Trust,
  signal: AbortSignal,
): Promise<TriedLogin['works'] | 'any'> {
  const signsIn = (password: string | undefined, wary: boolean) =>
    password === undefined ? 'no' : trySignIn(world, subject, access, password, { fresh, wary }, signal);
  const byNext = await signsIn(next, any !== 'both');
  if (byNext !== 'no') return byNext === 'any' ? 'any' : 'next';
  const byCurrent = await signsIn(current, any === 'neither');
  return byCurrent === 'yes' ? 'current' : byCurrent === 'any' ? 'any' : 'none';
}

interface Trust {
  /** Nothing remembered counts. */
  readonly fresh: boolean;
  /** The passwords for which signing in is enough. Another counts only if one that nobody was ever given does not sign in. */
  readonly any: 'both' | 'current' | 'neither';
}

/** `wary`: if any password signs in, this one's sign-in proves nothing, and is not remembered. */
async function trySignIn(
  { clock, memory, random, servers }: UserWorld,
  { key, metadata, spec }: UserSubject,
  access: OpenServer,
  password: string,
  { fresh, wary }: { readonly fresh: boolean; readonly wary: boolean },
  signal: AbortSignal,
): Promise<'yes' | 'no' | 'any'> {
  const username = usernameOf({ metadata, spec });
  const login = { username, password };
  const where = whereOf(access.identity, access.endpoint);
  if (!fresh && memory.isProven(key, login, where, clock)) return 'yes';
  if ((await servers.signIn(access, login, signal)) === 'refused') return 'no';
  if (wary && (await access.logins.acceptsAny(username, random, signal))) return 'any';
  memory.accepted(key, login, where, clock);
  return 'yes';
}

/** Reports whether the password is ours: the Secret is unchanged, or the bytes are the same. An edited one may be anybody's. */
function wasVerified(
  world: UserWorld,
  subject: UserSubject,
  secret: SecretContents | undefined,
  password: string | undefined,
): boolean {
  if (secret === undefined || password === undefined) return false;
  const { connection } = subject.status;
  const unchanged =
    connection?.secretName === connectionSecretName(subject) &&
    connection.secretResourceVersion === secret.resourceVersion;
  return unchanged || world.memory.wasAccepted(subject.key, { username: usernameOf(subject), password });
}

function contentOf(
  { clock }: UserWorld,
  subject: UserSubject,
  at: UserPlace,
  secret: SecretContents,
  passwords: Passwords,
): TriedLogin['content'] {
  if (secret.type !== SECRET_TYPE) return 'wrongType';
  const changedAt = secret.annotations[SECRET_ANNOTATIONS.passwordChangedAt] ?? new Date(clock.now()).toISOString();
  const changes = changesTo(secret, wantedSecret(subject, at, passwords, changedAt));
  return changes === undefined ? 'asWanted' : 'differs';
}

/**
 * Returns the Secrets that the application used until connectionSecret.name changed: the one last bound, and the one last verified.
 * `isBegun`: the Secret of the new name exists. A coming password that somebody else wrote was then tried and removed there, so it is
 * not copied again.
 */
async function observePrevious(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  isBegun: boolean,
  signal: AbortSignal,
): Promise<TriedLogin['previous']> {
  const former = await formerSecrets(world, subject, signal);
  return former.map(({ name, secret }) => {
    const passwords = passwordsIn(secret, access, subject);
    const hasNext = passwords.next !== undefined && !(isBegun && isNextForeign(passwords, subject, world.memory));
    return { name, hasPassword: passwords.current !== undefined || hasNext };
  });
}

interface Former {
  readonly name: string;
  /** Undefined: there is none that is ours. */
  readonly secret: SecretContents | undefined;
}

async function formerSecrets(world: UserWorld, subject: UserSubject, signal: AbortSignal): Promise<readonly Former[]> {
  const { metadata, status } = subject;
  const { binding, connection } = status;
  const wanted = connectionSecretName(subject);
  const read = async (name: string): Promise<Former> => {
    const secret = await world.secrets.read(metadata.namespace ?? '', name, signal);
    return { name, secret: secret !== undefined && isOurSecret(subject, secret) ? secret : undefined };
  };
  // Before the first one was verified, only this process knows them.
  const written = connection === undefined ? world.memory.secretsWritten(subject.key) : [];
  const known = [binding?.name, connection?.secretName, ...written].filter((name) => name !== undefined);
  const others = [...new Set(known)].filter((name) => name !== wanted);
  if (known.length > 0 || !hasBegun(subject)) return Promise.all(others.map(read));
  // An earlier process may have written one, of which only the default name is known.
  const name = defaultSecretName(subject);
  const guessed = name === wanted ? undefined : await read(name);
  const isMade = guessed?.secret?.ownerReferences.some(({ uid }) => uid === metadata.uid) ?? false;
  return guessed !== undefined && isMade ? [guessed] : [];
}

async function observeSource(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  {
    secret,
    passwords: { current, next },
  }: { readonly secret: SecretContents | undefined; readonly passwords: Passwords },
  signal: AbortSignal,
): Promise<Pick<TriedLogin, 'source' | 'refusal'>> {
  const ref = subject.spec.passwordSecretRef;
  const refusalOf = (password: string) =>
    world.memory.tries.refusal(subject, refusalAbout(subject, access, password, secret?.uid), world.clock.monotonic());
  if (ref === undefined) return { source: { is: 'generated' }, refusal: refusalOf('') };
  try {
    const { password, version } = await readOwnPassword(world, subject, access, ref, signal);
    const source = { is: 'own', version, applied: password === current, coming: password === next } as const;
    return { source, refusal: refusalOf(password) };
  } catch (error) {
    if (!(error instanceof TransientError) && !(error instanceof TerminalError)) throw error;
    const lasting = error instanceof TerminalError ? 'terminal' : 'transient';
    return { source: { is: 'unusable', lasting, reason: error.reason, message: error.message } };
  }
}

type OwnPasswordRef = NonNullable<UserSubject['spec']['passwordSecretRef']>;

/** Reads the password that a person set, for one use. Throws TransientError or TerminalError if there is no usable one. */
export async function readOwnPassword(
  world: Pick<UserWorld, 'secrets'>,
  { metadata }: Pick<UserSubject, 'metadata'>,
  { isFactoryPassword }: Pick<OpenServer, 'isFactoryPassword'>,
  { name, key = 'password' }: OwnPasswordRef,
  signal: AbortSignal,
): Promise<{ readonly password: string; readonly version: string }> {
  const namespace = metadata.namespace ?? '';
  const secret = await world.secrets.read(namespace, name, signal);
  const refuse = (why: string) =>
    new TerminalError('InvalidPassword', `The password in Secret "${name}" under key "${key}" ${why}: change it there`);
  if (secret?.notText.has(key)) throw refuse('is no text (UTF-8)');
  const refusal = secret?.data.get(key) === '' ? refusalOfPassword('') : undefined;
  if (refusal !== undefined) throw refuse(refusal);
  const [password] = valuesFrom(secret, name, [key], namespace);
  const problem = refusalOfPassword(password);
  if (problem !== undefined) throw refuse(problem);
  if (isFactoryPassword(password))
    throw refuse('is the one that new clusters come with, which nobody is to sign in with');
  return { password, version: secret?.resourceVersion ?? '' };
}

/** For an object that is being deleted: finds out whether the server's user is its own, by its records or by its passwords. */
export async function observeEnd(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  at: UserPlace,
  signal: AbortSignal,
): Promise<LoginObservation> {
  const recorded = isOurs(subject, at.identity) || world.memory.isSurelyCreated(subject, at.identity);
  const whose = recorded ? 'ours' : await findWhose(world, subject, access, signal);
  if (whose === 'others') return { login: 'ending', whose };
  if (await world.servers.isReserved(access, usernameOf(subject), signal)) return { login: 'reserved' };
  return whose === 'any' ? { login: 'anyAccepted' } : { login: 'ending', whose };
}

/**
 * The List may be older than a user that was created without an answer: only a sign-in tells. When a namespace is deleted, the
 * passwords may already be gone. Then all that is known is that there was no user of this name when its creation began.
 */
async function findWhose(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  signal: AbortSignal,
): Promise<'ours' | 'others' | 'unknown' | 'coming' | 'any'> {
  const { namespace = '' } = subject.metadata;
  const secret = await world.secrets.read(namespace, connectionSecretName(subject), signal);
  const former = (await formerSecrets(world, subject, signal)).map((each) => each.secret);
  for (const each of [secret, ...former]) {
    if (each === undefined || !isOurSecret(subject, each)) continue;
    const trust = { fresh: true, any: 'neither' } as const;
    const works = await findWorking(world, subject, access, passwordsIn(each, access, subject), trust, signal);
    if (works === 'any') return (await isOnServer(world, subject, access, signal)) ? 'any' : 'others';
    if (works !== 'none') return 'ours';
  }
  if (secret === undefined) return (await isOnServer(world, subject, access, signal)) ? 'unknown' : 'others';
  if (!isOurSecret(subject, secret)) return 'others';
  const { next, current } = passwordsIn(secret, access, subject);
  const password = next ?? current;
  const isOut = password !== undefined && !isUnsent(world, subject, password);
  return isOut && !(await isOnServer(world, subject, access, signal)) ? 'coming' : 'others';
}

/** Reports whether no server has heard of the password. */
function isUnsent({ memory }: UserWorld, subject: UserSubject, password: string): boolean {
  return memory.tries.isUnsent(subject.key, { username: usernameOf(subject), password });
}

/** Reports whether the server has the user. No single answer proves that it has not, and the object goes for good. */
async function isOnServer(
  { servers }: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  signal: AbortSignal,
): Promise<boolean> {
  const username = usernameOf(subject);
  return (await servers.user(access, username, signal)) !== undefined || servers.listsUser(access, username, signal);
}
