import { messageOf } from '../../base/errors.ts';
import { instant } from '../../base/instant.ts';
import { ApiError, isHeldBack, isRefused } from '../../http/api-error.ts';
import { type ConditionUpdate, findStatusCondition, toldBefore } from '../../kube/condition.ts';
import { failureOf } from '../../kube/failure.ts';
import { failed, failing, OBSERVING, ready, reconciling, retrying, stalled } from '../../kube/summary.ts';
import { listed } from '../listed.ts';
import type { CloudSeen, NotConnected, SpaceDecision, SpaceObservation, SpaceSubject } from './observation.ts';

/* What is said about the cloud: whether the space can be connected and listed, and whether its API tokens are right. */

/** How many DatabaseClusters a message names. */
export const MAX_LISTED = 10;

/** Clusters that go on with the earlier tokens must not be led to believe that the present ones are there, or right. */
export function notConnected({ why, lacksToken }: NotConnected): SpaceDecision {
  const { reason, message } = why;
  const failure = failureOf(why);
  const valid = lacksToken ? credentials('False', reason, message) : credentials('Unknown', 'NotExchanged', NOT_ASKED);
  const conditions = failed([valid], failure);
  // The watch reports a Secret that appears or changes; without a watch, operator.md says how long it may take.
  // Some tools replace a Secret by deleting it and creating it again.
  return failure.lasting === 'terminal'
    ? { conditions, retry: 'slowly' }
    : { conditions, mayPass: true, retry: 'later' };
}

const NOT_ASKED = 'The API tokens are not tried while the space cannot be connected: see condition Ready';

/** While the space cannot be listed, its own poller keeps trying and reports when that changes. */
export function decideCloud(
  subject: SpaceSubject,
  space: SpaceObservation,
  observation: CloudSeen,
  nowMs: number,
): SpaceDecision {
  const { refused, listError, inventory, versions } = observation;
  if (refused.length > 0) {
    const which = refused.map(({ error }) => messageOf(error)).join('; ');
    const message = `${which}. Correct the client id and the client secret in ${inSecrets(refused.map(({ secretName }) => secretName))}`;
    return {
      conditions: [...stalled('CredentialsInvalid', message), credentials('False', 'CredentialsInvalid', message)],
      // Clusters are still observed, with the tokens that are right.
      ...(inventory === undefined ? {} : { status: found(inventory, versions) }),
      requeueAfterMs: RETRY_REFUSED_MS,
    };
  }
  const valid = validity(subject, observation);
  const toleratedMs = readyOf(subject)?.status === 'True' ? untilTold(observation, nowMs) : 0;
  if (listError !== undefined && toleratedMs <= 0) return { conditions: [...notListed(subject, observation), valid] };
  if (inventory === undefined) {
    return { conditions: [...reconciling(OBSERVING, `Listing the clusters of ${observation.place}`), valid] };
  }
  const place = `${observation.place.slice(0, 1).toUpperCase()}${observation.place.slice(1)}`;
  const leaving = leavingMessage(space);
  const summary = leaving === undefined ? ready('Observed', `${place} is observed`) : ready('SecretDeleting', leaving);
  return {
    conditions: [...summary, valid],
    status: found(inventory, versions),
    ...(toleratedMs > 0 ? { requeueAfterMs: toleratedMs } : {}),
  };
}

/** Everything works until these Secrets are gone, and then nothing does: whoever deleted them should hear of it before. */
function leavingMessage({ leavingSecrets, keptSecrets, neededBy }: SpaceObservation): string | undefined {
  if (leavingSecrets.length === 0) return undefined;
  const one = leavingSecrets.length === 1;
  const [is, it] = one ? ['is', 'it'] : ['are', 'them'];
  const isKept = neededBy.length > 0 && leavingSecrets.some((name) => keptSecrets.includes(name));
  const why = isKept
    ? `deleting these DatabaseClusters may need ${it}: ${listed(neededBy, MAX_LISTED)}`
    : `a finalizer keeps ${it}`;
  const others = one ? 'a Secret of another name, and name that one' : 'Secrets of other names, and name those';
  return `${inSecrets(leavingSecrets)} ${is} being deleted, and ${is} there only because ${why}. To go on using this space, put what is in ${it} into ${others} in the spec`;
}

/**
 * Returns for how long it need not be reported yet that Lists fail or are throttled: until then, what is known of the space is only a
 * little older, and thousands of objects need not hear of it.
 */
function untilTold({ listError, failingSinceMs = 0, inventory }: CloudSeen, nowMs: number): number {
  const afterMs = listError instanceof ApiError ? TOLD_AFTER_MS[listError.kind] : undefined;
  return afterMs !== undefined && inventory !== undefined ? Math.min(afterMs, failingSinceMs + afterMs - nowMs) : 0;
}

/** How many milliseconds all Lists must have failed before it is reported. A single failure is no news. */
const TOLD_AFTER_MS: Readonly<Partial<Record<ApiError['kind'], number>>> = {
  throttled: 120_000,
  unreachable: 10_000,
  lost: 10_000,
  unavailable: 10_000,
};

/** Enough for any cloud. A status that is too large is refused as a whole. */
const MAX_VERSIONS = 200;

function found(
  { total, managed, own, unmanaged }: NonNullable<CloudSeen['inventory']>,
  versions: CloudSeen['versions'],
): NonNullable<SpaceDecision['status']> {
  const availableVersions = versions?.slice(0, MAX_VERSIONS) ?? null;
  return { clusters: { total, managed, own }, unmanagedClusters: unmanaged, availableVersions };
}

