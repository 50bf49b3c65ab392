import { ApiError } from '../../base/api-error.ts';
import { messageOf } from '../../base/errors.ts';
import type { ConditionUpdate } from '../../kube/condition.ts';
import { failing, ready, reconciling, stalled } from '../../kube/summary.ts';
import type { Decision } from '../../runtime/kind.ts';
import type { SpaceObservation, SpaceSubject } from './observe.ts';
import type { DatabaseSpaceStatus } from './schema.ts';

export type SpaceDecision = Decision<DatabaseSpaceStatus, never>;

/** While the space cannot be listed, its own poller goes on trying and tells when that changes. */
export function decideSpace(subject: SpaceSubject, observation: SpaceObservation): SpaceDecision {
  const { refused, listError, inventory, versions } = observation;
  if (refused !== undefined) {
    const message = `${refused.message}. Check clientID and clientSecret in the Secrets that apiTokens names`;
    return {
      conditions: [...stalled('CredentialsInvalid', message), credentials('False', 'CredentialsInvalid', message)],
      requeueAfterMs: RETRY_REFUSED_MS,
    };
  }
  const valid = credentials('True', 'TokensExchanged', tokensMessage(observation));
  if (listError !== undefined) {
    const [summary, reason] = meaningOf(listError, observation);
    const wasReady = subject.status.conditions?.find((condition) => condition.type === 'Ready')?.status !== 'Unknown';
    const say = summary === 'stalled' ? stalled : wasReady ? failing : reconciling;
    return { conditions: [...say(reason.word, reason.message), valid] };
  }
  if (inventory === undefined) {
    return { conditions: [...reconciling('Observing', `Listing the clusters of ${observation.place}`), valid] };
  }
  const { total, managed, unmanaged } = inventory;
  return {
    conditions: [
      ...ready('Observed', `${observation.place[0]?.toUpperCase()}${observation.place.slice(1)} is observed`),
      valid,
    ],
    status: { clusters: { total, managed }, unmanagedClusters: unmanaged, availableVersions: versions ?? null },
  };
}

const RETRY_REFUSED_MS = 300_000;

function credentials(status: ConditionUpdate['status'], reason: string, message: string): ConditionUpdate {
  return { type: 'CredentialsValid', status, reason, message };
}

function tokensMessage({ canDestroy }: SpaceObservation): string {
  const can = 'Every API token was exchanged';
  return canDestroy ? can : `${can}; there is none of level admin, so no cluster of this space can be destroyed`;
}

function meaningOf(
  error: unknown,
  { place }: SpaceObservation,
): ['stalled' | 'again', { readonly word: string; readonly message: string }] {
  const message = messageOf(error);
  if (error instanceof ApiError) {
    if (error.kind === 'notFound') {
      const remedy = `The cloud knows no ${place}: Check teamID, spaceID and baseURL`;
      return ['stalled', { word: 'SpaceNotFound', message: `${message}. ${remedy}` }];
    }
    if (error.kind === 'forbidden') {
      return ['stalled', { word: 'AccessDenied', message: `${message}. Give the space a token of a sufficient level` }];
    }
    if (error.kind === 'unauthorized') {
      return ['stalled', { word: 'CredentialsInvalid', message: `${message}. Check the Secrets that apiTokens names` }];
    }
  }
  return ['again', { word: 'CloudUnreachable', message: `${message}. It is tried again with growing pauses` }];
}
