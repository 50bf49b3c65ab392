import { type ConditionUpdate, findStatusCondition } from '../../kube/condition.ts';
import { particulars, reconciling } from '../../kube/summary.ts';
import { placeName } from '../databasespace/place.ts';
import { type Rotation, rotationAt } from '../rotation.ts';
import { labelsInWords, OWNER_LABEL } from '../secrets.ts';
import { differences, inWords, unreported } from './changes/differences.ts';
import { UNSETTLED_MS } from './changes/unseen-change.ts';
import { isOurs } from './identity.ts';
import { recordedIn } from './login/former-secrets.ts';
import type { ClusterDecision, ClusterStatusPatch, ClusterSubject, Credentials, SpaceSeen } from './observation.ts';

/** Answers one question; undefined: it does not decide, ask the next. */
export type Rule = (subject: ClusterSubject, seen: SpaceSeen, nowMs: number) => ClusterDecision | undefined;

/** What the status shows of a cluster, except its identity (createdAt), which is recorded once, when it is known. */
export function shown(seen: Pick<SpaceSeen, 'cluster' | 'endpoint'>): ClusterStatusPatch {
  const { cluster, endpoint } = seen;
  // `observed` stays: it tells this cluster from another one created at the same moment (find-cluster.ts).
  if (cluster === undefined) return { state: null, servers: null, endpoint: null };
  const { machineType, storageSizeGB, serverCount, provider, region } = cluster;
  return {
    state: cluster.status,
    clusterID: cluster.id,
    version: cluster.version ?? null,
    observed: { machineType, storageSizeGB, serverCount, provider, region },
    // Each List may name them in another order.
    servers: cluster.servers.toSorted((one, other) => (one.address < other.address ? -1 : 1)),
    endpoint: endpoint ?? null,
  };
}

/** The conditions besides the summary, from what is known now. */
export function clusterConditions(
  subject: ClusterSubject,
  seen: SpaceSeen,
  known: { readonly secured?: ConditionUpdate; readonly available?: ConditionUpdate } = {},
): readonly ConditionUpdate[] {
  return [synced(subject, seen), known.secured ?? secured(subject, seen), known.available ?? available(subject, seen)];
}

/** The summary while a cluster is suspended, resumed or destroyed. Says so if the cloud accepted that repeatedly and never showed it. */
export function bringing({ notShown }: SpaceSeen, reason: string, message: string): readonly ConditionUpdate[] {
  return notShown?.reason === 'UpdateNotApplied'
    ? reconciling(notShown.reason, notShown.message)
    : reconciling(reason, message);
}

/** When to look again if the cloud was slow to show it before: by then the cluster is believed to be on its way (not-shown.ts). */
export function untilBelieved({ notShown }: SpaceSeen): Pick<ClusterDecision, 'requeueAfterMs'> {
  return notShown?.reason === 'UpdateNotApplied' ? { requeueAfterMs: UNSETTLED_MS } : {};
}

/** Why nothing is said about the login; undefined: there is no such reason. */
function untold(
  subject: ClusterSubject,
  { claimedBy }: SpaceSeen,
): Pick<ConditionUpdate, 'status' | 'reason' | 'message'> | undefined {
  if (claimedBy !== undefined) {
    // It may have had the cluster: what was true of its login then need not be so any more.
    const message = `No login is tried, as the cluster belongs to DatabaseCluster "${claimedBy}"`;
    return { status: 'Unknown', reason: NOT_VERIFIED, message };
  }
  if (subject.spec.managementPolicy !== 'Observe') return undefined;
  return { status: 'Unknown', reason: 'ObservedOnly', message: 'With managementPolicy: Observe no login is tried' };
}

/** What the status records of a verified login. */
export type VerifiedLogin = {
  readonly credentials: Credentials;
  readonly unverifiedSecretName?: string | null;
} & Partial<Rotation>;

