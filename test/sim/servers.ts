import type { Cluster } from '../../src/simulator/cloud/state.ts';
import type { Simulator } from '../../src/simulator/interface.ts';

/* What happens to the servers of a cluster with several. */

const primaryOf = ({ servers }: Cluster) => servers.find(({ isPrimary }) => isPrimary) ?? servers[0];

/** Makes the next running server take changes, and Lists name the servers in reverse order. */
export function electAnother(simulator: Simulator, cluster: Cluster, leaving?: string): void {
  const { servers } = cluster;
  const at = servers.findIndex(({ address }) => address === primaryOf(cluster)?.address);
  const next = [...servers.slice(at + 1), ...servers.slice(0, at)].find(({ status }) => status === 'running');
  if (next === undefined) return;
  const arranged = servers.map((server) => ({
    address: server.address,
    isPrimary: server === next,
    ...(server.address === leaving ? { status: 'pending' as const } : {}),
  }));
  simulator.arrangeServers(cluster.id, arranged.reverse());
}

/** Takes down the server that takes changes, and elects another. Returns a function that brings it up again. */
export function loseOne(simulator: Simulator, cluster: Cluster): () => void {
  const address = primaryOf(cluster)?.address;
  electAnother(simulator, cluster, address);
  return () => {
    if (cluster.gone || cluster.status !== 'running') return;
    const arranged = cluster.servers.map((server) => ({
      address: server.address,
      isPrimary: server.isPrimary === true,
      ...(server.address === address ? { status: 'running' as const } : {}),
    }));
    simulator.arrangeServers(cluster.id, arranged);
  };
}

/** Replaces each server that is down by a new one. */
export function replaceLost(simulator: Simulator, cluster: Cluster): void {
  const primary = primaryOf(cluster);
  const arranged = cluster.servers.map((server) =>
    server.status === 'running' ? { address: server.address, isPrimary: server === primary } : {},
  );
  simulator.arrangeServers(cluster.id, arranged);
}

/** Makes Lists name the servers in another order, and changes nothing else. */
export function reorder(simulator: Simulator, cluster: Cluster): void {
  const primary = primaryOf(cluster);
  const [first, ...rest] = cluster.servers.map((server) => ({
    address: server.address,
    isPrimary: server === primary,
  }));
  if (first !== undefined) simulator.arrangeServers(cluster.id, [...rest, first]);
}
