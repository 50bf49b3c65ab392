import {
  type ConditionUpdate,
  findStatusCondition,
  isStatusConditionTrue,
  toldBefore,
} from '../../../kube/condition.ts';
import { PASS } from '../../../kube/failure.ts';
import { failing, particulars, reconciling, retrying, stalled } from '../../../kube/summary.ts';
import { rotationNow, rotationWaits, untilRotation } from '../../rotation.ts';
import { earlier } from '../../verification.ts';
import { changeOf, isChangeUnseen, settled } from '../changes/decide-change.ts';
import { adminSecretName } from '../identity.ts';
import type {
  ClusterDecision,
  ClusterStep,
  ClusterSubject,
  LoginObservation,
  SpaceSeen,
  TriedLogin,
} from '../observation.ts';
import {
  clusterConditions,
  factoryLoginRetired,
  loginWorks,
  type Rule,
  UNPUBLISHED,
  type VerifiedLogin,
  verifiedLogin,
} from '../present.ts';
import { CLONE_LOOK_MS, CLONE_LOOK_WITH_TRIES_MS, clonesInWords, withoutClones } from './clones.ts';
import { secretTakenWords } from './secret-taken.ts';
import { needsPerson, whatIsWrong } from './wrong-login.ts';

/**
 * The last rule, for a cluster that runs: its login, then what it should look like, and then it is Ready. Whatever the cloud
 * makes of a change, the login is looked after and reported.
 */
export const decideLogin: Rule = (subject, seen, nowMs) => {
  const login = decideLoginAlone(subject, seen, nowMs);
  const change = changeOf(subject, seen);
  if (change === undefined) return login;
  const { steps = [], conditions, retry = 'slowly', requeueAfterMs } = login;
  const told = {
    ...login,
    mayPass: false,
    conditions: [...change.summary, ...particulars(conditions === 'keep' ? asBefore(subject, seen) : conditions)],
  };
  // The change is impossible, so the login is all there is to do.
  if (change.steps.length === 0)
    return { ...told, ...(steps.length > 0 || requeueAfterMs !== undefined ? {} : { retry }) };
  if (!isHeldUp(subject)) {
    if (isToBeReplaced(subject, seen, nowMs)) return login;
    // The next pass reports. Until then, what was reported about a refused change stands.
    if (steps.length > 0) return { ...login, conditions: 'keep' };
  }
  // What was seen of the server no longer holds after a change that goes first, and the change may mend what stands.
  return { ...told, stands: undefined, steps: change.steps.map((step) => withPatience(step, login)) };
};

/** Keeps what was reported about the login, and adds how the cluster differs. */
function asBefore(subject: ClusterSubject, seen: SpaceSeen): readonly ConditionUpdate[] {
  const isSynced = ({ type }: ConditionUpdate) => type === 'Synced';
  const before = (subject.status.conditions ?? []).filter((condition) => !isSynced(condition));
  return [...clusterConditions(subject, seen).filter(isSynced), ...before];
}

/** A server that is about to come up is looked at soon, whatever becomes of the change. */
function withPatience(step: ClusterStep, { retry }: ClusterDecision): ClusterStep {
  const isChange = step.do === 'Update' || step.do === 'Rename';
  return isChange && retry === 'soon' ? { ...step, patient: true } : step;
}

/** Whether somebody can sign in, but not yet as it should be. */
function isToBeReplaced(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): boolean {
  const { login } = seen;
  if (login.login !== 'tried' || login.working === 'none' || login.replacedInMs !== undefined) return false;
  if (needsPerson(login)) return false;
  return verifiedLogin(subject, seen, nowMs) === undefined;
}

/**
 * Whether the last pass failed at the login because the server or Kubernetes refused something. Then a change goes first: it may
 * mend that, such as a full disk, and must not wait for a person.
 */
function isHeldUp(subject: ClusterSubject): boolean {
  const failedAt = subject.status.lastError?.operation;
  return failedAt === 'updateUser' || (failedAt === PASS && !isChangeUnseen(subject));
}

