import { stalled } from '../../../kube/summary.ts';
import { settling } from '../../claim.ts';
import { placeName } from '../../databasespace/place.ts';
import { clusterConditions, notVerified, type Rule } from '../present.ts';

/** Two objects for one cluster: the one that has it, or otherwise the older, keeps it. The other reports whose it is and does nothing. */
export const decideClaim: Rule = (subject, seen) => {
  if (seen.claimedBy === undefined) return undefined;
  const message =
    `Cluster id "${seen.id}" in ${placeName(seen.place)} belongs to DatabaseCluster "${seen.claimedBy}": ` +
    settling('give this one another clusterID');
  // It may have had the cluster: what was true of its login then is not looked at again.
  const untried = `No login is tried, as the cluster belongs to DatabaseCluster "${seen.claimedBy}"`;
  const available = notVerified(untried, 'Unknown');
  return {
    conditions: [...stalled('ClusterIDClaimed', message), ...clusterConditions(subject, seen, { available })],
    retry: 'slowly',
  };
};
