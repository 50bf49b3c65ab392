import { TransientError } from '../../../base/errors.ts';
import { generatePassword } from '../../../base/random.ts';
import { digestOf } from '../../../database/logins.ts';
import { ApiError } from '../../../http/api-error.ts';
import { isNamespaceTerminating } from '../../../kube/api.ts';
import { INSTALL } from '../../../kube/untold.ts';
import { refusedNext, TRIES_ANOTHER } from '../../password-tries.ts';
import { markOf, ROTATION_ANNOTATIONS, rotated, rotationAsked } from '../../rotation.ts';
import { madeBefore, recordOf } from '../../rotation-record.ts';
import { ADMIN_ANNOTATIONS, type Login, OWNER_LABEL, ownerValue, type SecretContents } from '../../secrets.ts';
import { confirm, refuseAnothersLogin } from '../act-guard.ts';
import { endpointOf } from '../endpoint.ts';
import { adminSecretName, currentID, isSame } from '../identity.ts';
import type { ClusterStatusPatch, ClusterStep, UsableLogin } from '../observation.ts';
import type { LocalWork, StepWork, Work } from '../work.ts';
import { heldUsername } from './find-working.ts';
import { movedTo, otherThanWanted, readMoves, recordedIn } from './former-secrets.ts';
import { type KnownLogins, loginNamed, loginUnder, readLogins, untilReplaced } from './known-logins.ts';
import { isInUse, isOfAnother, isOurSecret, loginOf } from './login-of.ts';
import { refusalAbout } from './refusal.ts';

/*
 * The steps that replace the password. At every moment one of the passwords in the Secret works: the new one is written
 * down before the server gets it, and the old one is removed after the new one was accepted.
 */

/** Returns the login that the step names. */
function pick(known: KnownLogins, name: UsableLogin, of: string | undefined): Login {
  const login = loginNamed(known, name, of);
  if (login === undefined) throw secretChanged(known);
  return login;
}

/** Throws TransientError SessionEnded if no session is held any more. */
function heldUser(work: Work, known: KnownLogins): string {
  const { subject, connection } = work;
  const { endpoint } = serverOf(work);
  const username = heldUsername(connection.logins(endpoint, currentID(subject)), known);
  if (username === undefined) throw sessionEnded();
  return username;
}

function sessionEnded(): TransientError {
  return new TransientError('SessionEnded', 'The session that was held has ended meanwhile');
}

/** Reads the logins as they are now. Throws TransientError SecretChanged if the Secret has become somebody else's since it was tried. */
async function readOwnLogins(work: Work): Promise<KnownLogins> {
  const { subject, connection } = work;
  const known = await readLogins(work, connection.factoryLogin);
  if (known.secret !== undefined && !isOurSecret(subject, known.secret)) throw secretChanged(known);
  return known;
}

async function isAccepted(work: Work, login: Login): Promise<boolean> {
  const { subject, connection, signal } = work;
  const logins = connection.logins(serverOf(work).endpoint, currentID(subject));
  return (await logins.attempt(login, signal)) === 'accepted';
}

/** Throws TransientError SecretChanged if the login, read anew, is another one than was tried: no server may ever take it. */
function checkWasTried(work: Work, login: Login): void {
  const { subject, connection } = work;
  // The server is also asked while the cloud does not say which one it is.
  const endpoint = findServer(work)?.endpoint ?? subject.status.endpoint;
  if (endpoint !== undefined && connection.logins(endpoint, currentID(subject)).isHeld(login)) return;
  throw new TransientError(
    'SecretChanged',
    'The Secret with the login that worked changed meanwhile: all are tried again',
  );
}

function secretChanged({ secretName }: Pick<KnownLogins, 'secretName'>): TransientError {
  return new TransientError('SecretChanged', `Secret "${secretName}" changed meanwhile: Mooring checks it again`);
}

