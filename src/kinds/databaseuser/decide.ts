import { ROTATE_AT } from '../../kube/annotations.ts';
import { ready, reconciling, stalled } from '../../kube/summary.ts';
import { correctedRotation, rotationAt, rotationNow, untilRotation } from '../rotation.ts';
import { takenWords } from '../secret-holder.ts';
import { USER_LABEL } from '../secrets.ts';
import { withoutServer } from '../server/dependents.ts';
import { earlier } from '../verification.ts';
import { decideDeletion } from './decide-deletion.ts';
import {
  type Connection,
  connectionSecretName,
  hasBegun,
  isOurs,
  owns,
  type TriedLogin,
  USER_EXISTS,
  type UserDecision,
  type UserObservation,
  type UserSeen,
  type UserStep,
  type UserSubject,
  usernameOf,
} from './observation.ts';
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
  if (observation.server !== 'open') return withoutServer(subject, observation);
  const { claimedBy, at, login } = observation;
  const username = usernameOf(subject);
  const where = `DatabaseCluster "${at.clusterName}"`;
  if (claimedBy !== undefined) {
    const message = `User "${username}" of ${where} belongs to DatabaseUser "${claimedBy}": delete one of the two, or create this one with another username`;
    return stuck('UserClaimed', message);
  }
  switch (login.login) {
    case 'reserved': {
      const message = `User "${username}" is the one that ${where} itself works with, and is left alone: create this object with another username`;
      return stuck('UsernameReserved', message);
    }
    case 'secretTaken': {
      const rename = 'set connectionSecret.name to another name';
      return stuck('SecretNotOurs', takenWords(connectionSecretName(subject), login.by, USER_LABEL, rename));
    }
    case 'anyAccepted': {
      // Promoting a password because it signs in might erase the one that the server has.
      const message = `The server at ${at.endpoint} accepts any password, even one that it was never given, so Mooring cannot tell which password user "${username}" has, and changes nothing: check whether its authentication is switched off, or something in front of it answers instead`;
      return stuck('AnyPasswordAccepted', message);
    }
    case 'settled':
      return working(subject, observation, undefined, login, nowMs);
    case 'tried':
      return tried(subject, observation, login, nowMs);
    case 'notTried':
    case 'ending':
      throw new Error(`A login that is ${login.login} is decided on before`);
    default:
      return login satisfies never;
  }
}

/** A person must act. A change of what the object refers to leads to a pass at once; other changes are found out slowly. */
function stuck(reason: string, message: string): UserDecision {
  return { conditions: stalled(reason, message), retry: 'slowly' };
}

/** Decides the one step that comes next, by what the login was found to be; the first that holds. */
function tried(subject: UserSubject, seen: UserSeen, login: TriedLogin, nowMs: number): UserDecision {
  const { source } = login;
  const { create, put, prepare, write, replace, copy } = stepsOf(subject, seen, login);
  const isKnown = isOurs(subject, seen.at.identity);
  const mayTake = login.hasLostPassword || isKnown || subject.spec.adoptionPolicy === 'IfExists';

  if (login.content === 'wrongType') return replace();
  if (login.hasNext) {
    // There is nothing to report before the Secret has it.
    if (login.works === 'next') return { conditions: 'keep', steps: [{ do: 'PromotePassword' }], hold: true };
    if (login.isNextForeign) return write();
    if (login.isUnsent && source.is === 'own' && !source.coming) return prepare();
    if (login.isAwaited) return awaited(subject, seen, login);
    if (login.works === 'none' && !login.exists) return create('next');
    // The server made something else of it: the person who chose it, and now another one, need not wait for it.
    if (login.works === 'none' && mayTake && source.is === 'own' && !source.coming) return prepare({ instead: true });
    return login.works === 'current' || mayTake ? put('next') : exists(subject, seen, login);
  }
  const previous = login.previous.find(({ hasPassword }) => hasPassword);
  if (!login.hasCurrent && previous !== undefined) return copy(previous.name);
  if (login.works === 'none' && login.exists && !mayTake) return exists(subject, seen, login);
  if (login.works === 'none' && login.hasCurrent && !login.isFactory) {
    if (login.isAwaited) return awaited(subject, seen, login);
    if (!login.exists) return create('current');
    if (login.asVerified) return put('current', isKnown);
  }
  if (login.works === 'current' && login.content === 'differs') return write();
  if (source.is === 'unusable') return unusable(source, login);
  if (login.works === 'none' || (source.is === 'own' && !source.applied)) return prepare();
  return working(subject, seen, login, login, nowMs);
}

