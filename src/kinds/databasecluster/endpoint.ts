import { splitAddress } from '../../base/address.ts';
import type { Cluster } from '../../cloud/schema.ts';
import type { SpaceConnection } from '../databasespace/connection.ts';
import { type ClusterSubject, currentID, isSame } from './observation.ts';

/**
 * Of the several servers that a cluster may have, the one to work with; undefined: none runs. The one of before, while it
 * runs: with another one each login is verified anew, and each connection Secret written. But if that one says who the
 * primary is, as it takes no changes itself, that one. From then on the status tells.
 */
export function endpointOf(connection: SpaceConnection, subject: ClusterSubject, cluster: Cluster): string | undefined {
  const running = runningAt(cluster).filter(isAddress);
  const before = isSame(subject, cluster) ? subject.status.endpoint : undefined;
  const primary = before === undefined ? undefined : connection.primaryNamedBy(before, currentID(subject));
  const address =
    running.find((each) => each === primary) ??
    running.find((each) => before !== undefined && connection.serverURL(each) === before) ??
    running[0];
  return address === undefined ? undefined : connection.serverURL(address);
}

/** What the cloud names as the address of a server that runs and is none, where it names no other; undefined: that is not so. */
export function unusableAddress(cluster: Cluster): string | undefined {
  const running = runningAt(cluster);
  return running.some(isAddress) ? undefined : running[0];
}

function runningAt({ servers }: Cluster): readonly string[] {
  return servers.flatMap(({ address, status }) => (status === 'running' ? [address] : []));
}

function isAddress(text: string): boolean {
  return splitAddress(text) !== undefined;
}
