import { TerminalError, TransientError } from '../../base/errors.ts';
import type { Cluster } from '../../cloud/schema.ts';
import { ApiError } from '../../http/api-error.ts';
import { LET_GO } from '../../kube/annotations.ts';
import type { SpaceConnection } from '../databasespace/connection.ts';
import { isSamePlace } from '../databasespace/place.ts';
import { confirm, isAsDecidedOn, isFree, lookAgain, versionsWithout } from './act-guard.ts';
import { deployRequest } from './changes/deploy-request.ts';
import { differences } from './changes/differences.ts';
import { refuseAwaited, updateNotApplied } from './changes/not-shown.ts';
import { type Asked, type Change as AskedChange, isUnseen } from './changes/unseen-changes.ts';
import { acceptedBackup } from './existence/decide-existence.ts';
import { askFor } from './existence/find-cluster.ts';
import { adminSecretName, createdAtOf, identityOf, isSame, spaceKeyOf } from './identity.ts';
import { deleteSecret, preparePassword, promotePassword, putPassword, retireSecret } from './login/act-login.ts';
import type { ClusterStep, ClusterSubject } from './observation.ts';
import { type ClusterStatusPatch, isDrift, shown } from './present.ts';
import type { ClusterWorld } from './world.ts';

/** Records facts in the status even if the step fails. */
type Keep = (facts: ClusterStatusPatch) => void;

/** Carries out one step. */
export async function actOnCluster(
  world: ClusterWorld,
  subject: ClusterSubject,
  step: ClusterStep,
  signal: AbortSignal,
  keep: Keep,
): Promise<ClusterStatusPatch | undefined> {
  if (step.do === 'DeleteSecret') return deleteSecret(world, subject, signal);
  if (step.do === 'RetireSecret') return retireSecret(world, subject, step, signal);
  if (step.do === 'TellLeft' || step.do === 'TellFactoryLogin') {
    world.onLeft(subject.key, step.message);
    return undefined;
  }
  const connection = world.connections.get(spaceKeyOf(subject));
  const { place } = subject.status;
  if (connection === undefined || (place !== undefined && !isSamePlace(place, connection.place)))
    throw new TransientError('WaitingForSpace', 'The DatabaseSpace changed meanwhile: Mooring checks it again');
  switch (step.do) {
    case 'Deploy': {
      await refuseUnknownVersion(world, subject, connection, signal, keep);
      // Take the turn before the object is read once more: at a busy cloud this takes time.
      const turn = await connection.client.turn(step.id, signal);
      const call = () => connection.client.deploy(deployRequest(subject, step.id), signal, turn);
      return create(world, subject, connection, step.id, call, signal, keep);
    }
    case 'Clone':
      return clone(world, subject, connection, step, signal, keep);
    case 'Destroy':
      return destroy(world, subject, connection, step.id, signal);
    case 'Suspend':
    case 'Resume':
      return suspendOrResume(world, subject, connection, step, signal);
    case 'Rename':
      return changing(world, subject, connection, step, () => rename(world, subject, connection, step, signal));
    case 'Update':
      return changing(world, subject, connection, step, () => update(world, subject, connection, step, signal, keep));
    case 'PreparePassword':
      return preparePassword(world, subject, connection, step, signal, keep);
    case 'PutPassword':
      return putPassword(world, subject, connection, step, signal, keep);
    case 'PromotePassword':
      return promotePassword(world, subject, connection, signal);
    default:
      return step satisfies never;
  }
}

/**
 * Makes a deploy or clone that the status already announces. The answer proves that the cluster is ours; without an answer,
 * the next pass looks. A refusal removes what was written down: a cluster that gets the id later is somebody else's, and a
 * later process could not tell.
 */
async function create(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  id: string,
  call: () => Promise<Cluster>,
  signal: AbortSignal,
  keep: Keep,
): Promise<ClusterStatusPatch> {
  const { operation } = subject.status;
  if (operation === undefined) throw new Error(`Creating cluster "${id}" was not written down first`);
  await confirm(world, subject, signal);
  const { clock, memory } = world;
  const { attempts } = memory;
  const askedAt = clock.monotonic();
  try {
    const cluster = await attempts.make(subject.key, operation, clock, call);
    connection.poller.learn(id, cluster, askedAt);
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
    if (!(error instanceof ApiError) || error.kind !== 'conflict') throw error;
    return await taken(world, connection, id, error, signal);
  }
}

