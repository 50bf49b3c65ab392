import { ApiError } from '../../../http/api-error.ts';
import { findStatusCondition } from '../../../kube/condition.ts';
import type { SecretContents } from '../../secrets.ts';
import { CLUSTER_SUSPENDED } from '../../server/access.ts';
import { untilVerification } from '../../verification.ts';
import { connectionSecretName, isOurs, type LoginObservation, type TriedLogin, usernameOf } from '../observation.ts';
import { changesTo } from '../secret/changes.ts';
import { lastChangeOf, SECRET_TYPE, wantedSecret } from '../secret/content.ts';
import { observePrevious } from '../secret/former-secrets.ts';
import { holderOf, isOurSecret } from '../secret/our-secret.ts';
import { isNextForeign, type Passwords, passwordsIn, withOwn } from '../secret/passwords.ts';
import type { LocalWork, Work } from '../work.ts';
import { findWorking, isUnsent, loginAt } from './find-working.ts';
import { observeSource } from './own-password.ts';
import { refusalAbout } from './refusal.ts';

/**
 * Finds out which password works. Makes no call while the Secrets and the server are as last verified and it is not time to verify
 * again. Otherwise it makes up to three sign-ins, and a List that all users of the server share.
 */
export async function observeLogin(work: Work): Promise<LoginObservation> {
  const { world, subject, access } = work;
  const { clock, memory } = world;
  const { uid } = subject.metadata;
  const untilNext = (lastMs: number) => untilVerification(uid, access.verifyIntervalMs, lastMs, clock.now());
  const verifyInMs = untilNext(memory.verifiedAtMs(subject.key));
  const due = subject.lookNow || (verifyInMs !== undefined && verifyInMs <= 0);
  const asVerified = isAsVerified(work);
  const settled = (againInMs: number | undefined): LoginObservation => {
    const secretUID = world.secrets.uid(subject.metadata.namespace ?? '', connectionSecretName(subject));
    const about = refusalAbout(subject, access, '', secretUID);
    return {
      login: 'settled',
      verifyInMs: againInMs,
      refusal: memory.tries.refusal(subject, about, clock.monotonic()),
      landsInMs: memory.tries.landsInMs(subject.key, clock.monotonic()),
    };
  };
  if (!due && asVerified) return settled(verifyInMs);
  try {
    return await tryLogin(work, { due, untilNext });
  } catch (error) {
    // After an outage the password is tried again; a server that asks for fewer calls had none.
    if (error instanceof ApiError && error.kind !== 'throttled') memory.interrupted(subject.key);
    const againInMs = memory.putOff.againInMs(subject, asVerified, error, clock.monotonic());
    if (againInMs === undefined) throw error;
    return settled(againInMs);
  }
}

async function tryLogin(
  work: Work,
  { due, untilNext }: { readonly due: boolean; readonly untilNext: (lastMs: number) => number | undefined },
): Promise<LoginObservation> {
  const { world, subject, access, at, signal } = work;
  const { memory } = world;
  const secret = await world.secrets.read(subject.metadata.namespace ?? '', connectionSecretName(subject), signal);
  if (secret !== undefined && !isOurSecret(subject, secret))
    return { login: 'secretTaken', by: holderOf(subject, secret) };
  const username = usernameOf(subject);
  const known = isOurs(subject, at.identity);
  const isReserved = () => world.servers.isReserved(access, username, signal);
  if (!known && (await isReserved())) return { login: 'reserved' };
  const passwords = passwordsIn(secret, work);
  // A login that was never verified has nothing old to prove again.
  const fresh = known ? due : subject.lookNow;
  const isListed = () => world.servers.hasUser(access, username, signal);
  // A user never seen to be ours is first looked for in the List: trying a password would cost the server more.
  const isAwaited = () => isSentLately(work, passwords);
  const mayExist = known || isAwaited() || (await isListed());
  // What is not known to be ours does not become ours because a server signs in with any password.
  const trust = { fresh, trusted: isAwaited() ? 'both' : known ? 'current' : 'neither' } as const;
  const works = mayExist ? await findWorking(work, passwords, trust) : 'none';
  if (works === 'anyAccepted') return { login: 'anyAccepted' };
  const { source, refusal } = await observeSource(work, secret, passwords);
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
  if (works === 'none' && exists && !isAwaited()) memory.creations.refused(subject.key, held);
  const asVerified = wasVerified(work, secret, passwords.current);
  return {
    login: 'tried',
    secretVersion: secret?.resourceVersion,
    hasCurrent: passwords.current !== undefined,
    hasNext: passwords.next !== undefined,
    isNextForeign: isNextForeign(passwords, work),
    isOwn: noted.own?.includes('current') === true,
    isFactory: passwords.current !== undefined && access.isFactoryPassword(passwords.current),
    works,
    exists,
    isUnsent: passwords.next !== undefined && isUnsent(work, passwords.next),
    isAwaited: isAwaited(),
    isCreated: memory.creations.has(subject, at.identity),
    hasLostPassword: memory.creations.hasLostPassword(subject, at.identity, held),
    asVerified,
    retriedInMs: untilRetried(work, works === 'none' && exists && asVerified),
    content: secret === undefined ? 'asWanted' : contentOf(work, secret, noted),
    previous: await observePrevious(work, secret !== undefined),
    source,
    refusal,
    landsInMs: memory.tries.landsInMs(subject.key, world.clock.monotonic()),
    overwritten: memory.replacements.pause(subject, connectionSecretName(subject), world.clock.monotonic()),
    verifyInMs: untilNext(memory.verifiedAtMs(subject.key)),
  };
}

/** Reports whether the server took the coming password, or the current one if there is none, so lately that it may not sign in yet. */
function isSentLately(work: Work, { next, current }: Passwords): boolean {
  const { world, subject } = work;
  const password = next ?? current;
  if (password === undefined) return false;
  return world.memory.tries.isAwaited(subject.key, loginAt(work, password), world.clock.monotonic());
}

/** How long after a refusal a password that worked is tried again before it is set: a server may be wrong, or be behind, for a moment. */
const RETRIED_MS = 3_000;

/** Returns in how long to try it again; undefined: it was, or it is not refused. */
function untilRetried({ world, subject }: Work, isRefused: boolean): number | undefined {
  const { refused } = world.memory;
  if (!isRefused) {
    refused.forget(subject.key);
    return undefined;
  }
  world.memory.doubt(subject.key);
  const leftMs = RETRIED_MS - refused.begin(subject, world.clock.monotonic());
  return leftMs > 0 ? leftMs : undefined;
}

/** Reports whether Secrets, server and spec are those whose login was last verified. */
function isAsVerified(work: Work): boolean {
  const { subject, at } = work;
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
    areSecretsAsVerified(work)
  );
}

/** Reports whether the Secrets are those whose login was last verified. Makes no call. */
export function areSecretsAsVerified({ world, subject }: LocalWork): boolean {
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

/** Reports whether the password is ours: the Secret is unchanged, or the bytes are the same. An edited one may be anybody's. */
function wasVerified(
  { world, subject }: Work,
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

function contentOf({ world, subject, at }: Work, secret: SecretContents, passwords: Passwords): TriedLogin['content'] {
  if (secret.type !== SECRET_TYPE) return 'wrongType';
  const wanted = wantedSecret(subject, at, passwords, lastChangeOf(secret, world.clock.now()));
  const changes = changesTo(secret, wanted);
  return changes === undefined ? 'asWanted' : 'differs';
}
