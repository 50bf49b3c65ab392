import { LOOK_THERE } from '../../../kube/annotations.ts';
import { reconciling } from '../../../kube/summary.ts';
import { missingFor } from '../../elapsed.ts';
import {
  connectionSecretName,
  hasBegun,
  isOurs,
  type TriedLogin,
  USER_EXISTS,
  type UserDecision,
  type UserSeen,
  type UserStep,
  type UserSubject,
  usernameOf,
} from '../observation.ts';
import { nameOf, readyConditions, stuck } from '../present.ts';
import { decideWorking, rotationOf } from './decide-working.ts';

/** Decides the one step that comes next, by what the login was found to be; the first that holds. */
export function decideLogin(subject: UserSubject, seen: UserSeen, login: TriedLogin, nowMs: number): UserDecision {
  const { source } = login;
  const { create, put, prepare, rotate, write, replace, copy } = stepsOf(subject, seen, login, nowMs);
  const isKnown = isOurs(subject, seen.at.identity);
  const mayTake = login.hasLostPassword || isKnown || subject.spec.adoptionPolicy === 'IfExists';

  if (login.content === 'wrongType') return replace();
  if (login.hasNext) {
    // There is nothing to report before the Secret has it.
    if (login.works === 'next') return { conditions: 'keep', steps: [{ do: 'PromotePassword' }], hold: true };
    if (login.isNextForeign) return write();
    if (login.isUnsent && source.is === 'own' && !source.coming) return prepare();
    if (login.isAwaited) return awaited(subject, seen, login);
    if (!login.exists) return create('next');
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
    if (login.retriedInMs !== undefined) return retried(subject, seen, login.retriedInMs);
    if (login.asVerified) return put('current', isKnown);
  }
  if (login.works === 'current' && login.content === 'differs') return rotate() ?? write();
  if (source.is === 'unusable') return unusable(source, login);
  if (login.works === 'none' || (source.is === 'own' && !source.applied)) return prepare();
  return decideWorking(subject, seen, login, login, nowMs);
}

/** Returns each step that may come next, with what is said meanwhile. */
function stepsOf(subject: UserSubject, seen: UserSeen, login: TriedLogin, nowMs: number) {
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
    // It sets right whatever else differs, too. If something else changes that back each time, there may be no other write for long.
    rotate: () => {
      const [next] = rotationOf(subject, login, login, nowMs).steps;
      return next && step(next, 'SettingPassword', 'is being given a new password');
    },
    write: () =>
      step({ do: 'WriteSecret', isOwn: login.isOwn }, 'SettingPassword', `gets Secret "${secretName}" written`),
    replace: () => step({ do: 'ReplaceSecret' }, 'SettingPassword', `gets a new Secret "${secretName}"`),
    copy: (from: string) => step({ do: 'CopySecret', from }, 'SettingPassword', `gets Secret "${secretName}"`),
  };
}

/** The user exists, and must not be touched. */
function exists(subject: UserSubject, seen: UserSeen, login: TriedLogin): UserDecision {
  const message = `${nameOf(subject, seen)} ${whose(subject, login)}: remove it there, ${LOOK_THERE}; or create this object with another username, or set adoptionPolicy: IfExists to take it over with a new password`;
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

/** Setting the very same password ends the user's sessions, so once is not enough. */
function retried(subject: UserSubject, seen: UserSeen, inMs: number): UserDecision {
  const message = `${nameOf(subject, seen)} is refused with the password in Secret "${connectionSecretName(subject)}", which worked before: Mooring tries it again, and sets it on the server if it is still refused`;
  return { conditions: reconciling('SettingPassword', message), hold: true, requeueAfterMs: inMs };
}

function unusable(
  { lasting, reason, message, forMs }: Extract<TriedLogin['source'], { is: 'unusable' }>,
  { works }: TriedLogin,
): UserDecision {
  const said = works === 'current' ? `${message}. The previous password stays` : message;
  if (lasting === 'terminal') return stuck(reason, said);
  const conditions = reconciling(reason, said);
  // The watch reports a Secret that appears; without a watch, operator.md says how long it may take.
  return { conditions, ...(works === 'current' ? missingFor(forMs, 'later') : { retry: 'later' }) };
}
