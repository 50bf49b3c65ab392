import { stalled } from '../../../kube/summary.ts';
import { settling } from '../../claim.ts';
import { placeName } from '../../databasespace/place.ts';
import { clusterConditions, type Rule } from '../present.ts';

/** Two objects for one cluster: the one that has it, or otherwise the older, keeps it. The other reports whose it is and does nothing. */
export const decideClaim: Rule = (subject, seen) => {
  if (seen.claimedBy === undefined) return undefined;
  const message =
    `Cluster id "${seen.id}" in ${placeName(seen.place)} belongs to DatabaseCluster "${seen.claimedBy}": ` +
    settling('give this one another clusterID');
  return {
    conditions: [...stalled('ClusterIDClaimed', message), ...clusterConditions(subject, seen)],
    retry: 'slowly',
  };
};