/** Returns each step that may come next, with what is said meanwhile. */
function stepsOf(subject: UserSubject, seen: UserSeen, login: TriedLogin) {
  const { at } = seen;
  const on = { username: usernameOf(subject), identity: at.identity };
  const secretName = connectionSecretName(subject);
  // While a password in the Secret works, the user is Ready, whatever is being done.
  const isReady = login.works === 'current';
  const step = (next: UserStep, reason: 'CreatingUser' | 'SettingPassword', doing: string): UserDecision => ({
    conditions: isReady ? readyConditions(subject, seen) : reconciling(reason, `${nameOf(subject, seen)} ${doing}`),
    steps: [next],
    hold: true,
  });
  return {
    create: (password: 'next' | 'current') => {
      const returns = isOurs(subject, at.identity);
      return step({ do: 'CreateUser', ...on, password, returns }, 'CreatingUser', 'is being created');
    },
    put: (password: 'next' | 'current', drifted = false) =>
      step({ do: 'PutPassword', ...on, password, drifted }, 'SettingPassword', 'is being given its password'),
    prepare: (how: { readonly instead?: true } = {}): UserDecision => {
      const decision = step(
        { do: 'PrepareNext', ...how, ...(isReady ? {} : { isOnly: true }) },
        'SettingPassword',
        `is being given a password: Secret "${secretName}" is written`,
      );
      const pause = login.refusal ?? login.overwritten;
      if (pause === undefined) return decision;
      const { failure, forMs } = pause;
      return { ...decision, steps: [], stands: failure, requeueAfterMs: forMs };
    },
    write: () =>
      step({ do: 'WriteSecret', isOwn: login.isOwn }, 'SettingPassword', `gets Secret "${secretName}" written`),
    replace: () => step({ do: 'ReplaceSecret' }, 'SettingPassword', `gets a new Secret "${secretName}"`),
    copy: (from: string) => step({ do: 'CopySecret', from }, 'SettingPassword', `gets Secret "${secretName}"`),
  };
}

function nameOf(subject: UserSubject, { at }: UserSeen): string {
  return `User "${usernameOf(subject)}" of DatabaseCluster "${at.clusterName}"`;
}

/** The user exists, and must not be touched. */
function exists(subject: UserSubject, seen: UserSeen, login: TriedLogin): UserDecision {
  const message = `${nameOf(subject, seen)} ${whose(subject, login)}: remove it there, or create this object with another username, or set adoptionPolicy: IfExists to take it over with a new password`;
  return stuck(USER_EXISTS, message);
}

/** Returns why the user is treated as somebody else's. */
function whose(subject: UserSubject, { isCreated, hasCurrent, hasNext }: TriedLogin): string {
  if (isCreated)
    return 'exists, and does not have the password that the server said it was created with, so somebody else may have made it at the same time';
  return hasBegun(subject) && !hasCurrent && !hasNext
    ? `exists, and nothing shows whose it is: somebody else made it, or this object did and, before the user was first Ready, its Secret "${connectionSecretName(subject)}" was deleted or had another name`
    : 'exists already, and was not made by this object';
}

/** The server said that it took the password, which does not sign in: look again, but do not send it again to make sure. */
function awaited(subject: UserSubject, seen: UserSeen, { works, exists, isCreated }: TriedLogin): UserDecision {
  const user = `user "${usernameOf(subject)}" of DatabaseCluster "${seen.at.clusterName}"`;
  const took = isCreated && works === 'none' ? `created ${user}` : `took the new password of ${user}`;
  const what = exists ? 'the password does not sign in yet' : 'it does not list that user yet';
  const message = `The server said that it ${took}, but ${what}: Mooring tries again. If this persists, check the server`;
  const said = reconciling('SettingPassword', message);
  const under = said.filter(({ type }) => type !== 'Ready');
  const conditions = works === 'current' ? [...readyConditions(subject, seen), ...under] : said;
  return { conditions, hold: true, retry: 'soon' };
}