/** Does not judge a deploy whose answer may be lost, as the cloud then took the version. */
async function refuseUnknownVersion(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  signal: AbortSignal,
  keep: Keep,
): Promise<void> {
  const { key, spec, status } = subject;
  if (status.operation === undefined || !world.memory.attempts.neverMade(key, status.operation)) return;
  const versions = await versionsWithout(world, subject, connection, signal);
  if (versions === undefined) return;
  keep({ operation: null });
  const message = `spec.version cannot be "${spec.version}", which the cloud does not have: delete this object, and apply it with latest or one of ${versions.join(', ')}`;
  throw new TerminalError('InvalidSpec', message);
}

/**
 * Nothing that the cloud reports tells a clone from another cluster, so the id must be free right before. And the source must still be
 * the cluster that was decided about: the clone of another one would have somebody else's data.
 */
async function clone(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  { id, source, createdAt }: Extract<ClusterStep, { do: 'Clone' }>,
  signal: AbortSignal,
  keep: Keep,
): Promise<ClusterStatusPatch> {
  const from = await lookAgain(world, connection, source, signal);
  if (from === undefined || createdAtOf(from) !== createdAt) {
    const message = `Cluster "${source}", which is to be cloned, has changed meanwhile: Mooring checks it again`;
    throw new TransientError('WaitingForSource', message);
  }
  if (!(await isFree(world, connection, id, signal))) {
    const mayBeOurs = world.memory.attempts.maybeMade(subject.key, subject.status.operation);
    return mayBeOurs ? {} : { operation: null };
  }
  return create(world, subject, connection, id, () => connection.client.clone(source, id, signal), signal, keep);
}

/**
 * The id is in use: by somebody else's cluster, or by one from an earlier attempt whose answer was lost. The next pass compares.
 * If there is none, the cloud's own words matter: how it refuses a second free cluster, say, is not documented.
 */
async function taken(
  world: ClusterWorld,
  connection: SpaceConnection,
  id: string,
  refusal: ApiError,
  signal: AbortSignal,
): Promise<ClusterStatusPatch> {
  const cluster = await askFor(world, connection, id, signal);
  if (cluster === undefined) {
    throw new TransientError(
      'ClusterIDInUse',
      `${refusal.message}, but the cloud shows no such cluster: Mooring tries again. If this persists, choose another clusterID, or mend what the cloud complains of`,
      { cause: refusal },
    );
  }
  return {};
}

const PASSING: ReadonlySet<string> = new Set(['starting', 'resuming', 'suspending']);

/** Asks the cloud right before whether it is still that cluster. The object is read last, as the cloud may keep us waiting. */
async function destroy(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  id: string,
  signal: AbortSignal,
): Promise<ClusterStatusPatch | undefined> {
  const { client, poller } = connection;
  const cluster = await lookAgain(world, connection, id, signal);
  if (cluster === undefined || !isSame(subject, cluster) || cluster.status === 'destroying') return undefined;
  const change = { key: subject.key, uid: subject.metadata.uid, changes: { status: 'gone' }, cluster } as const;
  refuseAwaited(world, subject, change);
  await confirm(world, subject, signal);
  const askedAt = world.clock.monotonic();
  try {
    const left = await client.destroy(id, signal);
    poller.learn(id, left, askedAt);
    world.memory.unseenChanges.accepted(change, world.clock, left === undefined ? 'missing' : 'accepted');
    // The next look may not find it any more, and that it was ending must not be lost.
    return left && { state: left.status };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Nobody promises from which states this is accepted, so it is tried again once the cluster is at rest.
    if ((error.kind === 'invalid' || error.kind === 'conflict') && PASSING.has(cluster.status)) {
      const message = `Cluster "${id}" is ${cluster.status}, and the cloud does not destroy it yet: ${error.message}. Mooring tries again`;
      throw new TransientError('Destroying', message);
    }
    if (error.kind === 'forbidden') {
      const message = `${error.message}. Give the space an API token of level admin. ${LET_GO}`;
      throw new TerminalError('DeletionBlocked', message, { cause: error });
    }
    throw error;
  }
}

interface Change {
  readonly id: string;
  /** What is asked for. */
  readonly changes: Asked;
  /** The fields in which this undoes changes from elsewhere. */
  readonly fields: readonly string[];
  /** What else is checked, besides the cluster. */
  readonly isPossible?: () => Promise<boolean>;
}

/**
 * Does the work if the cluster is as it was when this was decided and the cloud has not just accepted the same, and reports the changes
 * from elsewhere that it undoes. The object is read last, as calls to the cloud may have to wait: undoing a person's latest order may
 * stop a cluster that is in use, and the next pass would mend that too late. The work gets the change as it is asked for then;
 * undefined: there is no such cluster any more.
 */