/** The password that works stays in place; the coming one is written beside it before the server gets it. */
export async function preparePassword(
  work: StepWork,
  { from, of, isBeside = false, rotates }: Extract<ClusterStep, { do: 'PreparePassword' }>,
): Promise<ClusterStatusPatch | undefined> {
  const { world, subject, connection } = work;
  const known = await readOwnLogins(work);
  // Nor may the only password of another cluster be overwritten.
  if (from !== 'current' && known.secret !== undefined && isInUse(subject, known.secret, connection))
    throw secretChanged(known);
  // There is one already. It comes first, as the server may be about to take it, whoever wrote it.
  if (known.nextIs === 'ours' || untilReplaced(world, subject, known, from) !== undefined) return undefined;
  const { rotateEvery } = subject.spec.adminCredentials ?? {};
  const made = rotates && madeBefore(subject, rotateEvery, known.secret, world.clock.now());
  if (made !== undefined) return made;
  const { tries } = world.memory;
  // Nobody knows the password of a held session any more.
  const login = from === 'held' ? { username: heldUser(work, known) } : pick(known, from, of);
  if ('password' in login) {
    if (from !== 'current' && !isBeside) checkWasTried(work, login);
    // Writing in place of a password that once worked leaves nothing of it.
    await refuseAnothersLogin(work, known, login);
  }
  // Somebody has written it since the logins were tried, such as another operator that works on the same object.
  if (from !== 'current' && !isBeside && known.current !== undefined && (await isAccepted(work, known.current)))
    throw secretChanged(known);
  // Neither a copy of a working login nor a Secret that was lost may be written for an object that is gone or names another: it would stay.
  const isAgain = known.secret === undefined && subject.status.credentials !== undefined;
  if (isAgain || from === 'inherited' || from === 'inheritedNext') await confirm(work);
  const toNote = await toNoteBefore(work, known.secretName);
  if (toNote !== undefined) return toNote;
  const nextPassword = generatePassword(world.random);
  const data = { ...(isBeside ? pick(known, 'current', undefined) : login), nextPassword };
  const { namespace = '', name } = subject.metadata;
  const asked = rotationAsked(subject.metadata);
  const answers = asked === undefined ? {} : { [ROTATION_ANNOTATIONS.answers]: asked };
  const mark = { [ROTATION_ANNOTATIONS.mark]: markOf({ username: login.username, password: nextPassword }) };
  const annotations = { ...loginOf(subject, connection.place), ...answers, ...mark };
  const labels = { [OWNER_LABEL]: ownerValue(name) };
  try {
    if (known.secret === undefined)
      await world.secrets.create(namespace, known.secretName, { data, labels, annotations });
    else await world.secrets.patch(namespace, known.secretName, known.secret, { data, labels, annotations });
  } catch (error) {
    // The Secret went with its namespace, and the cluster's object waits there for something else.
    if (!subject.deleting || !isNamespaceTerminating(error)) throw error;
    world.memory.inEndingNamespace.add(subject.key);
    return undefined;
  }
  tries.prepared(subject.key, { username: login.username, password: nextPassword }, asked);
  return undefined;
}

function clusterChanged(): TransientError {
  return new TransientError('ClusterChanged', 'Cluster or Secret changed meanwhile: Mooring checks them again');
}

/**
 * Throws TransientError SecretChanged if the Secret does not have the coming login any more: something that puts a Secret back as it was
 * does so right after it was written. Nobody would know the password that the server gets.
 */
async function checkIsWritten({ world, subject, signal }: Work, secretName: string, next: Login): Promise<void> {
  const secret = await world.secrets.read(subject.metadata.namespace ?? '', secretName, signal);
  const written = loginUnder('nextPassword', secret);
  if (written === undefined || digestOf(written) !== digestOf(next)) throw secretChanged({ secretName });
}

