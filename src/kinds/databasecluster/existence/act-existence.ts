import { TerminalError, TransientError } from '../../../base/errors.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import { ApiError, isRefused } from '../../../http/api-error.ts';
import { LET_GO } from '../../../kube/annotations.ts';
import { isLately } from '../../absences.ts';
import { confirm, confirmFor, isFree, lookAgain } from '../act-guard.ts';
import { passing } from '../changes/act-change.ts';
import { deployRequest } from '../changes/deploy-request.ts';
import { refuseAwaited } from '../changes/not-shown.ts';
import { adminSecretName, createdAtOf, identityOf, isSame, spaceKeyOf } from '../identity.ts';
import type { ClusterStatusPatch, ClusterStep } from '../observation.ts';
import { refusalOfSpace } from '../observe-space.ts';
import { shown } from '../present.ts';
import type { StepWork, Work } from '../work.ts';
import { cloneSourceOf } from './clone-source.ts';
import { acceptedBackup } from './decide-existence.ts';
import { askFor } from './find-cluster.ts';

/* The steps that bring a cluster into existence, and the one that ends it. */

export async function deploy(
  work: StepWork,
  { id }: Extract<ClusterStep, { do: 'Deploy' }>,
): Promise<ClusterStatusPatch | undefined> {
  await refuseUnknownVersion(work);
  const { subject, connection, signal } = work;
  // Take the turn before the object is read once more: at a busy cloud this takes time.
  const turn = await connection.client.turn(id, signal);
  return create(work, id, () => connection.client.deploy(deployRequest(subject, id), signal, turn));
}

/** Does not judge a deploy whose answer may be lost, as the cloud then took the version. */
async function refuseUnknownVersion(work: StepWork): Promise<void> {
  const { world, subject, keep } = work;
  const { key, spec, status } = subject;
  if (status.operation === undefined || !world.memory.attempts.neverMade(key, status.operation)) return;
  const versions = await versionsWithout(work);
  if (versions === undefined) return;
  keep({ operation: null });
  const message = `spec.version cannot be "${spec.version}", which the cloud does not have: delete this object, and apply it with latest or one of ${versions.join(', ')}`;
  throw new TerminalError('InvalidSpec', message);
}

/**
 * Returns the versions that the cloud has if it surely lacks the requested one; undefined: it may have it. The space's list may
 * be old, so the cloud is asked before a person is told. If it does not answer, it judges the deploy itself.
 */
