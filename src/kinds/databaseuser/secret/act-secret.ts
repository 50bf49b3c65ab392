import { TransientError } from '../../../base/errors.ts';
import { generatePassword } from '../../../base/random.ts';
import { isAlreadyExists } from '../../../kube/api.ts';
import { confirm } from '../../confirm.ts';
import { markOf, rotated, rotationAsked } from '../../rotation.ts';
import { madeBefore, recordOf } from '../../rotation-record.ts';
import type { NewSecret, SecretContents } from '../../secrets.ts';
import { isUnsent } from '../login/find-working.ts';
import { readOwnPassword } from '../login/own-password.ts';
import { connectionSecretName, type UserStatusPatch, type UserStep, usernameOf } from '../observation.ts';
import { DATABASE_USERS } from '../resource.ts';
import type { LocalWork, Work } from '../work.ts';
import type { UserWorld } from '../world.ts';
import { changesTo } from './changes.ts';
import { lastChangeOf, newSecret, SECRET_TYPE, wantedSecret } from './content.ts';
import { isOurSecret, readOurs } from './our-secret.ts';
import { isNextForeign, type Passwords, passwordsIn, withOwn } from './passwords.ts';

/*
 * The steps that write the connection Secret. At every moment one of the passwords in it works: the coming one is written down before
 * the server hears of it, and the old one is removed only when the new one was accepted.
 */

/** Reads the connection Secret as it is now. Throws TransientError SecretChanged if it is not ours. */
export async function readConnectionSecret({ world, subject, signal }: Work): Promise<SecretContents | undefined> {
  const name = connectionSecretName(subject);
  const secret = await world.secrets.read(subject.metadata.namespace ?? '', name, signal);
  if (secret !== undefined && !isOurSecret(subject, secret)) throw secretChanged(name);
  return secret;
}

export function secretChanged(name: string): TransientError {
  return new TransientError('SecretChanged', `Secret "${name}" changed meanwhile: Mooring checks it again`);
}

/** Writes a coming password beside the one that works, before the server hears of it. */
export async function prepareNext(
  work: Work,
  { instead, isOnly, rotates }: Extract<UserStep, { do: 'PrepareNext' }>,
): Promise<UserStatusPatch | undefined> {
  const { world, subject } = work;
  const secret = await readConnectionSecret(work);
  const { current, next: before, own = [] } = passwordsIn(secret, work);
  const username = usernameOf(subject);
  const ref = subject.spec.passwordSecretRef;
  // One that is on its way is finished first: the server may be about to take it.
  if (before !== undefined && !((isUnsent(work, before) || instead === true) && ref !== undefined)) return undefined;
  const made = rotates && madeBefore(subject, subject.spec.rotateEvery, secret, world.clock.now());
  if (made !== undefined) return made;
  const next = ref === undefined ? generatePassword(world.random) : (await readOwnPassword(work, ref)).password;
  const answers = rotationAsked(subject.metadata);
  const chosen = [...own.filter((name) => name === 'current'), ...(ref === undefined ? [] : (['next'] as const))];
  const mark = ref === undefined ? markOf({ username, password: next }) : '';
  await write(work, secret, { current, next, answers, mark, own: chosen });
  world.memory.chose(subject.key, ref === undefined ? undefined : { username, password: next });
  world.memory.tries.prepared(subject.key, { username, password: next }, answers);
  if (isOnly === true && ref === undefined) world.memory.replacements.made(subject, world.clock.monotonic());
  return undefined;
}

/** Makes nextPassword, which signed in, the password. */
export async function promotePassword(work: Work): Promise<UserStatusPatch | undefined> {
  const secret = await readConnectionSecret(work);
  const { next, answers, own = [] } = passwordsIn(secret, work);
  if (next === undefined) return undefined;
  const { subject, world } = work;
  const login = { username: usernameOf(subject), password: next };
  // It may be another one than was tried.
  if (!world.memory.wasAccepted(subject.key, login)) throw secretChanged(connectionSecretName(subject));
  const nowMs = world.clock.now();
  const promoted = {
    current: next,
    next: undefined,
    mark: '',
    own: own.includes('next') ? (['current'] as const) : [],
  };
  const rotation = rotated(subject, answers ?? world.memory.tries.answeredBy(subject.key, login), nowMs);
  await write(work, secret, promoted, {
    at: new Date(nowMs).toISOString(),
    rotation: recordOf(subject, rotation),
  });
  world.memory.chose(subject.key, undefined);
  return rotation;
}