export async function putPassword(
  work: StepWork,
  { as, of }: Extract<ClusterStep, { do: 'PutPassword' }>,
): Promise<ClusterStatusPatch | undefined> {
  const { world, subject, connection, signal } = work;
  const known = await readOwnLogins(work);
  const { next } = known;
  const { endpoint, cluster } = serverOf(work);
  if (next === undefined || known.nextIs !== 'ours' || !isSame(subject, cluster)) throw clusterChanged();
  const logins = connection.logins(endpoint, currentID(subject));
  const login = as === 'held' ? logins.heldBy(next.username) : pick(known, as, of);
  if (login === undefined) throw sessionEnded();
  if ('password' in login) await refuseAnothersLogin(work, known, login);
  // The working login may be in another Secret by now, one that applications read.
  await confirm(work);
  const toNote = await toNoteBefore(work, known.secretName);
  if (toNote !== undefined) return toNote;
  await checkIsWritten(work, known.secretName, next);
  // A List may have come since that shows another cluster under the id, perhaps at the same address.
  const now = serverOf(work);
  if (now.endpoint !== endpoint || !isSame(subject, now.cluster)) throw clusterChanged();
  const { clock, memory } = world;
  memory.putting(subject.key, known.secretName);
  try {
    const given = await memory.tries.give(
      subject.key,
      { ...next, identity: subject.status.createdAt, endpoint },
      () => clock.monotonic(),
      () => logins.setPassword(login, next.username, next.password, signal),
      () => logins.attempt(next, signal),
    );
    if (given.is === 'refused') throw await refused(work, known, next, given.error);
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'unauthorized') throw error;
    // It worked when it was tried, so an earlier call may have taken effect only now: try all logins again.
    const message = `${error.message}. It worked before: all logins are tried again. If this persists, check the server, and what answers in front of it`;
    throw new TransientError('LoginChanged', message, { cause: error });
  }
  return undefined;
}

/** What the status must record before a login is written to the Secret, or set from there; undefined: it does already. */
async function toNoteBefore(work: StepWork, to: string): Promise<ClusterStatusPatch | undefined> {
  const { world, subject, keep } = work;
  if (recordedIn(subject).includes(to)) {
    world.memory.noted(subject.key);
    return undefined;
  }
  const facts = await noteMove(work, to);
  if (facts === undefined || world.memory.mayNote(subject.key, to)) return facts;
  // Write it all the same: whatever drops it may be mended.
  keep(facts);
  throw crdOutdated();
}

/**
 * The password in the last verified Secret may soon stop working, so whoever comes back to that Secret must learn where to look.
 * Each Secret that the login is in, or was on its way to, names the next one, and the last one names this one. One in between
 * may be deleted, and so may the last verified one once the login is verified. So the status names the newest as well, unless
 * only the status names the first.
 */
async function noteMove(work: Work, to: string): Promise<ClusterStatusPatch | undefined> {
  const { world, subject } = work;
  const seen = new Set([to]);
  const moves: SecretContents[] = [];
  for (const from of recordedIn(subject)) moves.push(...(await readMoves(from, seen, (name) => readOurs(work, name))));
  for (const [index, secret] of moves.entries()) {
    const next = moves[index + 1]?.name ?? to;
    if (movedTo(secret) === next) continue;
    const annotations = { [ADMIN_ANNOTATIONS.movedTo]: next };
    await world.secrets.patch(subject.metadata.namespace ?? '', secret.name, secret, { annotations });
  }
  const [first] = moves;
  const isFound = first !== undefined && first.name !== subject.status.credentials?.secretName;
  return isFound ? undefined : { unverifiedSecretName: to };
}

/** What was recorded is not there. */
function crdOutdated(): TransientError {
  return new TransientError(
    'CRDOutdated',
    'status.unverifiedSecretName was written, but is missing: the CustomResourceDefinition databaseclusters.mooring.dev is of an earlier version of Mooring, or something in this cluster removes the field. ' +
      'No password is replaced until it stays, as the login could be lost: ' +
      INSTALL,
  );
}

