import { quoted } from '../../base/printable.ts';
import type { Cluster } from '../../cloud/schema.ts';
import { splitAddress } from '../../http/address.ts';
import type { SpaceConnection } from '../databasespace/connection/connection.ts';
import { currentID, isSame } from './identity.ts';
import type { ClusterSubject } from './observation.ts';
import { sourceRecordOf } from './record.ts';
import type { ClusterWorld } from './world.ts';

/**
 * Which of a cluster's servers to work with; undefined: none runs. It is the previous one while that runs, as with another
 * one each login is verified again, and each connection Secret written. But if the previous one takes no changes and names
 * the primary, it is the primary. From then on the status records it. An address that is the source's, for a clone, is none.
 * Throws TerminalError if servers run, but no login may be sent to any of them.
 */
export function endpointOf(
  world: Pick<ClusterWorld, 'cluster'>,
  connection: SpaceConnection,
  subject: ClusterSubject,
  cluster: Cluster,
): string | undefined {
  const isSources = ofSource(world, connection, subject, cluster);
  const running = runningAt(cluster).filter((each) => isAddress(each) && isSources(each) === undefined);
  const before = isSame(subject, cluster) ? subject.status.endpoint : undefined;
  const primary = before === undefined ? undefined : connection.primaryNamedBy(before, currentID(subject));
  const allowed = running.filter((each) => connection.findServerURL(each) !== undefined);
  const address =
    allowed.find((each) => each === primary) ??
    allowed.find((each) => before !== undefined && connection.serverURL(each) === before) ??
    allowed[0] ??
    running[0];
  return address === undefined ? undefined : connection.serverURL(address);
}

/** Set if the cloud shows a clone only at addresses of its source: one of them, and the source's id. */
export function sourcesAddress(
  world: Pick<ClusterWorld, 'cluster'>,
  connection: SpaceConnection,
  subject: ClusterSubject,
  cluster: Cluster,
): { readonly address: string; readonly id: string } | undefined {
  const isSources = ofSource(world, connection, subject, cluster);
  const running = runningAt(cluster).map((address) => ({ address, id: isSources(address) }));
  const [first] = running;
  if (first?.id === undefined || running.some(({ id }) => id === undefined)) return undefined;
  return { address: first.address, id: first.id };
}

/**
 * Returns what tells the id of a clone's source if an address is that one's. The source's login works there, so a password would be
 * set for the clone that locks the source out. An address at which the clone's own login was verified is its own, whoever else is
 * shown there.
 */
function ofSource(
  world: Pick<ClusterWorld, 'cluster'>,
  connection: SpaceConnection,
  subject: ClusterSubject,
  cluster: Cluster,
): (address: string) => string | undefined {
  const id = sourceRecordOf(world, subject)?.status.clusterID ?? subject.spec.cloneFrom?.clusterID;
  const source = id === undefined || id === cluster.id ? undefined : connection.poller.get(id);
  if (source === undefined) return () => undefined;
  const verifiedAt = isSame(subject, cluster) ? subject.status.credentials?.endpoint : undefined;
  const theirs = new Set(source.servers.map(({ address }) => address));
  const isOwn = (address: string) => verifiedAt !== undefined && connection.findServerURL(address) === verifiedAt;
  return (address) => (theirs.has(address) && !isOwn(address) ? id : undefined);
}

/** An address of a running server that is not usable, if no running server has a usable one; undefined otherwise. */
export function unusableAddress(cluster: Cluster): string | undefined {
  const running = runningAt(cluster);
  return running.some(isAddress) ? undefined : running[0];
}

const MOST_WORDS = 3;

/** Words of the cloud about servers that do not run, as one may mean that they do, and Mooring does not know it. */
export function restingServers({ servers }: Cluster): string {
  const words = new Set(servers.flatMap(({ status }) => (status === 'running' ? [] : [quoted(status)])));
  return words.size === 0 ? '' : ` (the cloud says ${[...words].slice(0, MOST_WORDS).join(', ')})`;
}

function runningAt({ servers }: Cluster): readonly string[] {
  return servers.flatMap(({ address, status }) => (status === 'running' ? [address] : []));
}

function isAddress(text: string): boolean {
  return splitAddress(text) !== undefined;
}
