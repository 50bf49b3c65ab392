import { refusalOfURL, type UrlPolicy } from '../kinds/databasespace/url-policy.ts';
import { findStatusCondition } from '../kube/condition.ts';
import { clustersOf, type PlannedObject, spacesOf } from './objects.ts';

/** What the operator is told by flags of its own, as far as a plan is told. */
export type ToldPolicy = Pick<UrlPolicy, 'allowHTTP' | 'allowedBaseURLs'>;

/** As of an operator that is told nothing. */
export const NOTHING_TOLD: ToldPolicy = { allowHTTP: false, allowedBaseURLs: undefined };

/**
 * What the operator allows: that it reaches something by http says that it was told to. Which networks it may reach, and what a name means
 * there, a plan does not know.
 */
export function policyOf(told: ToldPolicy, objects: readonly PlannedObject[]): UrlPolicy {
  return { ...told, allowHTTP: told.allowHTTP || reachesByHTTP(objects), allowedNetworks: undefined };
}

/** Whether an operator without --allow-http refuses the URL for being http. */
export function isClear(url: string): boolean {
  const refused = refusalOfURL(url, { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined });
  return refused !== undefined && URL.parse(url)?.protocol === 'http:';
}

/** Whether it is on loopback, where http is allowed. */
export function isOnLoopback(url: string): boolean {
  return URL.parse(url)?.protocol === 'http:' && !isClear(url);
}

function reachesByHTTP(objects: readonly PlannedObject[]): boolean {
  const isListed = spacesOf(objects).some(({ metadata, object, spec, status }) => {
    const isSeen = object.live !== undefined && status.observedGeneration === metadata.generation;
    const isRefused = findStatusCondition(status.conditions, 'Ready')?.reason === 'BaseURLNotAllowed';
    return isClear(spec.baseURL) && isSeen && !isRefused && status.clusters !== undefined;
  });
  return isListed || clustersOf(objects).some(({ status }) => isClear(status.endpoint ?? ''));
}
