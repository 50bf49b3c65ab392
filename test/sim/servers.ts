import type { Cluster, ServerNode } from '../../src/simulator/cloud/state.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';

/* What becomes of the servers of a cluster that has several. */

const primaryOf = ({ servers }: Cluster) => servers.find(({ isPrimary }) => isPrimary) ?? servers[0];

/** The next one that runs takes changes from now on, and Lists name the last one first. */
export function electAnother(simulator: Simulator, cluster: Cluster, leaving?: string): void {
  const { servers } = cluster;
  const at = servers.findIndex(({ address }) => address === primaryOf(cluster)?.address);
  const next = [...servers.slice(at + 1), ...servers.slice(0, at)].find(({ status }) => status === 'running');
  if (next === undefined) return;
  const status = (server: ServerNode) => (server.address === leaving ? 'pending' : server.status);
  const arranged = servers.map((server) => ({
    address: server.address,
    status: status(server),
    isPrimary: server === next,
  }));
  simulator.arrangeServers(cluster.id, arranged.reverse());
}

/** The server that takes changes goes down, and another one does. Returns what brings it up again. */
export function loseOne(simulator: Simulator, cluster: Cluster): () => void {
  const address = primaryOf(cluster)?.address;
  electAnother(simulator, cluster, address);
  return () => {
    if (cluster.gone || cluster.status !== 'running') return;
    const arranged = cluster.servers.map((server) => ({
      address: server.address,
      isPrimary: server.isPrimary === true,
      status: server.address === address ? ('running' as const) : server.status,
    }));
    simulator.arrangeServers(cluster.id, arranged);
  };
}

/** Each server that is down is no more, and another one is in its place. */
export function replaceLost(simulator: Simulator, cluster: Cluster): void {
  const primary = primaryOf(cluster);
  const arranged = cluster.servers.map((server) =>
    server.status === 'running' ? { address: server.address, isPrimary: server === primary } : {},
  );
  simulator.arrangeServers(cluster.id, arranged);
}

/** Lists name the servers in another order, and nothing else is another. */
export function reorder(simulator: Simulator, cluster: Cluster): void {
  const primary = primaryOf(cluster);
  const [first, ...rest] = cluster.servers.map((server) => ({
    address: server.address,
    isPrimary: server === primary,
    status: server.status,
  }));
  if (first !== undefined) simulator.arrangeServers(cluster.id, [...rest, first]);
}
