import { refusalOfURL, type UrlPolicy } from '../kinds/databasespace/connection/url-policy.ts';
import { findStatusCondition } from '../kube/condition.ts';
import { clustersOf, type PlannedObject, spacesOf } from './objects.ts';

/** The operator's flags that a plan is given too. */
export type ToldPolicy = Pick<UrlPolicy, 'allowHTTP' | 'allowedBaseURLs'>;

/** For an operator without these flags. */
export const NOTHING_TOLD: ToldPolicy = { allowHTTP: false, allowedBaseURLs: undefined };

/**
 * What the operator allows. If it reaches something by http, it must have been told to. A plan does not know which networks it may
 * reach, nor how names resolve there.
 */
export function policyOf(told: ToldPolicy, objects: readonly PlannedObject[]): UrlPolicy {
  return { ...told, allowHTTP: told.allowHTTP || reachesByHTTP(objects), allowedNetworks: undefined };
}

/** Reports whether an operator without --allow-http refuses the URL for being http. */
export function isClear(url: string): boolean {
  const refused = refusalOfURL(url, { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined });
  return refused !== undefined && URL.parse(url)?.protocol === 'http:';
}

/** Reports whether the URL is http on loopback, which is allowed. */
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