async function corrected(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  { id, changes, fields, isPossible }: Change,
  signal: AbortSignal,
  work: (change: AskedChange | undefined) => Promise<ClusterStatusPatch | undefined>,
): Promise<ClusterStatusPatch | undefined> {
  if (!(await isAsDecidedOn(world, subject, connection, id, signal))) return undefined;
  const cluster = connection.poller.get(id);
  const drift = cluster === undefined || !isDrift(subject) ? [] : differences(subject, cluster);
  refuseAwaited(world, subject, changeOf(subject, connection, id, changes));
  if (isPossible !== undefined && !(await isPossible())) return undefined;
  await confirm(world, subject, signal);
  const result = await work(changeOf(subject, connection, id, changes));
  for (const difference of drift) {
    if (fields.includes(difference.field)) world.onDriftCorrected(subject.key, difference);
  }
  return result;
}

/** Undefined: there is no such cluster. */
function changeOf(
  { key, metadata: { uid } }: ClusterSubject,
  { poller }: SpaceConnection,
  id: string,
  changes: Asked,
): AskedChange | undefined {
  const cluster = poller.get(id);
  return cluster && { key, uid, changes, cluster };
}

/** The state from the answer makes the pass report the change, although the next one comes at once. */
function suspendOrResume(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  { do: what, id }: Extract<ClusterStep, { do: 'Suspend' | 'Resume' }>,
  signal: AbortSignal,
): Promise<ClusterStatusPatch | undefined> {
  const { client, poller } = connection;
  const changes = { status: what === 'Suspend' ? 'suspended' : 'running' } as const;
  return corrected(world, subject, connection, { id, changes, fields: ['state'] }, signal, async (change) => {
    const askedAt = world.clock.monotonic();
    const cluster = await (what === 'Suspend' ? client.suspend(id, signal) : client.resume(id, signal));
    poller.learn(id, cluster, askedAt);
    if (change !== undefined) world.memory.unseenChanges.accepted(change, world.clock);
    return { state: cluster.status };
  });
}

/** Anything that may make the cloud accept it now makes it another change: a new spec, cluster or token. */
function changing(
  { clock, memory }: ClusterWorld,
  { key, metadata: { uid, generation }, lookNow }: ClusterSubject,
  { client, poller }: SpaceConnection,
  { patient, ...step }: Extract<ClusterStep, { do: 'Rename' | 'Update' }>,
  work: () => Promise<ClusterStatusPatch | undefined>,
): Promise<ClusterStatusPatch | undefined> {
  const { servers: _, ...cluster } = poller.get(step.id) ?? { servers: [] };
  const what = JSON.stringify([uid, generation, step, cluster]);
  return memory.failedChanges.ask({ key, what, by: client }, patient === true && !lookNow, clock.monotonic, work);
}

/** If the cloud accepts it but still shows the former id, it is not asked again at once, and its answers are not believed from then on. */
function rename(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  { id, to }: Extract<ClusterStep, { do: 'Rename' }>,
  signal: AbortSignal,
): Promise<ClusterStatusPatch | undefined> {
  const { clock, memory } = world;
  const { client, poller } = connection;
  const unseen = memory.unseenChanges;
  const isPossible = () => isFree(world, connection, to, signal);
  const asked = { id, changes: { id: to }, fields: ['clusterID'], isPossible };
  return corrected(world, subject, connection, asked, signal, async (change) => {
    const askedAt = clock.monotonic();
    const isAgain = change !== undefined && unseen.inARow(change, askedAt) !== undefined;
    const cluster = await client.update(id, { id: to }, signal);
    if (change !== undefined) unseen.accepted(change, clock);
    if (isAgain) refuseAwaited(world, subject, change);
    poller.learn(id, undefined, askedAt);
    poller.learn(to, cluster, askedAt);
    return { clusterID: to };
  });
}

/** If the cloud accepts the changes but does not show them, it is not asked again at once. */
function update(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  { id, changes }: Extract<ClusterStep, { do: 'Update' }>,
  signal: AbortSignal,
  keep: Keep,
): Promise<ClusterStatusPatch | undefined> {
  const { clock, memory } = world;
  const { client, poller } = connection;
  const unseen = memory.unseenChanges;
  const asked = { id, changes, fields: Object.keys(changes) };
  return corrected(world, subject, connection, asked, signal, async (change) => {
    const askedAt = clock.monotonic();
    const { backup, ...fields } = changes;
    const request = { ...fields, ...(backup === undefined ? {} : { backupConfiguration: backup }) };
    const cluster = await client.update(id, request, signal);
    poller.learn(id, cluster, askedAt);
    const accepted = backup === undefined ? {} : { backup };
    if (isUnseen(changes, cluster) && change !== undefined) {
      keep(accepted);
      unseen.accepted(change, clock);
      throw updateNotApplied(id);
    }
    unseen.seen(subject.key);
    const { state, observed } = shown({ cluster, endpoint: undefined });
    return { state, observed, ...accepted };
  });
}
