import { messageOf } from '../../base/errors.ts';
import { instant } from '../../base/instant.ts';
import { ApiError, isHeldBack } from '../../http/api-error.ts';
import { type ConditionUpdate, findStatusCondition, toldBefore } from '../../kube/condition.ts';
import { failureOf } from '../../kube/failure.ts';
import { failed, failing, OBSERVING, particulars, ready, reconciling, retrying, stalled } from '../../kube/summary.ts';
import type { Decision } from '../../runtime/kind.ts';
import { listed } from '../listed.ts';
import type { CloudSeen, NotConnected, SpaceObservation, SpaceSubject } from './observe.ts';
import type { DatabaseSpaceStatus } from './schema.ts';

export type SpaceDecision = Decision<DatabaseSpaceStatus, SpaceStep>;

/** Keeps a Secret from being deleted while deleting a cluster needs it, or stops keeping it. */
export interface SpaceStep {
  readonly do: 'KeepSecret' | 'FreeSecret';
  readonly name: string;
}

/**
 * Whatever deleting a cluster will need stays, that is the space and its Secrets, even if a whole namespace is deleted in any order.
 * If all are deleted together, the space also stays for what is on servers of clusters that stay. What nothing needs any more goes at
 * once.
 */
export function decideSpace(subject: SpaceSubject, observation: SpaceObservation, nowMs: number): SpaceDecision {
  const { neededBy, hasDependents, goesAfter, keptSecrets, staleSecrets, freeSecrets, cloud } = observation;
  const needed = neededBy.length > 0;
  const free = (names: readonly string[]) => names.map((name): SpaceStep => ({ do: 'FreeSecret', name }));
  const freeAll = free([...keptSecrets, ...staleSecrets]);
  if (cloud === undefined) return { conditions: 'keep', steps: freeAll, release: true };
  // A Secret is named in the status before it is kept, so that every kept Secret can be found again, even if the rest is forgotten.
  const toKeep = needed ? freeSecrets : [];
  const announced = new Set(subject.status.keptSecrets);
  const keep = toKeep.filter((name) => announced.has(name)).map((name): SpaceStep => ({ do: 'KeepSecret', name }));
  const steps = needed ? [...keep, ...free(staleSecrets)] : freeAll;
  const names = [...keptSecrets, ...staleSecrets, ...toKeep].toSorted();
  const { retry, ...decided } = 'why' in cloud ? notConnected(cloud) : decideCloud(subject, observation, cloud, nowMs);
  const isToldFirst = keep.length < toKeep.length;
  const decision = {
    ...decided,
    ...(retry === undefined || isToldFirst ? {} : { retry }),
    status: { ...decided.status, keptSecrets: names.length === 0 ? null : names },
    hold: needed || hasDependents,
    steps,
    ...(isToldFirst ? { requeueAfterMs: 0 } : {}),
  };
  if (!subject.deleting) return decision;
  const told = decided.conditions === 'keep' ? [] : decided.conditions;
  if (!needed && goesAfter !== undefined)
    return {
      conditions: [...reconciling('WaitingForDependents', goesAfter.message), ...particulars(told)],
      status: decision.status,
      requeueAfterMs: goesAfter.forMs,
    };
  const message = `This space, which is being deleted, stays until these DatabaseClusters are gone, as deleting them needs it: ${listed(neededBy, MAX_LISTED)}`;
  return {
    ...decision,
    conditions: inUse(told, message),
    steps: [],
  };
}

/** What a person must fix keeps the clusters from being deleted, and so comes first. */
function inUse(decided: readonly ConditionUpdate[], message: string): readonly ConditionUpdate[] {
  const rest = particulars(decided);
  const mustAct = decided.some(({ type, reason }) => type === 'Stalled' || reason === 'SecretNotFound');
  if (!mustAct) return [...reconciling('InUse', message), ...rest];
  return decided.map((condition) =>
    rest.includes(condition) ? condition : { ...condition, message: `${condition.message}. ${message}` },
  );
}

const MAX_LISTED = 10;

