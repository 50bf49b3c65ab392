import { TerminalError, TransientError } from '../../base/errors.ts';
import type { ServerClient } from '../../database/client.ts';
import type { Verdict } from '../../database/logins.ts';
import type { ApiError } from '../../http/api-error.ts';
import { ABSENT_MS, type Absence } from '../absences.ts';
import { confirm } from '../confirm.ts';
import { type Given, mayHaveTaken, refusedNext, TRIES_ANOTHER } from '../password-tries.ts';
import { isAbsentFromServer, stillShown } from '../server/servers.ts';
import { isUnsent, loginAt } from './login/find-working.ts';
import { refusalAbout } from './login/refusal.ts';
import { connectionSecretName, type PasswordName, type UserStep } from './observation.ts';
import { claimedByOther } from './records.ts';
import { DATABASE_USERS } from './resource.ts';
import { dropNext, readConnectionSecret, secretChanged } from './secret/act-secret.ts';
import { isNextForeign, passwordsIn } from './secret/passwords.ts';
import type { Work } from './work.ts';

/* The steps that change the server. */

type Create = Extract<UserStep, { do: 'CreateUser' }>;
type Put = Extract<UserStep, { do: 'PutPassword' }>;
type Delete = Extract<UserStep, { do: 'DeleteUser' }>;

/** Creates the user. If the server says that it exists already, the next pass finds out whose it is. */
export async function createUser(work: Work, { username, password, returns }: Create): Promise<undefined> {
  const { world, subject, access, signal } = work;
  const { servers } = world;
  await confirm(world.api, DATABASE_USERS, subject, signal);
  const value = await passwordOf(work, password);
  const given = await give(work, value, (client, token) => client.createUser(token, username, value, signal));
  if (given.is === 'refused') {
    // Created by an attempt whose answer was lost, or by somebody else.
    if ((await servers.user(access, username, signal)) !== undefined) return;
    if ((returns || !isUnsent(work, value)) && mayBeHidden(work)) throw perhapsThere(username, given.error);
    return refused(work, password, value, given.error);
  }
  servers.userChanged(access, username, true);
  world.memory.creations.made(subject, access.identity, { username, password: value });
  if (returns)
    world.onDriftCorrected(subject.key, 'username', `User "${username}" was deleted elsewhere: it was created again`);
}

/** Reports whether the server may have a user that it does not show, as it was there or may have been created. */
function mayBeHidden({ world, subject }: Work): boolean {
  return world.memory.hidden.begin(subject, world.clock.monotonic()) < ABSENT_MS;
}

function perhapsThere(username: string, cause: ApiError): TransientError {
  const message = `The server does not show user "${username}", and refuses to create it, perhaps because it is there: Mooring tries again. If this persists, check the server. ${cause.message}`;
  return new TransientError('CreatingUser', message, { cause });
}

export async function putPassword(work: Work, { username, password, drifted }: Put): Promise<undefined> {
  const { world, subject, access, signal } = work;
  const { memory, servers } = world;
  await confirm(world.api, DATABASE_USERS, subject, signal);
  const value = await passwordOf(work, password);
  memory.doubt(subject.key);
  const attempt = () => servers.signIn(access, { username, password: value }, signal);
  const put = (client: ServerClient, token: string) => {
    // Nothing is awaited between this check and the call.
    checkIsFree(work, username);
    return client.updateUser(token, username, value, signal);
  };
  let given: Given;
  try {
    given = await give(work, value, put, attempt);
  } catch (error) {
    await isAbsentFromServer(error, () => servers.listsUser(access, username, signal));
    return;
  }
  if (given.is === 'refused') return refused(work, password, value, given.error);
  if (drifted)
    world.onDriftCorrected(
      subject.key,
      'password',
      `The password of user "${username}" was changed elsewhere: it was set back to the one in Secret "${connectionSecretName(subject)}"`,
    );
}

/** Throws if another object has the user by now. It may be Ready, and its password must not be replaced, since this was decided. */
function checkIsFree({ world, subject }: Work, username: string): void {
  if (claimedByOther(world, subject) === undefined) return;
  throw new TransientError('ObjectChanged', `Another object has user "${username}" now: Mooring checks it again`);
}