/** `isOwn`: a person chose the password, which the Secret may not say yet. */
export async function writeSecret(work: Work, isOwn: boolean): Promise<undefined> {
  const secret = await readConnectionSecret(work);
  if (secret === undefined) return;
  const found = passwordsIn(secret, work);
  const passwords = isOwn ? withOwn(found) : found;
  // Somebody may have written another one there since it was looked at.
  const isOthers = isNextForeign(passwords, work);
  await write(work, secret, isOthers ? { ...passwords, next: undefined } : passwords);
}

/** Removes the coming password: a server refused it for good, and it must not stand in the way of a better one. */
export async function dropNext(work: Work): Promise<void> {
  const secret = await readConnectionSecret(work);
  const { current, own } = passwordsIn(secret, work);
  if (secret !== undefined) await write(work, secret, { current, next: undefined, mark: '', own });
  work.world.memory.chose(work.subject.key, undefined);
}

/** Makes the Secret what it should be with these passwords. */
async function write(
  { world, subject, at }: Work,
  secret: SecretContents | undefined,
  passwords: Passwords,
  lastChange = lastChangeOf(secret, world.clock.now()),
): Promise<void> {
  const { namespace = '' } = subject.metadata;
  const name = connectionSecretName(subject);
  const wanted = wantedSecret(subject, at, passwords, lastChange);
  if (secret === undefined) {
    world.memory.wroteSecret(subject.key, name);
    return create(world, namespace, name, newSecret(wanted));
  }
  const changes = changesTo(secret, wanted);
  if (changes !== undefined) await world.secrets.patch(namespace, name, secret, changes);
}

async function create(world: UserWorld, namespace: string, name: string, secret: NewSecret): Promise<void> {
  try {
    await world.secrets.create(namespace, name, secret);
  } catch (error) {
    throw isAlreadyExists(error) ? secretChanged(name) : error;
  }
}

export async function replaceSecret(work: Work): Promise<undefined> {
  const { world, subject, at } = work;
  const secret = await readConnectionSecret(work);
  if (secret === undefined || secret.type === SECRET_TYPE) return;
  const { namespace = '' } = subject.metadata;
  const name = connectionSecretName(subject);
  const lastChange = lastChangeOf(secret, world.clock.now());
  const { labels, annotations, ...wanted } = newSecret(
    wantedSecret(subject, at, passwordsIn(secret, work), lastChange),
  );
  await confirm(world.api, DATABASE_USERS, subject, work.signal);
  await world.secrets.delete(namespace, name, secret);
  await create(world, namespace, name, {
    ...wanted,
    labels: { ...secret.labels, ...labels },
    annotations: { ...secret.annotations, ...annotations },
  });
}

/** Writes the same passwords under another name. One of them works there at once, so applications may bind to this Secret. */
export async function copySecret(work: Work, from: string): Promise<UserStatusPatch> {
  const { world, subject, signal } = work;
  const { namespace = '' } = subject.metadata;
  const before = await readOurs(work, from);
  if (before === undefined) throw secretChanged(from);
  const secret = await readConnectionSecret(work);
  await confirm(world.api, DATABASE_USERS, subject, signal);
  await write(work, secret, passwordsIn(before, work), lastChangeOf(before, world.clock.now()));
  // The Secret that was verified last goes once this one is verified; one that was only written in between goes now.
  if (from !== subject.status.connection?.secretName) await world.secrets.delete(namespace, from, before);
  return { binding: { name: connectionSecretName(subject) } };
}

/** Deletes a former Secret, only now that the login in the other one is verified. */
export async function retireSecret(
  work: LocalWork,
  { name, connection }: Extract<UserStep, { do: 'RetireSecret' }>,
): Promise<UserStatusPatch | undefined> {
  const { world, subject, signal } = work;
  const secret = await readOurs(work, name);
  const told = connection === undefined ? undefined : { connection, binding: { name: connection.secretName } };
  if (secret === undefined) return told;
  // By now it may be the one that the object names.
  await confirm(world.api, DATABASE_USERS, subject, signal);
  await world.secrets.delete(subject.metadata.namespace ?? '', name, secret);
  return told;
}