/** Clusters that go on with the earlier tokens must not be led to believe that the present ones are there, or right. */
function notConnected({ why, lacksToken }: NotConnected): SpaceDecision {
  const { reason, message } = why;
  const failure = failureOf(why);
  const valid = lacksToken ? credentials('False', reason, message) : credentials('Unknown', 'NotExchanged', NOT_ASKED);
  const conditions = failed([valid], failure);
  // The watch reports a Secret that appears or changes; without a watch, operator.md says how long it may take.
  return { conditions, retry: failure.lasting === 'terminal' ? 'slowly' : 'later' };
}

const NOT_ASKED = 'The API tokens are not tried while the space cannot be connected: see condition Ready';

/** While the space cannot be listed, its own poller keeps trying and reports when that changes. */
function decideCloud(
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
  const known = readyOf(subject)?.status ?? 'Unknown';
  const toleratedMs = known === 'True' ? untilTold(observation, nowMs) : 0;
  if (listError !== undefined && toleratedMs <= 0) {
    const [summary, reason] = meaningOf(listError, subject, observation);
    const say = summary === 'stalled' ? stalled : known === 'Unknown' ? retrying : failing;
    const about = { type: 'Ready', reason: reason.word, generation: subject.metadata.generation ?? 0 };
    const told = isHeldBack(listError) ? toldBefore(subject.status.conditions, about) : undefined;
    return { conditions: [...say(reason.word, told ?? reason.message), valid] };
  }
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
  { total, managed, unmanaged }: NonNullable<CloudSeen['inventory']>,
  versions: CloudSeen['versions'],
): NonNullable<SpaceDecision['status']> {
  const availableVersions = versions?.slice(0, MAX_VERSIONS) ?? null;
  return { clusters: { total, managed }, unmanagedClusters: unmanaged, availableVersions };
}

/** As long as a refusal counts, a look makes no request (cloud/token.ts). */
const RETRY_REFUSED_MS = 60_000;

function credentials(status: ConditionUpdate['status'], reason: string, message: string): ConditionUpdate {
  return { type: 'CredentialsValid', status, reason, message };
}

/** While the cloud cannot be reached, what is known of the tokens stands. */
function validity(subject: SpaceSubject, observation: CloudSeen): ConditionUpdate {
  if (observation.exchanged) return credentials('True', 'TokensExchanged', tokensMessage(observation));
  const known = findStatusCondition(subject.status.conditions, 'CredentialsValid');
  if (known?.status === 'True') return known;
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
const UNREACHABLE = ['CloudUnreachable', 'Next try within a minute'] as const;
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

function meaningOf(
  error: unknown,
  subject: SpaceSubject,
  { place, failingSinceMs, inventory, isPartial }: CloudSeen,
): ['stalled' | 'again', { readonly word: string; readonly message: string }] {
  const message = messageOf(error);
  if (error instanceof ApiError) {
    if (error.kind === 'notFound') {
      const remedy = `The cloud knows no ${place}: check teamID, spaceID and baseURL`;
      return ['stalled', { word: 'SpaceNotFound', message: `${message}. ${remedy}` }];
    }
    if (error.kind === 'forbidden') {
      return [
        'stalled',
        {
          word: 'AccessDenied',
          message: `${message}. Give the space a token of level read: a higher level need not include it`,
        },
      ];
    }
    if (error.kind === 'unauthorized') {
      const where = inSecrets(subject.spec.apiTokens.map(({ secretRef }) => secretRef.name));
      return [
        'stalled',
        { word: 'CredentialsInvalid', message: `${message}. Check the client ids and client secrets in ${where}` },
      ];
    }
  }
  const words = isPartial ? PARTIAL : WORDS[error instanceof ApiError ? error.kind : 'unreachable'];
  const [word, remedy] = words ?? UNREACHABLE;
  const before = readyOf(subject);
  // A process that found the outage when it started does not know when it began; the message of the earlier process does.
  const known = inventory === undefined && before?.reason === word ? SINCE.exec(before.message)?.[1] : undefined;
  const since = known ?? secondsOf(failingSinceMs);
  return ['again', { word, message: `${message}${since === undefined ? '' : `, since ${since}`}. ${remedy}` }];
}

/** What `meaningOf` says. The time of the condition's last transition may be that of another reason. */
const SINCE = /.*, since (\S+Z)\. /;

function secondsOf(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : instant(atMs);
}