export async function deleteUser(work: Work, { username }: Delete): Promise<undefined> {
  const { world, subject, access, signal } = work;
  await confirm(world.api, DATABASE_USERS, subject, signal);
  const { servers } = world;
  const { absences } = world.memory;
  const isListed = async () => {
    const listed = await servers.listsUser(access, username, signal);
    if (listed) absences.forget(subject.key);
    return listed;
  };
  const askedAt = world.clock.monotonic();
  try {
    await servers.asAdmin(access, (client, token) => client.deleteUser(token, username, signal, askedAt), signal);
  } catch (error) {
    if (!(await isAbsentFromServer(error, isListed))) throw error;
    // Once the object is gone nobody asks any more, and the password in its Secret would work for good.
    const absence = absences.missed(subject, world.clock);
    if (absence !== undefined) throw perhapsGone(username, absence);
    return;
  }
  absences.deleted(subject, world.clock);
  if ((await servers.user(access, username, signal)) !== undefined) throw stillShown(`user "${username}"`);
}

function perhapsGone(username: string, { since, againInMs }: Absence): TransientError {
  const message = `The server has said since ${since} that there is no user "${username}", perhaps because it is slow to show it: Mooring asks again, and takes it for deleted after ${ABSENT_MS / 1_000} seconds`;
  return new TransientError('DeletingUser', message, { retryAfterMs: againInMs });
}

/** Read last before the call: something that puts the Secret back as it was may just have removed it, and then nobody would know it. */
async function passwordOf(work: Work, name: PasswordName): Promise<string> {
  const { access, subject } = work;
  const passwords = passwordsIn(await readConnectionSecret(work), work);
  const value = passwords[name];
  // Somebody may have written another one there since it was looked at.
  const isOthers =
    value !== undefined && (name === 'next' ? isNextForeign(passwords, work) : access.isFactoryPassword(value));
  if (value === undefined || isOthers) throw secretChanged(connectionSecretName(subject));
  return value;
}

async function give(
  work: Work,
  password: string,
  call: (client: ServerClient, token: string) => Promise<unknown>,
  attempt?: () => Promise<Verdict>,
): Promise<Given> {
  const { world, subject, access, signal } = work;
  const { clock, memory, servers } = world;
  const login = loginAt(work, password);
  const now = () => clock.monotonic();
  try {
    const given = await memory.tries.give(
      subject.key,
      login,
      now,
      () => servers.asAdmin(access, call, signal),
      attempt,
    );
    if (given.is !== 'refused') memory.creations.gave(subject.key, login, given.is === 'taken');
    return given;
  } catch (error) {
    if (mayHaveTaken(error)) memory.creations.gave(subject.key, login, false);
    throw error;
  }
}

/** The server refuses this password, or the name, and will again: another is tried, unless it may have taken this one before. */
async function refused(work: Work, password: PasswordName, value: string, error: ApiError): Promise<never> {
  const { world, subject } = work;
  const secret = await readConnectionSecret(work);
  const { current } = passwordsIn(secret, work);
  const own = subject.spec.passwordSecretRef?.name;
  const remedy = own === undefined ? TRIES_ANOTHER : `change the one in Secret "${own}"`;
  const isFirst = password === 'current' || current === undefined;
  const said = !isFirst ? refusedNext(error, remedy) : own === undefined ? error : refusedOwn(error, remedy);
  if (password === 'next' && !isUnsent(work, value)) throw said;
  const about = refusalAbout(subject, work.access, value, secret?.uid);
  world.memory.tries.refused(subject.key, about, said, world.clock.monotonic());
  if (password === 'next') await dropNext(work);
  throw said;
}

/** For the only password there is, which may or may not be at fault. */
function refusedOwn(error: ApiError, remedy: string): TerminalError {
  const message = `${error.message}. If the password is what the server refuses: ${remedy}`;
  return new TerminalError('RefusedByServer', message, { cause: error });
}
