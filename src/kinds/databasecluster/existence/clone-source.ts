import type { Cluster } from '../../../cloud/schema.ts';
import { objectKey } from '../../../kube/object.ts';
import { isSamePlace, placeName } from '../../databasespace/place.ts';
import { listed } from '../../listed.ts';
import { createIt } from '../../missing.ts';
import { admitIt, admits } from '../../namespaces.ts';
import { asFound, differences } from '../changes/differences.ts';
import { adminSecretName, createdAtOf, currentID, desiredID, isSame, mayExist, spaceKeyOf } from '../identity.ts';
import { isWaitedFor } from '../login/clones.ts';
import type { ClusterSubject, SpaceSeen } from '../observation.ts';
import { type ClusterRecord, clusterRecordOf } from '../record.ts';
import { CLONE_OF_ITSELF } from '../rules.ts';
import type { Work } from '../work.ts';
import type { ClusterWorld } from '../world.ts';
import { claimantsOf } from './claimants.ts';
import { circleOf } from './clone-circle.ts';
import { loginChangeAhead } from './source-login.ts';

type CloneSource = SpaceSeen['cloneSource'];

/** The cluster to clone, which must run or be suspended, and be in this place, as a clone is made where its source is. */
export async function cloneSourceOf(work: Work): Promise<CloneSource> {
  const { world, subject, connection } = work;
  const { cloneFrom } = subject.spec;
  if (cloneFrom === undefined) return undefined;
  const { clusterRef, clusterID = '' } = cloneFrom;
  const isItself =
    clusterRef === undefined ? clusterID === desiredID(subject) : clusterRef.name === subject.metadata.name;
  if (isItself) return { is: 'unusable', reason: 'InvalidSpec', message: `spec.${CLONE_OF_ITSELF}` };
  const circle = circleOf(world, subject, connection);
  if (circle !== undefined) return { is: 'unusable', reason: 'InvalidSpec', message: circleWords(circle) };
  return clusterRef === undefined ? sourceByID(work, clusterID) : sourceByName(work, clusterRef.name);
}

function circleWords(names: readonly string[]): string {
  const links = names.map((name, index) => `"${name}" from "${names[(index + 1) % names.length]}"`);
  return `spec.cloneFrom is part of a circle, so nothing can be cloned: DatabaseCluster ${listed(links, MOST_LINKS)}. Delete one of these objects, and apply it again with another source or without cloneFrom`;
}

/** A name has up to 63 characters, and the message must have room for what to do. */
const MOST_LINKS = 5;

/** Any cluster of the space, unless a DatabaseCluster has it and does not admit this namespace. */
async function sourceByID(work: Work, id: string): Promise<CloneSource> {
  const { world, subject } = work;
  const { poller, place } = work.connection;
  const cluster = poller.get(id);
  const called = `cluster "${id}" in ${placeName(place)}, which is to be cloned`;
  if (cluster === undefined)
    return { is: 'waiting', message: `Waiting for ${called}: create it there, or check cloneFrom.clusterID` };
  if (!isReady(cluster)) return { is: 'waiting', message: `Waiting for ${called}, to run or to be suspended` };
  const keeper = await findKeeper(work, cluster);
  if (keeper !== undefined) {
    const remedy = admitIt(keeper.spec.allowedNamespaces, "that one's");
    const message = `Cluster "${id}" in ${placeName(place)}, which is to be cloned, is that of a DatabaseCluster that does not admit namespace "${subject.metadata.namespace}": delete this object, or ${remedy}`;
    return { is: 'unusable', reason: 'ClusterNotAllowed', message };
  }
  const own = ownerWithLogin(work, cluster);
  const message = own && untilLoginStays(world, subject, own, cluster);
  if (message !== undefined) return { is: 'waiting', message };
  return sourceIn(subject, cluster);
}