/** The server refuses this very password, and will again: another one is tried later, unless it may have taken this one before. */
async function refused(
  { world: { clock, memory, secrets }, subject }: Work,
  { secret, secretName, current }: KnownLogins,
  next: Login,
  error: ApiError,
): Promise<Error> {
  const said = current === undefined ? error : refusedNext(error, TRIES_ANOTHER);
  if (secret === undefined || !memory.tries.isUnsent(subject.key, next)) return said;
  memory.tries.refused(subject.key, refusalAbout(subject, secret.uid), said, clock.monotonic());
  await secrets.patch(subject.metadata.namespace ?? '', secretName, secret, {
    data: { nextPassword: null },
    annotations: { [ROTATION_ANNOTATIONS.answers]: null, [ROTATION_ANNOTATIONS.mark]: '' },
  });
  return said;
}

function serverOf(work: Work) {
  const server = findServer(work);
  if (server === undefined) throw new TransientError('ServerUnreachable', 'No server of the cluster runs any more');
  return server;
}

function findServer({ world, subject, connection }: Work) {
  const cluster = connection.poller.get(subject.status.clusterID ?? '');
  const endpoint = cluster === undefined ? undefined : endpointOf(world, connection, subject, cluster);
  return cluster === undefined || endpoint === undefined ? undefined : { cluster, endpoint };
}

export async function promotePassword(work: StepWork): Promise<ClusterStatusPatch | undefined> {
  const { world, subject, connection } = work;
  const { secret, secretName, next } = await readOwnLogins(work);
  if (secret === undefined || next === undefined) return undefined;
  checkWasTried(work, next);
  // An earlier version, which gave it to the server, did not: if the name were changed again now, nobody would look there.
  const facts = recordedIn(subject).includes(secretName) ? undefined : await noteMove(work, secretName);
  if (facts !== undefined && world.memory.mayNote(subject.key, secretName)) return facts;
  const answers = secret.annotations[ROTATION_ANNOTATIONS.answers] ?? world.memory.tries.answeredBy(subject.key, next);
  const rotation = rotated(subject, answers, world.clock.now());
  await world.secrets.patch(subject.metadata.namespace ?? '', secretName, secret, {
    data: { password: next.password, nextPassword: null },
    annotations: {
      ...loginOf(subject, connection.place),
      [ROTATION_ANNOTATIONS.answers]: null,
      [ROTATION_ANNOTATIONS.mark]: '',
      [ROTATION_ANNOTATIONS.made]: recordOf(subject, rotation) ?? null,
      // What is left may be found only by this.
      ...(otherThanWanted(subject) === undefined ? { [ADMIN_ANNOTATIONS.movedTo]: null } : {}),
    },
  });
  return rotation;
}

/** Deletes the admin Secrets: the object has no cluster any more, so no login either. */
export async function deleteSecret(work: LocalWork): Promise<undefined> {
  const { subject } = work;
  const seen = new Set<string>();
  for (const from of [adminSecretName(subject), ...recordedIn(subject)]) {
    const moves = await readMoves(from, seen, (name) => readOurs(work, name));
    // None goes before those that it names.
    for (const { name } of moves.toReversed()) await deleteOurs(work, name);
  }
}

/** Deletes Secrets only now that the login in the other one was verified and the status names both. */
export async function retireSecret(
  work: LocalWork,
  { names, credentials }: Extract<ClusterStep, { do: 'RetireSecret' }>,
): Promise<ClusterStatusPatch> {
  for (const name of names) await deleteOurs(work, name);
  work.world.memory.noted(work.subject.key);
  return { ...(credentials === undefined ? {} : { credentials }), unverifiedSecretName: null };
}

async function deleteOurs(work: LocalWork, name: string): Promise<void> {
  const { world, subject } = work;
  const secret = await readOurs(work, name);
  if (secret === undefined) return;
  await confirm(work);
  await world.secrets.delete(subject.metadata.namespace ?? '', name, secret);
}

/** Reads an admin Secret of this object; undefined: there is none, or the login in it is another cluster's. */
async function readOurs({ world, subject, signal }: LocalWork, name: string): Promise<SecretContents | undefined> {
  const secret = await world.secrets.read(subject.metadata.namespace ?? '', name, signal);
  return secret === undefined || !isOurSecret(subject, secret) || isOfAnother(subject, secret) ? undefined : secret;
}