/** As long as a refusal counts, a look makes no request (cloud/token.ts). */
const RETRY_REFUSED_MS = 60_000;

function credentials(status: ConditionUpdate['status'], reason: string, message: string): ConditionUpdate {
  return { type: 'CredentialsValid', status, reason, message };
}

/**
 * Exchanged tokens may be refused all the same. While the cloud cannot be reached, what is known of the tokens stands: those of this very
 * spec, as another may name another cloud.
 */
function validity(subject: SpaceSubject, observation: CloudSeen): ConditionUpdate {
  const refusal = refusalOf(subject, observation);
  if (refusal?.reason === 'CredentialsInvalid') return credentials('False', refusal.reason, refusal.message);
  if (observation.exchanged) return credentials('True', 'TokensExchanged', tokensMessage(observation));
  const known = findStatusCondition(subject.status.conditions, 'CredentialsValid');
  if (known?.status === 'True' && known.observedGeneration === subject.metadata.generation) return known;
  return credentials('Unknown', 'NotExchanged', 'The cloud has not said yet whether the API tokens are right');
}

function tokensMessage({ canDestroy }: CloudSeen): string {
  const can = 'Every API token was exchanged';
  return canDestroy ? can : `${can}; there is none of level admin, so no cluster of this space can be destroyed`;
}

function readyOf({ status }: SpaceSubject) {
  return findStatusCondition(status.conditions, 'Ready');
}

function inSecrets(names: readonly string[]): string {
  const unique = [...new Set(names)];
  return `${unique.length === 1 ? 'Secret' : 'Secrets'} ${unique.map((name) => `"${name}"`).join(', ')}`;
}

/** Leaves out what changes with each try: a message that stays the same is not written again. */
function unreachable(error: unknown): readonly [reason: string, remedy: string] {
  const isPaused = error instanceof ApiError && (error.retryAfterMs ?? 0) > 60_000;
  const next = isPaused ? 'Next try after that pause' : 'Next try within a minute';
  // What answers may be the cloud, or something before it.
  const remedy = isRefused(error)
    ? 'check what it refuses, and baseURL, teamID and spaceID'
    : 'check baseURL and caBundle, and network policies and proxies on the way';
  return ['CloudUnreachable', `${next}. If this persists, ${remedy}`];
}
const PARTIAL = [
  'CloudAnswerUnusable',
  "All others are managed as usual, but until this is corrected no cluster is created again or treated as gone: check it in the cloud's console, or ask the cloud's support. Next try within a minute",
] as const;
const WORDS: Readonly<Partial<Record<ApiError['kind'], readonly [reason: string, remedy: string]>>> = {
  throttled: [
    'CloudThrottled',
    'Mooring tries again by itself. If this persists, raise pollInterval, or ask the cloud for a higher limit',
  ],
  badAnswer: [
    'CloudAnswerUnusable',
    "Check that baseURL is the cloud's, and that no proxy answers in its place. Next try within a minute",
  ],
};

/** What is said while the space cannot be listed. */
function notListed(subject: SpaceSubject, seen: CloudSeen): readonly ConditionUpdate[] {
  const refusal = refusalOf(subject, seen);
  const { reason, message } = refusal ?? outageOf(subject, seen);
  const again = (readyOf(subject)?.status ?? 'Unknown') === 'Unknown' ? retrying : failing;
  const say = refusal === undefined ? again : stalled;
  const about = { type: 'Ready', reason, generation: subject.metadata.generation ?? 0 };
  const told = isHeldBack(seen.listError) ? toldBefore(subject.status.conditions, about) : undefined;
  return say(reason, told ?? message);
}

interface Said {
  readonly reason: string;
  readonly message: string;
}

/** Returns what the cloud says that a person must correct; undefined: time may help. */
function refusalOf(subject: SpaceSubject, { listError, place }: CloudSeen): Said | undefined {
  if (!(listError instanceof ApiError)) return undefined;
  const { kind, message } = listError;
  if (kind === 'notFound') {
    const remedy = `The cloud knows no ${place}: check teamID, spaceID and baseURL`;
    return { reason: 'SpaceNotFound', message: `${message}. ${remedy}` };
  }
  if (kind === 'forbidden') {
    const remedy = `Give the space a token of level read for this very ${place}: a token for another space is refused too, and a higher level need not include it`;
    return { reason: 'AccessDenied', message: `${message}. ${remedy}` };
  }
  if (kind === 'unauthorized') {
    const where = inSecrets(subject.spec.apiTokens.map(({ secretRef }) => secretRef.name));
    return { reason: 'CredentialsInvalid', message: `${message}. Check the client ids and client secrets in ${where}` };
  }
  return undefined;
}

function outageOf(subject: SpaceSubject, { listError, failingSinceMs, inventory, isPartial }: CloudSeen): Said {
  const words = isPartial ? PARTIAL : WORDS[listError instanceof ApiError ? listError.kind : 'unreachable'];
  const [reason, remedy] = words ?? unreachable(listError);
  const before = readyOf(subject);
  // A process that found the outage when it started does not know when it began; the message of the earlier process does. The time of
  // the condition's last transition may be that of another reason.
  const isFoundAtStart = inventory === undefined && before?.reason === reason;
  const known = isFoundAtStart ? SINCE.exec(before.message)?.[1] : undefined;
  const since = known ?? (failingSinceMs === undefined ? undefined : instant(failingSinceMs));
  return { reason, message: `${messageOf(listError)}${since === undefined ? '' : `, since ${since}`}. ${remedy}` };
}

/** Finds the time in the message that `outageOf` makes. */
const SINCE = /.*, since (\S+Z)\. /;