async function versionsWithout({ world, subject, connection, signal }: Work): Promise<readonly string[] | undefined> {
  const { version } = subject.spec;
  const lacksIt = (versions: readonly string[]) =>
    version !== undefined && version !== 'latest' && versions.length > 0 && !versions.includes(version);
  if (!lacksIt(world.space(spaceKeyOf(subject))?.versions ?? [])) return undefined;
  try {
    const versions = await connection.client.versions(signal);
    return lacksIt(versions) ? versions : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/**
 * Nothing that the cloud reports tells a clone from another cluster, so the id must be free right before. And the source must still be
 * the cluster that was decided about: the clone of another one would have somebody else's data.
 */
export async function clone(
  work: StepWork,
  { id, source, createdAt }: Extract<ClusterStep, { do: 'Clone' }>,
): Promise<ClusterStatusPatch> {
  const { world, subject, connection, signal } = work;
  const checkIsSame = (from: Cluster | undefined) => {
    if (from === undefined || createdAtOf(from) !== createdAt) throw sourceChanged(source);
  };
  checkIsSame(await lookAgain(work, source));
  if (!(await isFree(work, id))) {
    const mayBeOurs = world.memory.attempts.maybeMade(subject.key, subject.status.operation);
    return mayBeOurs ? {} : { operation: null };
  }
  // At a busy cloud these looks wait for minutes, and whoever has the source may not admit this namespace any more.
  const found = await cloneSourceOf(work);
  if (found?.is !== 'known' || found.id !== source) throw sourceChanged(source);
  // A List may come while the object is read once more.
  const checkAgain = () => checkIsSame(connection.poller.get(source));
  return create(work, id, () => connection.client.clone(source, id, signal), checkAgain);
}

function sourceChanged(id: string): TransientError {
  const message = `Cluster "${id}", which is to be cloned, has changed meanwhile: Mooring checks it again`;
  return new TransientError('WaitingForSource', message);
}

/**
 * Makes a deploy or clone that the status already announces. The answer proves that the cluster is ours; without an answer,
 * the next pass looks. A refusal removes what was written down: a cluster that gets the id later is somebody else's, and a
 * later process could not tell. `check`: called right before.
 */
async function create(
  work: StepWork,
  id: string,
  call: () => Promise<Cluster>,
  check = () => {},
): Promise<ClusterStatusPatch> {
  const { world, subject, connection, keep } = work;
  const { operation } = subject.status;
  if (operation === undefined) throw new Error(`Creating cluster "${id}" was not written down first`);
  // The turn may have taken minutes.
  const refusal = await refusalOfSpace(work);
  if (refusal !== undefined) throw new TransientError(refusal.reason, refusal.message);
  await confirm(work);
  check();
  const { clock, memory } = world;
  const { attempts } = memory;
  const madeAtMs = attempts.lastMadeAtMs(subject.key, operation);
  try {
    const cluster = await withCreationTime(work, await attempts.make(subject.key, operation, clock, call));
    connection.poller.learn(id, cluster, clock.monotonic());
    // The API server may refuse the facts. The cloud's clock may then make the cluster look older than the call.
    memory.created(subject.key, operation, createdAtOf(cluster));
    return {
      ...shown({ cluster, endpoint: undefined }),
      createdAt: identityOf(cluster),
      operation: null,
      former: null,
      backup: acceptedBackup(subject),
      unverifiedSecretName: adminSecretName(subject),
    };
  } catch (error) {
    if (attempts.isRefusal(subject.key, operation, error)) keep({ operation: null });
    // Made a moment ago, it may have been accepted, and the cluster not be shown yet. How another clone is then refused is not documented.
    if (!isRefused(error) || (error.kind !== 'conflict' && !isLately(madeAtMs, clock.now()))) throw error;
    return await taken(work, id, error);
  }
}

/**
 * The creation time must be known before the login is looked at, or a List that shows it later shows another cluster. A cluster
 * that runs already has no such List before it.
 */
async function withCreationTime({ connection, signal }: Work, answered: Cluster): Promise<Cluster> {
  if (createdAtOf(answered) !== undefined || answered.status !== 'running') return answered;
  try {
    return (await connection.client.get(answered.id, signal)) ?? answered;
  } catch (error) {
    // The cluster is ours all the same, and not every cloud has creation times.
    if (error instanceof ApiError) return answered;
    throw error;
  }
}

/**
 * The id is in use, or may be: by somebody else's cluster, or by one from an earlier attempt whose answer was lost. The next pass compares.
 * If there is none, the cloud's own words matter: how it refuses a second free cluster, say, is not documented.
 */
async function taken(work: Work, id: string, refusal: ApiError): Promise<ClusterStatusPatch> {
  const cluster = await askFor(work, id);
  if (cluster === undefined) {
    throw new TransientError(
      refusal.kind === 'conflict' ? 'ClusterIDInUse' : 'Deploying',
      `${refusal.message}, but the cloud shows no such cluster: Mooring tries again. If this persists, choose another clusterID, or mend what the cloud complains of`,
      { cause: refusal },
    );
  }
  return {};
}

const PASSING: ReadonlySet<string> = new Set(['starting', 'resuming', 'suspending']);

/** Asks the cloud right before whether it is still that cluster. The object is read last, as the cloud may keep us waiting. */
export async function destroy(
  work: Work,
  { id }: Extract<ClusterStep, { do: 'Destroy' }>,
): Promise<ClusterStatusPatch | undefined> {
  const { world, subject, connection, signal } = work;
  const { client, poller } = connection;
  const cluster = await lookAgain(work, id);
  if (cluster === undefined || !isSame(subject, cluster) || cluster.status === 'destroying') return undefined;
  const change = { key: subject.key, uid: subject.metadata.uid, changes: { status: 'gone' }, cluster } as const;
  refuseAwaited(world, subject, change);
  if (!(await confirmFor(work, id))) return undefined;
  try {
    const answer = await client.destroy(id, signal);
    const left = answer === 'accepted' ? { ...cluster, status: 'destroying' } : answer;
    poller.learn(id, left, world.clock.monotonic());
    world.memory.unseenChanges.accepted(change, world.clock, left === undefined ? 'missing' : 'accepted');
    // The next look may not find it any more, and that it was ending must not be lost.
    return left && { state: left.status };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The next look finds that it does not serve, and what goes on meanwhile.
    if (error === client.destroyRefusal) return undefined;
    throw refusedToDestroy(id, cluster, error);
  }
}

function refusedToDestroy(id: string, { status }: Cluster, error: ApiError): unknown {
  // Nobody promises from which states this is accepted, so it is tried again once the cluster is at rest.
  if (isRefused(error) && PASSING.has(status)) {
    const message = `Cluster "${id}" is ${status}, and the cloud does not destroy it yet: ${error.message}. Mooring tries again. If this persists, check the cluster in the cloud's console`;
    return new TransientError('Destroying', message);
  }
  if (error.kind === 'forbidden') {
    const message = `${error.message}. Give the space an API token of level admin. ${LET_GO}`;
    return new TerminalError('DeletionBlocked', message, { cause: error });
  }
  return passing(error, 'Destroying');
}