/** What to record of a login that was tried; undefined: it is not known that the published one works and the factory's does not. */
export function verifiedLogin(
  subject: ClusterSubject,
  { login, endpoint }: Pick<SpaceSeen, 'login' | 'endpoint'>,
  nowMs: number,
): VerifiedLogin | undefined {
  if (login.login !== 'tried' || endpoint === undefined) return undefined;
  const { working, next, factoryAlive, secretName, secretVersion, factoryVersion } = login;
  if (working !== 'current' || next !== 'none' || secretVersion === undefined || factoryAlive !== false)
    return undefined;
  const factory = factoryVersion === undefined ? {} : { factoryVersion };
  const first = subject.status.lastRotation === undefined ? rotationAt(subject, nowMs) : {};
  const credentials = { secretName, secretResourceVersion: secretVersion, ...factory, endpoint };
  // Its name is forgotten only once it is gone: if the process ends before, the next one must find both.
  const other = recordedIn(subject).find((name) => name !== secretName);
  const noted = other === subject.status.unverifiedSecretName ? {} : { unverifiedSecretName: other ?? null };
  return { credentials, ...noted, ...first };
}

export function factoryLoginRetired(secretName: string): ConditionUpdate {
  return {
    type: SECURED,
    status: 'True',
    reason: 'FactoryLoginRetired',
    message: `The login in Secret "${secretName}" works; the one that new clusters come with does not`,
  };
}

function workedBefore(secretName: string): string {
  return `The login in Secret "${secretName}" worked when it was last tried, and the one that new clusters come with did not; it is tried again when the cluster runs`;
}

/** Reason if the login that new clusters come with is refused, and the one that works is not in its Secret yet. */
export const UNPUBLISHED = 'AdminLoginUnpublished';

/** Reason if no Secret holds the login any more. */
const LOST = 'AdminLoginLost';

/** The Secret of a suspended cluster, if it is gone. */
export function lostSecret({ login }: Pick<SpaceSeen, 'login'>): string | undefined {
  return login.login === 'notTried' ? login.lostSecret : undefined;
}

/** Only a process that holds a session might still recover, and nobody knows whether one does. */
function secretLost({ metadata }: ClusterSubject, secretName: string): string {
  return `Secret "${secretName}" is gone, and no new one can be made while the cluster is suspended: when it runs again, nobody may be able to sign in. Restore it, with labels ${labelsInWords(OWNER_LABEL, metadata.name)}, or put the login that works into a Secret and name it in adminCredentials.existingSecretRef`;
}

export function loginWorks({ endpoint = '' }: Pick<SpaceSeen, 'endpoint'>): ConditionUpdate {
  const message = `The server at ${endpoint} answers, and the login works`;
  return { type: 'Available', status: 'True', reason: 'LoginWorks', message };
}

function secured(subject: ClusterSubject, seen: SpaceSeen): ConditionUpdate {
  const silent = untold(subject, seen);
  if (silent !== undefined) return { type: SECURED, ...silent };
  if (isOurs(subject, seen)) return securedOfOurs(subject, seen);
  if (seen.cluster === undefined && isBeingCreated(subject, seen)) return NOT_RETIRED;
  return securedWithoutOurs(subject, seen);
}

function securedOfOurs(subject: ClusterSubject, seen: SpaceSeen): ConditionUpdate {
  const kept = keptFrom(subject, SECURED);
  const { credentials, conditions } = subject.status;
  // Nobody can try it now, and its Secret may have been lost since.
  const worked = kept?.status === 'True' || (kept?.status === 'Unknown' && kept.reason === LOST);
  if (worked && credentials !== undefined && seen.cluster?.status === 'suspended') {
    const lost = lostSecret(seen);
    if (lost !== undefined)
      return { type: SECURED, status: 'Unknown', reason: LOST, message: secretLost(subject, lost) };
    return { ...factoryLoginRetired(credentials.secretName), message: workedBefore(credentials.secretName) };
  }
  if (kept !== undefined && kept.reason !== NOT_RETIRED.reason) return kept;
  // It is there again, as it was: what was verified then was about this very cluster.
  const wasGone = NOT_THERE.has(findStatusCondition(conditions, SECURED)?.reason ?? '');
  if (credentials !== undefined && wasGone) return factoryLoginRetired(credentials.secretName);
  return seen.cluster?.status === 'suspended' ? NOT_RETIRED_ASLEEP : NOT_RETIRED;
}

/** There is no cluster, or one that is not known to be ours. */
function securedWithoutOurs(subject: ClusterSubject, seen: SpaceSeen): ConditionUpdate {
  const { credentials, conditions } = subject.status;
  if (credentials !== undefined) {
    // If it comes back, what was wrong with its login still is, and nothing else remembers that.
    const known = keptFrom(subject, SECURED);
    if (known?.status === 'False') return known;
    // Nor does anything else remember what was found before it was only observed.
    if (findStatusCondition(conditions, SECURED)?.reason === 'ObservedOnly') return NOT_RETIRED;
  }
  const [reason, message] =
    seen.cluster === undefined
      ? ['ClusterMissing', `There is no cluster "${seen.id}" to sign in to`]
      : ['ClusterNotOurs', triedNowhere(seen)];
  return { type: SECURED, status: 'False', reason, message };
}