function unusable(
  { lasting, reason, message }: Extract<TriedLogin['source'], { is: 'unusable' }>,
  { works }: TriedLogin,
): UserDecision {
  const said = works === 'current' ? `${message}. The previous password stays` : message;
  return lasting === 'terminal' ? stuck(reason, said) : { conditions: reconciling(reason, said), retry: 'slowly' };
}

/** The password in the Secret signs in. `login` undefined: it did so before, and nothing has changed since. */
function working(
  subject: UserSubject,
  seen: UserSeen,
  login: TriedLogin | undefined,
  { verifyInMs, refusal }: Pick<TriedLogin, 'verifyInMs' | 'refusal'>,
  nowMs: number,
): UserDecision {
  const { spec, status } = subject;
  const { passwordSecretRef, rotateEvery } = spec;
  const isLeft = isToGiveWay(subject, login);
  const generatedInMs = isLeft ? 0 : untilRotation(subject, rotateEvery, nowMs);
  const rotateInMs = passwordSecretRef === undefined ? generatedInMs : undefined;
  const { begins, stands, againInMs } = rotationNow(rotateInMs, refusal);
  const rotate: readonly UserStep[] = begins ? [{ do: 'PrepareNext' }] : [];
  // For a person's own password, all there is to record is that a rotation was asked for.
  const asked = passwordSecretRef === undefined ? undefined : rotationAt(subject, nowMs).lastHandledRotateAt;
  const handled = asked === undefined ? {} : { lastHandledRotateAt: asked };
  const corrected = passwordSecretRef === undefined ? correctedRotation(subject, rotateEvery, nowMs) : {};
  const decision: UserDecision = {
    conditions: readyConditions(subject, seen),
    hold: rotate.length > 0 || !owns(subject),
    status: { ...corrected, ...handled },
    steps: rotate,
    stands,
    requeueAfterMs: earlier(verifyInMs, againInMs),
  };
  // What the status says about an own password is forgotten only when another one is in the Secret.
  if (login === undefined || isLeft) return decision;
  const connection = connectionOf(subject, seen, login);
  const first = status.lastRotation === undefined ? rotationAt(subject, nowMs) : {};
  const username = usernameOf(subject);
  const found = { ...first, ...decision.status };
  const binding = { name: connection.secretName };
  const names = login.previous.map(({ name }) => name);
  if (names.length === 0) return { ...decision, status: { username, binding, ...found, connection } };
  // A name is forgotten only when all these Secrets are gone: until then the status has no room for more.
  const retire = names.map((name, index) => {
    const isLast = index === names.length - 1;
    return { do: 'RetireSecret', name, connection: isLast ? connection : undefined } as const;
  });
  return { ...decision, status: { username, ...found }, steps: retire };
}

/** Whether the Secret's password must be replaced: a person's own that the spec no longer names, or one that nobody may have. */
function isToGiveWay({ spec }: UserSubject, login: TriedLogin | undefined): boolean {
  return spec.passwordSecretRef === undefined && (login?.isOwn === true || login?.isFactory === true);
}

function connectionOf(subject: UserSubject, { at }: UserSeen, { secretVersion, source }: TriedLogin): Connection {
  return {
    cluster: at.identity,
    endpoint: at.endpoint,
    addresses: at.addresses,
    secretName: connectionSecretName(subject),
    secretResourceVersion: secretVersion ?? '',
    ...(source.is === 'own' ? { sourceResourceVersion: source.version } : {}),
  };
}

function readyConditions(subject: UserSubject, { at }: UserSeen) {
  const { metadata, spec, status } = subject;
  const message = `User "${usernameOf(subject)}" signs in at ${at.endpoint} with the password in Secret "${connectionSecretName(subject)}"`;
  const own = spec.passwordSecretRef?.name;
  const asked = metadata.annotations?.[ROTATE_AT];
  // Said until the next look: the annotation stays, and may be older than the person's own password.
  const isAsked = own !== undefined && asked !== undefined && asked !== status.lastHandledRotateAt;
  const hint = `. Annotation ${ROTATE_AT} replaces generated passwords only: to replace this one, change Secret "${own}"`;
  return ready('LoginWorks', isAsked ? `${message}${hint}` : message);
}
