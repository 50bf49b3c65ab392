import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import { passwordIs } from '../../src/simulator/server/state.ts';
import { contentsOf, statusOf } from './view.ts';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
const OWNER = 'mooring.dev/cluster';
export const FACTORY = { username: 'admin', password: 'password' };

/** Reports whether the operator wrote this Secret. */
export function isOurs({ metadata }: FakeObject): boolean {
  return metadata.labels?.[MANAGED_BY] === 'mooring';
}

/** Returns the cluster that the Secret's login is for: that of its DatabaseCluster, or the one at its addresses. */
export function clusterOf(
  secret: FakeObject,
  objects: readonly FakeObject[],
  clusters: readonly Cluster[],
): Cluster | undefined {
  const { addresses } = contentsOf(secret);
  if (addresses !== undefined) {
    const named = addresses.split(',');
    return clusters.find(({ gone, servers }) => !gone && servers.some(({ address }) => named.includes(address)));
  }
  const { namespace, labels } = secret.metadata;
  const owner = objects.find(({ metadata }) => metadata.name === labels?.[OWNER] && metadata.namespace === namespace);
  return clusters.find((cluster) => owner !== undefined && isIdentity(statusOf(owner).createdAt, cluster));
}

/** Reports whether a status with this createdAt means this very cluster. */
export function isIdentity(createdAt: string | undefined, cluster: Cluster): boolean {
  return createdAt !== undefined && Date.parse(createdAt) === cluster.createdAt;
}

/** Reports whether one of the Secret's passwords signs in. */
export function signsIn(secret: FakeObject, { database }: Cluster): boolean {
  const { username = '', password, nextPassword } = contentsOf(secret);
  return [password, nextPassword].some((each) => each !== undefined && passwordIs(database, username, each));
}
