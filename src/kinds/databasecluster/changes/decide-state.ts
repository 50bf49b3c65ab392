import { rotationWaits } from '../../rotation.ts';
import { adminSecretName, desiredID } from '../identity.ts';
import { needsPerson } from '../login/wrong-login.ts';
import type { ClusterDecision, ClusterSubject, SpaceSeen } from '../observation.ts';
import {
  bringing,
  clusterConditions,
  factoryLoginRetired,
  isSecured,
  lostSecret,
  type Rule,
  verifiedLogin,
} from '../present.ts';
import { type Change, changeOf, isChangeUnseen, leavesAsIs, settled } from './decide-change.ts';

/** How long a cluster that should be suspended is kept running if its factory login was never retired and its server is silent. */
const SECURING_MS = 60 * 60_000;

/** Whether the cluster should run. */
export const decideRunState: Rule = (subject, seen, nowMs) => {
  const { cluster } = seen;
  const { state } = subject.spec;
  if (cluster === undefined) return undefined;
  const suspended = cluster.status === 'suspended';
  if (suspended === (state === 'Suspended')) return suspended ? decideSuspended(subject, seen) : undefined;
  if (!suspended && isBeingSecured(subject, seen)) return undefined;
  if (leavesAsIs(subject, seen) !== undefined) {
    return { conditions: [...settled(subject, seen, 'Drifted', ''), ...clusterConditions(subject, seen)] };
  }
  const [step, reason, doing] = suspended
    ? (['Resume', 'Resuming', 'resumed'] as const)
    : (['Suspend', 'Suspending', 'suspended'] as const);
  const secured = suspended ? undefined : securedNow(subject, seen, nowMs);
  const first = suspended || secured !== undefined ? undefined : changeBefore(subject, seen);
  if (first !== undefined) {
    const { summary, steps } = first;
    return { conditions: [...summary, ...clusterConditions(subject, seen)], steps, retry: 'soon' };
  }
  const message = `Cluster "${seen.id}" is being ${doing}: state from ${suspended ? 'Suspended to Running' : 'Running to Suspended'}`;
  return {
    conditions: [...bringing(seen, reason, message), ...clusterConditions(subject, seen, secured)],
    ...(secured === undefined ? { steps: [{ do: step, id: seen.id }] } : { status: secured.status, requeueAfterMs: 0 }),
  };
};

/**
 * What to change while the cluster still runs: nobody promises from which states a change is accepted, and running is the
 * likeliest. But a change that came to nothing does not hold up the suspension. Nor does any once the suspension was
 * accepted, as nothing would then be reported about the change.
 */
function changeBefore(subject: ClusterSubject, seen: SpaceSeen): Change | undefined {
  const { metadata, status } = subject;
  // A renaming first looks whether the name is free, and that can be refused as well.
  const called = desiredID(subject) === seen.cluster?.id ? ['update'] : ['update', 'get'];
  const isRefused = called.some((operation) => operation === status.lastError?.operation);
  const isOver = seen.notShown !== undefined || isRefused || isChangeUnseen(subject);
  if (isOver && status.observedGeneration === metadata.generation) return undefined;
  const change = changeOf(subject, seen);
  return change?.steps.length === 0 ? undefined : change;
}

/**
 * Whether the factory login must still be retired before the cluster is suspended for the first time. Only something lasting
 * prevents that. A failed sign-in to a new cluster is tried again: its server may come up later than the cluster, and some
 * of its machines may hear later of a password that it took.
 */
function isBeingSecured(subject: ClusterSubject, seen: SpaceSeen): boolean {
  const { login } = seen;
  if (login.login === 'tried') {
    const mayBe = (login.working !== 'none' || login.isAwaited) && !needsPerson(login);
    return mayBe && login.factoryAlive !== false;
  }
  return untilUnsecuredMs(subject, seen) > 0;
}

/** For how much longer a cluster that was never secured is kept running for a silent server; 0 or less: no longer. */
export function untilUnsecuredMs({ status }: ClusterSubject, { login }: SpaceSeen): number {
  const isSilent = login.login === 'noServer' || login.login === 'unreachable';
  return isSilent && status.credentials === undefined ? SECURING_MS - login.forMs : 0;
}

/**
 * Recorded before the cluster is suspended, as afterwards no server could tell. Which Secret holds the login must also be
 * known, as the spec may name another one before the cluster runs again.
 */
function securedNow(subject: ClusterSubject, seen: SpaceSeen, nowMs: number) {
  if (isSecured(subject)) return undefined;
  const status = verifiedLogin(subject, seen, nowMs);
  return status && { status, secured: factoryLoginRetired(status.credentials.secretName) };
}

/** Suspended as it should be. Changes wait for nothing; the login does, as there is no server to try it at. */
function decideSuspended(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision {
  const known = clusterConditions(subject, seen);
  const change = changeOf(subject, seen);
  if (change !== undefined) {
    const { summary, steps } = change;
    return { conditions: [...summary, ...known], steps, ...(steps.length > 0 ? {} : { retry: 'slowly' }) };
  }
  const message = `Cluster "${seen.id}" is suspended, as the spec says`;
  const conditions = known.map((condition) =>
    condition.type === 'Available'
      ? { ...condition, reason: 'Suspended', message: `${message}: no server runs` }
      : condition,
  );
  const waits = () => `${moveWaits(subject)}${rotationWaits(subject, 'it runs again')}`;
  const but = lostWords(seen) ?? unsecuredWords(subject) ?? waits();
  return { conditions: [...settled(subject, seen, 'Suspended', `${message}${but}`), ...conditions] };
}

function lostWords(seen: SpaceSeen): string | undefined {
  const lost = lostSecret(seen);
  return lost && `; but Secret "${lost}" with its login is gone: restore it before the cluster runs again`;
}

/** Until then the Secret that the spec names is not there, and a person might look for it. */
function moveWaits(subject: ClusterSubject): string {
  const now = subject.status.credentials?.secretName;
  const next = adminSecretName(subject);
  if (now === undefined || now === next || subject.spec.managementPolicy !== 'Manage') return '';
  return `; its login stays in Secret "${now}", and moves to "${next}" once it runs again`;
}

/** Something lasting kept it from being secured before it was suspended, or it was suspended when it was taken over. */
function unsecuredWords(subject: ClusterSubject): string | undefined {
  if (subject.spec.managementPolicy !== 'Manage' || isSecured(subject)) return undefined;
  if (subject.status.credentials !== undefined)
    return '; but its login was not tried since another object had the cluster, or since it was only observed: that is done once it runs again';
  return '; but its login was never secured, so once it runs again the one that new clusters come with may work until Mooring has replaced it';
}