/** Likewise for a cluster that is not to be changed. */
export function decideLoginAlone(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision {
  const { login } = seen;
  if (subject.spec.managementPolicy === 'Observe') return notTried(subject, seen);
  switch (login.login) {
    case 'notTried':
    case 'noServer':
      return notTried(subject, seen);
    case 'settled':
      return running(subject, seen, login, {}, nowMs);
    case 'unreachable':
      return unreachable(subject, seen, login);
    case 'secretTaken': {
      const message = secretTakenWords(subject, login);
      return {
        conditions: [...stalled('SecretNotOurs', message), ...clusterConditions(subject, seen)],
        retry: 'slowly',
      };
    }
    case 'tried':
      return tried(subject, seen, login, nowMs);
    default:
      return login satisfies never;
  }
}

/** managementPolicy: Observe changes nothing, so it promises nothing about passwords. Ready means that all is as the spec says. */
function notTried(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision {
  if (subject.spec.managementPolicy === 'Observe') {
    const message = `Cluster "${seen.id}" is as the spec says; it is observed only, and its login is not tried${rotationWaits(subject, 'managementPolicy is Manage')}`;
    return { conditions: [...settled(subject, seen, 'Observed', message), ...clusterConditions(subject, seen)] };
  }
  const message = `Cluster "${seen.id}" runs, but its login cannot be tried yet`;
  return { conditions: [...reconciling('WaitingForServer', message), ...clusterConditions(subject, seen)] };
}

/** How often a coming password that somebody else wrote is tried. */
const FOREIGN_TRIED_MS = 30_000;

function tried(subject: ClusterSubject, seen: SpaceSeen, login: TriedLogin, nowMs: number): ClusterDecision {
  const { working, workingOf, factoryAlive, replacedInMs, secretName } = login;
  const hasNext = login.next === 'ours';
  const from = workingOf === undefined ? {} : { of: workingOf };
  const wrong = whatIsWrong(subject, seen.endpoint ?? '', login);
  if (wrong !== undefined) {
    const { reason, message } = wrong;
    return { conditions: [...stalled(reason, message), ...clusterConditions(subject, seen, wrong)], retry: 'slowly' };
  }
  // Nothing is news until the Secret has it.
  if (working === 'next') return { conditions: 'keep', steps: [{ do: 'PromotePassword' }], hold: true };
  // Not all servers and their machines may know of the change, so for a moment neither password may work.
  if (working === 'none' || (hasNext && login.isAwaited)) {
    const doing =
      'the new password was taken, but does not sign in yet: Mooring tries again. If this persists, check the server';
    const conditions = waiting(subject, seen, login, doing);
    return { conditions, hold: true, mayPass: working === 'none', retry: 'soon' };
  }
  if (hasNext) {
    const put: ClusterStep = { do: 'PutPassword', id: seen.id, as: working, ...from };
    return replaceBy(put, subject, seen, login, 'the new password is set on the server');
  }
  if (replacedInMs !== undefined) {
    const doing = `somebody else wrote nextPassword in Secret "${secretName}". It may be on its way to the server, so it stays there for ten minutes, and Mooring does not give it to the server`;
    const conditions = waiting(subject, seen, login, doing);
    return { conditions, requeueAfterMs: Math.min(replacedInMs, FOREIGN_TRIED_MS) };
  }
  const found = verifiedLogin(subject, seen, nowMs);
  if (found !== undefined) return verified(subject, seen, login, found, nowMs);
  // Another password would change nothing about that.
  if (factoryAlive === true && login.isJustSet) {
    const doing =
      'the server took the new password, which signs in, but still accepts the one that new clusters come with, too: Mooring tries again, and sets another password after a minute. If this persists, check the server';
    return { conditions: waiting(subject, seen, login, doing), hold: true, retry: 'soon' };
  }
  const doing = `a new password is written to Secret "${secretName}"`;
  if (login.refusal !== undefined) {
    const { failure, forMs } = login.refusal;
    const conditions = replacing(subject, seen, login, doing);
    return { conditions, hold: true, stands: failure, requeueAfterMs: forMs };
  }
  const { clones = [] } = seen;
  if (clones.length > 0 && isMoving(subject, login) && factoryAlive !== true)
    return { conditions: waiting(subject, seen, login, waitsFor(clones)), requeueAfterMs: CLONE_LOOK_WITH_TRIES_MS };
  // The factory's password must go first, no matter who else can sign in.
  const by = factoryAlive === true ? byFactory(login) : { from: working, ...from };
  return replaceBy({ do: 'PreparePassword', ...by }, subject, seen, login, doing);
}

/** The password in the Secret works as well, and stays there, unless its user may not manage others. */
function byFactory({ powerless }: TriedLogin) {
  return { from: 'factory', ...(powerless === undefined ? { isBeside: true } : {}) } as const;
}

function replaceBy(
  step: ClusterStep,
  subject: ClusterSubject,
  seen: SpaceSeen,
  login: TriedLogin,
  doing: string,
): ClusterDecision {
  // Report before anything is done, as a pass that goes on at once reports nothing.
  const isToBeTold = isMove(subject, login) && isStatusConditionTrue(subject.status.conditions, 'Ready');
  return {
    conditions: replacing(subject, seen, login, doing),
    ...(isToBeTold ? { requeueAfterMs: 0 } : { steps: [step] }),
    // The finalizer comes before the first password changes hands: deleting this object must look after the Secret.
    hold: true,
  };
}

/** The conditions while the login is replaced. */
function replacing(
  subject: ClusterSubject,
  seen: SpaceSeen,
  login: TriedLogin,
  doing: string,
): readonly ConditionUpdate[] {
  if (isRotation(subject, login)) return inOrder(subject, seen);
  // What applications read stops working once the server has the new password, and where that will be is not published yet.
  if (isMove(subject, login)) return [...underReplacement(seen, doing), ...clusterConditions(subject, seen)];
  const secured = isRetired(subject, login) ? notPublished(doing) : notSecured(doing);
  const told = { secured, available: answering(seen) };
  return [...underReplacement(seen, doing), ...clusterConditions(subject, seen, told)];
}

/** Likewise while that waits; what works stays so. A change of the cluster waits too, so that is not what is under way. */
function waiting(
  subject: ClusterSubject,
  seen: SpaceSeen,
  login: TriedLogin,
  doing: string,
): readonly ConditionUpdate[] {
  const all = replacing(subject, seen, login, doing);
  const told = changeOf(subject, seen) === undefined ? all : particulars(all);
  const missing = underReplacement(seen, doing).filter(({ type }) => !told.some((each) => each.type === type));
  return told === all ? [...told, ...missing] : [...missing, ...told];
}

function underReplacement({ id }: SpaceSeen, doing: string): readonly ConditionUpdate[] {
  return reconciling('SecuringCredentials', `Cluster "${id}" runs; its login is being replaced: ${doing}`);
}

/** The login works, and no other is to come. */
function verified(
  subject: ClusterSubject,
  seen: SpaceSeen,
  login: TriedLogin,
  found: VerifiedLogin,
  nowMs: number,
): ClusterDecision {
  const { retire, verifyInMs, refusal } = login;
  if (retire === undefined || !isMoving(subject, login)) return running(subject, seen, login, found, nowMs);
  // Their names are forgotten only once they are gone.
  const { credentials, unverifiedSecretName: _, ...first } = found;
  const { steps = [], ...decision } = running(subject, seen, { verifyInMs, refusal }, first, nowMs);
  return { ...decision, steps: [{ do: 'RetireSecret', names: retire, credentials }, ...steps] };
}

/** Whether a login that was in order is being replaced: at every moment one of the Secret's passwords works. */
function isRotation(subject: ClusterSubject, login: TriedLogin): boolean {
  return wasInOrder(subject, login) && login.working === 'current' && !isMoving(subject, login);
}

/** Likewise, but the new password goes into another Secret. */
function isMove(subject: ClusterSubject, login: TriedLogin): boolean {
  const isKnown = ['current', 'inherited', 'inheritedNext'].includes(login.working);
  return wasInOrder(subject, login) && isKnown && isMoving(subject, login);
}

function wasInOrder({ status }: ClusterSubject, { factoryAlive }: TriedLogin): boolean {
  const was = (type: string) => isStatusConditionTrue(status.conditions, type);
  return factoryAlive !== true && was('CredentialsSecured') && was('Available');
}

function isMoving({ status }: ClusterSubject, { secretName }: TriedLogin): boolean {
  return status.credentials !== undefined && status.credentials.secretName !== secretName;
}

/** `also`: what the message of Ready adds. */
function inOrder(subject: ClusterSubject, seen: SpaceSeen, also = ''): readonly ConditionUpdate[] {
  const secretName = adminSecretName(subject);
  const secured = factoryLoginRetired(secretName);
  const available = loginWorks(seen);
  const message = `Cluster "${seen.id}" runs at ${seen.endpoint ?? ''}; its login is in Secret "${secretName}"${also}`;
  return [...settled(subject, seen, 'Running', message), ...clusterConditions(subject, seen, { secured, available })];
}

function waitsFor(clones: readonly string[]): string {
  return `a new password is due, and waits for an hour at most until what is being cloned from it has a login of its own, as that comes with the password of now: ${clonesInWords(clones)}. To have it at once, ${withoutClones(clones)}`;
}

function running(
  subject: ClusterSubject,
  seen: SpaceSeen,
  { verifyInMs, refusal, retire }: Pick<TriedLogin, 'verifyInMs' | 'refusal' | 'retire'>,
  status: NonNullable<ClusterDecision['status']>,
  nowMs: number,
): ClusterDecision {
  const rotateInMs = untilRotation(subject, subject.spec.adminCredentials?.rotateEvery, nowMs);
  const { begins, stands, againInMs } = rotationNow(rotateInMs, refusal);
  const waits = begins && (seen.clones ?? []).length > 0;
  const rotate: ClusterStep = { do: 'PreparePassword', from: 'current', rotates: true };
  const { credentials, unverifiedSecretName: other = subject.status.unverifiedSecretName } = status;
  const isMoved = credentials != null && credentials.secretName !== subject.status.credentials?.secretName;
  return {
    conditions: inOrder(subject, seen, waits ? `; ${waitsFor(seen.clones ?? [])}` : ''),
    status,
    // Ready stays: at every moment of the rotation one of the Secret's passwords works.
    steps: [
      ...(retire === undefined ? [] : [{ do: 'RetireSecret', names: retire } as const]),
      ...(begins && !waits ? [rotate] : []),
    ],
    stands,
    // The former Secret goes next.
    requeueAfterMs: isMoved && typeof other === 'string' ? 0 : earlier(verifyInMs, waits ? CLONE_LOOK_MS : againInMs),
  };
}

const WHEN_UNUSABLE = {
  ServerAnswerUnusable: 'Check serverURL of the space. Mooring tries again',
  ServerThrottled: 'Mooring tries again',
  ServerUnreachable:
    'Mooring tries again. If this persists, check serverURL and caBundle of the space, and network policies and proxies on the way',
} as const;

function unreachable(
  subject: ClusterSubject,
  seen: SpaceSeen,
  { message: why, isNonsense, isThrottled, heldBack }: Extract<LoginObservation, { login: 'unreachable' }>,
): ClusterDecision {
  const { metadata, status } = subject;
  const ready = findStatusCondition(status.conditions, 'Ready');
  const worked = ready?.status === 'True' || ready?.status === 'False';
  const reason = isNonsense ? 'ServerAnswerUnusable' : isThrottled ? 'ServerThrottled' : 'ServerUnreachable';
  const about = { type: 'Available', reason, generation: metadata.generation ?? 0 };
  const told = heldBack && status.endpoint === seen.endpoint ? toldBefore(status.conditions, about) : undefined;
  const message =
    told ??
    `The server of cluster "${seen.id}" at ${seen.endpoint ?? ''} cannot be used${isThrottled ? ' now' : ''}: ${why}. ${WHEN_UNUSABLE[reason]}`;
  const before = findStatusCondition(status.conditions, 'Available');
  // A server that asks for fewer calls is there: what was found about it stands.
  const stands = isThrottled && status.credentials?.endpoint === seen.endpoint ? before : undefined;
  const available: ConditionUpdate = stands ?? { type: 'Available', status: 'False', reason, message };
  const say = worked && !isThrottled ? failing : retrying;
  return {
    conditions: [...say(reason, message), ...clusterConditions(subject, seen, { available })],
    mayPass: !heldBack && status.credentials?.endpoint === seen.endpoint,
    retry: 'soon',
  };
}

/** Whether nothing but the publication of a login that works is missing. */
function isRetired({ status }: ClusterSubject, { working, factoryAlive }: TriedLogin): boolean {
  if (working === 'factory') return false;
  if (factoryAlive !== undefined) return !factoryAlive;
  const before = findStatusCondition(status.conditions, 'CredentialsSecured');
  return before?.status === 'True' || before?.reason === UNPUBLISHED;
}

function notPublished(doing: string): ConditionUpdate {
  const message = `The login that new clusters come with does not work, and the one that works is not published yet: ${doing}`;
  return { type: 'CredentialsSecured', status: 'False', reason: UNPUBLISHED, message };
}

function notSecured(doing: string): ConditionUpdate {
  return { type: 'CredentialsSecured', status: 'False', reason: 'SecuringCredentials', message: `Not yet: ${doing}` };
}

function answering(seen: SpaceSeen): ConditionUpdate {
  const message = `The server at ${seen.endpoint ?? ''} answers; its login is being replaced`;
  return { type: 'Available', status: 'False', reason: 'SecuringCredentials', message };
}