function triedNowhere({ id }: Pick<SpaceSeen, 'id'>): string {
  return `Cluster "${id}" is not this object's, and no login is tried there`;
}

const SECURED = 'CredentialsSecured';

const NOT_RETIRED: ConditionUpdate = {
  type: SECURED,
  status: 'False',
  reason: 'NotYet',
  message: 'The login that new clusters come with is not retired yet',
};

const NOT_RETIRED_ASLEEP: ConditionUpdate = {
  ...NOT_RETIRED,
  message:
    'The login that new clusters come with may work, as none can be tried while the cluster is suspended. It is tried, and retired if ' +
    'it works, as soon as the cluster runs: for that, set state to Running until this condition is True',
};

/** Reasons that report no cluster, or another one: they say nothing about ours. */
const NOT_THERE: ReadonlySet<string> = new Set(['ClusterMissing', 'ClusterNotOurs']);

const NOT_VERIFIED = 'NotVerified';

/** Reasons that report that no login is tried. */
const UNTRIED: ReadonlySet<string> = new Set(['ObservedOnly', NOT_VERIFIED]);

/** Whether the login was verified, and nothing since, such as another object that had the cluster, makes that doubtful. */
export function isSecured({ status }: Pick<ClusterSubject, 'status'>): boolean {
  const reason = findStatusCondition(status.conditions, SECURED)?.reason ?? '';
  return status.credentials !== undefined && !UNTRIED.has(reason) && reason !== NOT_RETIRED.reason;
}

/** The condition as it stands, taken to hold for this generation, too. */
function keptFrom({ status }: ClusterSubject, type: string): ConditionUpdate | undefined {
  const kept = findStatusCondition(status.conditions, type);
  // What was said while no login was tried says nothing once one is.
  return kept === undefined || UNTRIED.has(kept.reason) || NOT_THERE.has(kept.reason)
    ? undefined
    : { type, status: kept.status, reason: kept.reason, message: kept.message };
}

/** States in which a server that is shown as running goes down, or is not up yet. What an unknown state means is not guessed. */
const NOT_UP: ReadonlySet<string> = new Set(['starting', 'resuming', 'suspending', 'suspended', 'destroying']);

/** A login that was verified at this server counts until it is tried again, whatever else is done to the cluster. */
function available(subject: ClusterSubject, seen: SpaceSeen): ConditionUpdate {
  const type = 'Available';
  const silent = untold(subject, seen);
  if (silent !== undefined && (seen.endpoint !== undefined || seen.claimedBy !== undefined)) return { type, ...silent };
  const kept = keptFrom(subject, type);
  const isUp = !NOT_UP.has(seen.cluster?.status ?? 'suspended');
  const isAsVerified = seen.endpoint !== undefined && subject.status.credentials?.endpoint === seen.endpoint;
  // No endpoint is known while the object is being deleted. If the cluster cannot go, it works as before.
  const isKept = kept?.status === 'True' && isOurs(subject, seen) && (isAsVerified || subject.deleting);
  if (isUp && isKept) return kept;
  if (isBeingCreated(subject, seen))
    return { type, status: 'False', reason: 'NoServer', message: 'No server runs yet' };
  if (isUp && (seen.endpoint !== undefined || subject.deleting)) {
    if (seen.cluster !== undefined && !isOurs(subject, seen)) return notVerified(triedNowhere(seen));
    return notVerified(`The login was not tried yet${seen.endpoint === undefined ? '' : ` at ${seen.endpoint}`}`);
  }
  const why =
    seen.cluster === undefined
      ? `the cloud shows no cluster "${seen.id}"`
      : `the cloud's status for the cluster is "${seen.cluster.status}"`;
  return { type, status: 'False', reason: 'NoServer', message: `No server runs: ${why}` };
}

/** Whether it was asked for and is not there yet. The words are the same before and after the cloud has begun, as that is no news. */
function isBeingCreated({ status }: ClusterSubject, { cluster, id }: SpaceSeen): boolean {
  return cluster === undefined ? status.operation?.target === id : cluster.status === 'starting';
}