/** The cluster of a DatabaseCluster in the same namespace. */
function sourceByName({ world, subject, connection }: Work, name: string): CloneSource {
  const { poller, place } = connection;
  const { namespace = '' } = subject.metadata;
  const object = world.cluster(objectKey(namespace, name));
  if (object === undefined) {
    const missing = { field: 'cloneFrom.clusterRef', name, namespace, own: namespace };
    const others = () => Iterator.from(world.clusterKeys()).filter((key) => key !== subject.key);
    const remedy = createIt(world.watches, missing, others);
    return { is: 'waiting', message: `Waiting for DatabaseCluster "${name}", which is to be cloned: ${remedy}` };
  }
  const source = clusterRecordOf(object);
  // Undefined if there is no such space now: one may yet appear, and this says nothing about where the source is.
  const theirs = source && world.places.get(spaceKeyOf(source));
  if (theirs !== undefined && !isSamePlace(theirs, place)) {
    const message = `DatabaseCluster "${name}", which is to be cloned, is not in ${placeName(place)}: delete this object, and create it in the space of that one`;
    return { is: 'unusable', reason: 'CloneSourceElsewhere', message };
  }
  const cluster = theirs && poller.get(source?.status.clusterID ?? '');
  const isTheirs = source?.status.createdAt !== undefined && cluster !== undefined && isSame(source, cluster);
  if (isTheirs && isReady(cluster)) {
    const wait = untilLoginStays(world, subject, source, cluster);
    if (wait !== undefined) return { is: 'waiting', message: wait };
    return sourceIn(subject, cluster);
  }
  const message = `Waiting for DatabaseCluster "${name}", which is to be cloned, to run or to be suspended`;
  return { is: 'waiting', message };
}

/** What a clone has from its source, as no request for one can say anything else. None of it changes later. */
const COPIED: ReadonlySet<string> = new Set(['provider', 'region', 'serverCount']);

/** The source, unless its clone could never be as the spec says: it would cost money, and the spec cannot follow. */
function sourceIn(subject: ClusterSubject, cluster: Cluster): CloneSource {
  const { id } = cluster;
  const others = differences(subject, cluster).filter(({ field }) => COPIED.has(field));
  if (others.length === 0) return { is: 'known', id, createdAt: createdAtOf(cluster) };
  const message = `Cluster "${id}", which is to be cloned, has properties other than those in the spec, and so would its clone, for good: ${asFound(others)}. Nothing was created yet: delete this object, and create it again with what the source has`;
  return { is: 'unusable', reason: 'InvalidSpec', message };
}

/** What keeps the login of a source from being changed may last, and the source can be cloned all the same. */
const LOGIN_WAIT_MS = 600_000;

/** What a clone waits for if the login of its source is about to change; undefined: for nothing, or no longer. */
function untilLoginStays(
  world: ClusterWorld,
  subject: ClusterSubject,
  source: ClusterRecord,
  { status }: Cluster,
): string | undefined {
  const { clock, memory } = world;
  const { sourceLogins } = memory;
  const ahead = status === 'running' ? loginChangeAhead(source, clock.now(), isWaitedFor(world, subject)) : undefined;
  if (ahead === undefined) {
    sourceLogins.forget(subject.key);
    return undefined;
  }
  if (sourceLogins.begin(subject, clock.monotonic()) >= LOGIN_WAIT_MS) return undefined;
  return `Waiting for DatabaseCluster "${source.metadata.name}", which is to be cloned, to ${ahead}: a clone made meanwhile may have a password that nobody knows. Mooring waits ten minutes at most. If it takes long, look at that DatabaseCluster`;
}

/**
 * The DatabaseCluster in the same namespace whose cluster is to be cloned by its id, if the clone is to be signed in to with what is in its
 * Secret. Any other login that the clone is given is one that the source had before, if it has one of ours soon.
 */
function ownerWithLogin({ world, subject, connection }: Work, cluster: Cluster): ClusterRecord | undefined {
  const { metadata, spec } = subject;
  const secretName = spec.adminCredentials?.existingSecretRef?.name;
  return claimantsOf(world, subject, cluster.id, connection.place).find(
    (record) =>
      record.metadata.namespace === metadata.namespace &&
      adminSecretName(record) === secretName &&
      record.status.createdAt !== undefined &&
      isSame(record, cluster) &&
      currentID(record) === cluster.id,
  );
}

function isReady({ status }: Cluster): boolean {
  return status === 'running' || status === 'suspended';
}

/**
 * Returns the DatabaseCluster of the cluster that does not admit the subject's namespace. A clone has all the data, so only namespaces
 * that are admitted may make one.
 */
async function findKeeper(work: Work, cluster: Cluster): Promise<ClusterRecord | undefined> {
  const { world, subject, connection, signal } = work;
  const { namespace: own = '' } = subject.metadata;
  for (const record of claimantsOf(world, subject, cluster.id, connection.place)) {
    const { metadata, spec, status } = record;
    const isTheirs = status.createdAt === undefined ? mayExist(record) : isSame(record, cluster);
    if (metadata.namespace === own || currentID(record) !== cluster.id || !isTheirs) continue;
    if (!(await admits(spec.allowedNamespaces, () => world.namespaceLabels(own, signal)))) return record;
  }
  return undefined;
}