/** Reasons of Synced which imply that the cluster once was as its generation of the spec says. */
const WAS_SYNCED: ReadonlySet<string> = new Set(['Drifted', 'NotObserved']);

/** Whether any difference came from elsewhere. */
export function isDrift(
  { metadata, status }: Pick<ClusterSubject, 'metadata' | 'status'>,
  { isOurChange }: Pick<SpaceSeen, 'isOurChange'>,
): boolean {
  return !isOurChange && wasSynced({ metadata, status });
}

/** Whether the cluster was as this very generation of the spec says. */
function wasSynced({ metadata, status }: Pick<ClusterSubject, 'metadata' | 'status'>): boolean {
  const last = findStatusCondition(status.conditions, 'Synced');
  if (last === undefined || last.observedGeneration !== metadata.generation) return false;
  return last.status === 'True' || WAS_SYNCED.has(last.reason);
}

/** The conditions besides the summary while nobody can look: what was true may no longer be. */
export function unobserved({ metadata, status }: ClusterSubject, reason: string): readonly ConditionUpdate[] {
  return particulars(status.conditions ?? []).map((condition) => {
    if (condition.type !== 'Synced' || condition.status !== 'True') return condition;
    const isOfThisSpec = wasSynced({ metadata, status });
    const message = 'It matched the spec when it was last checked, and cannot be checked now';
    // It held for an earlier spec: any difference then is what the new one asks for, not drift.
    return { type: 'Synced', status: 'Unknown', reason: isOfThisSpec ? 'NotObserved' : reason, message };
  });
}

/**
 * Whether the cluster was being destroyed when it was last seen. Once it is gone, `status.state` is empty and the condition remembers
 * it, so that whoever deletes the object need not hear that its end was not seen.
 */
export function wasDestroyed({ status }: Pick<ClusterSubject, 'status'>): boolean {
  if (status.state !== undefined) return status.state === 'destroying';
  return findStatusCondition(status.conditions, 'Synced')?.reason === 'ClusterDestroyed';
}

/** What `status.drift` shows: where our cluster differs. */
export function driftOf(subject: ClusterSubject, { cluster }: SpaceSeen): ClusterStatusPatch['drift'] {
  const all = cluster === undefined ? [] : differences(subject, cluster);
  return all.length === 0 ? null : [...all];
}

function synced(subject: ClusterSubject, seen: SpaceSeen): ConditionUpdate {
  const type = 'Synced';
  const notYet: ConditionUpdate = {
    type,
    status: 'False',
    reason: 'Deploying',
    message: `Cluster "${seen.id}" in ${placeName(seen.place)} is not created yet`,
  };
  if (seen.cluster === undefined && isBeingCreated(subject, seen)) return notYet;
  if (seen.cluster === undefined) {
    const none = `There is no cluster "${seen.id}" in ${placeName(seen.place)}`;
    if (!wasDestroyed(subject)) return { type, status: 'False', reason: 'ClusterMissing', message: none };
    const message = `${none} any more: it was being destroyed when it was last seen`;
    return { type, status: 'False', reason: 'ClusterDestroyed', message };
  }
  if (!isOurs(subject, seen)) {
    const message = `Cluster "${seen.id}" in ${placeName(seen.place)} is not this object's`;
    return { type, status: 'False', reason: 'ClusterNotOurs', message };
  }
  const differing = differences(subject, seen.cluster);
  if (differing.length > 0) {
    // Also while it is on its way: how it came to differ must not be forgotten.
    const reason = isDrift(subject, seen) ? 'Drifted' : 'Differs';
    return { type, status: 'False', reason, message: `Cluster "${seen.id}": ${inWords(differing)}` };
  }
  if (isBeingCreated(subject, seen)) return notYet;
  const hidden = unreported(subject, seen.cluster).join(' and ');
  const said = [
    'Every field that the cloud reports equals the spec.',
    ...(hidden === ''
      ? []
      : [`It does not report ${hidden}, so a change of that in the spec is not made: make it in the cloud's console.`]),
    'Backup settings cannot be read back: what the cloud accepted last is in status.backup',
  ];
  return { type, status: 'True', reason: 'AsSpecified', message: said.join(' ') };
}

/** Available, as long as nobody has tried the login. */
export function notVerified(message: string, status: 'False' | 'Unknown' = 'False'): ConditionUpdate {
  return { type: 'Available', status, reason: NOT_VERIFIED, message };
}
