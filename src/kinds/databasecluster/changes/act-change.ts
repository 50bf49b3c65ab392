import { TransientError } from '../../../base/errors.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import { ApiError } from '../../../http/api-error.ts';
import { confirmFor, isAsDecidedOn, isFree } from '../act-guard.ts';
import type { ClusterStatusPatch, ClusterStep } from '../observation.ts';
import { isDrift } from '../present.ts';
import type { StepWork, Work } from '../work.ts';
import { differences } from './differences.ts';
import { isOurDoing, refuseAwaited, updateNotApplied } from './not-shown.ts';
import { type Asked, type AskedChange, isUnseen } from './unseen-change.ts';

/* The steps that change a cluster which exists, and is to stay. */

type Rename = Extract<ClusterStep, { do: 'Rename' }>;
type Update = Extract<ClusterStep, { do: 'Update' }>;

interface Correction {
  readonly id: string;
  /** What is asked for. */
  readonly changes: Asked;
  /** The fields in which this undoes changes from elsewhere. */
  readonly fields: readonly string[];
  /** What else is checked, besides the cluster. */
  readonly isPossible?: () => Promise<boolean>;
}

/**
 * Makes the call if the cluster is as it was when this was decided and the cloud has not just accepted the same, and reports the changes
 * from elsewhere that it undoes. The object is read last, as calls to the cloud may have to wait: undoing a person's latest order may
 * stop a cluster that is in use, and the next pass would mend that too late. The call gets the change as it is asked for then;
 * undefined: there is no such cluster any more.
 */
async function correct(
  work: Work,
  { id, changes, fields, isPossible }: Correction,
  call: (change: AskedChange | undefined) => Promise<ClusterStatusPatch | undefined>,
): Promise<ClusterStatusPatch | undefined> {
  const { world, subject, connection } = work;
  if (!(await isAsDecidedOn(work, id))) return undefined;
  const cluster = connection.poller.get(id);
  // A List that came after the pass had looked at the cluster may show that it was changed.
  if (cluster !== undefined && !isStillToBeMade(changes, cluster)) return undefined;
  const isFromElsewhere = (now: Cluster) => isDrift(subject, { isOurChange: isOurDoing(world, subject, now) });
  const drift = cluster !== undefined && isFromElsewhere(cluster) ? differences(subject, cluster) : [];
  refuseAwaited(world, subject, asked(work, id, changes));
  if (isPossible !== undefined && !(await isPossible())) return undefined;
  if (!(await confirmFor(work, id))) return undefined;
  const change = asked(work, id, changes);
  const result = await call(change).catch((error: unknown) => {
    if (isEffectUnknown(error) && change !== undefined && isShownLater(changes))
      world.memory.unseenChanges.mayLand(change, world.clock);
    throw error;
  });
  for (const difference of drift) {
    if (fields.includes(difference.field)) world.onDriftCorrected(subject.key, difference);
  }
  return result;
}

/** Whether the cluster has nothing of what is asked for; only one at rest takes orders. */
function isStillToBeMade({ status, storageSizeGB, machineType }: Asked, cluster: Cluster): boolean {
  if (status !== undefined) return cluster.status === (status === 'suspended' ? 'running' : 'suspended');
  const isShown = (asked: unknown, shown: unknown) => asked !== undefined && asked === shown;
  return !isShown(storageSizeGB, cluster.storageSizeGB) && !isShown(machineType, cluster.machineType);
}

function isEffectUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.effectUnknown;
}

/** Backup settings never show. */
function isShownLater({ backup: _, ...fields }: Asked): boolean {
  return Object.keys(fields).length > 0;
}

/** The change, with the cluster as it is known now. Undefined: there is no such cluster. */
function asked({ subject, connection }: Work, id: string, changes: Asked): AskedChange | undefined {
  const cluster = connection.poller.get(id);
  return cluster && { key: subject.key, uid: subject.metadata.uid, changes, cluster };
}

/** The state from the answer makes the pass report the change, although the next one comes at once. */
export function suspendOrResume(
  work: Work,
  { do: what, id }: Extract<ClusterStep, { do: 'Suspend' | 'Resume' }>,
): Promise<ClusterStatusPatch | undefined> {
  const { world, connection, signal } = work;
  const { client, poller } = connection;
  const changes = { status: what === 'Suspend' ? 'suspended' : 'running' } as const;
  return correct(work, { id, changes, fields: ['state'] }, async (change) => {
    const call = what === 'Suspend' ? client.suspend(id, signal) : client.resume(id, signal);
    const cluster = await call.catch((error: unknown) => {
      throw passing(error, what === 'Suspend' ? 'Suspending' : 'Resuming');
    });
    poller.learn(id, cluster, world.clock.monotonic());
    if (change !== undefined) world.memory.unseenChanges.accepted(change, world.clock);
    return { state: cluster.status };
  });
}

/**
 * Returns the error to report of a call that neither creates nor renames. The document knows 409 only for ids in use, so here it can
 * only mean that the cluster is busy with something that Mooring does not see: that passes, so the call is made again soon.
 */
export function passing(error: unknown, reason: 'Suspending' | 'Resuming' | 'Updating' | 'Destroying'): unknown {
  if (!(error instanceof ApiError) || error.kind !== 'conflict') return error;
  const message = `${error.message}. The cluster may be busy with something else, so Mooring tries again. If this persists, mend what the answer names in the cloud`;
  return new TransientError(reason, message, { cause: error });
}

/** Anything that may make the cloud accept it now makes it another change: a new spec, cluster or token. */
export function renameOrUpdate(
  work: StepWork,
  { patient, ...step }: Rename | Update,
): Promise<ClusterStatusPatch | undefined> {
  const { key, metadata, lookNow } = work.subject;
  const { client, poller } = work.connection;
  const { clock, memory } = work.world;
  const { servers: _, ...cluster } = poller.get(step.id) ?? { servers: [] };
  const what = JSON.stringify([metadata.uid, metadata.generation, step, cluster]);
  const call = () => (step.do === 'Rename' ? rename(work, step) : update(work, step));
  return memory.failedChanges.ask({ key, what, by: client }, patient === true && !lookNow, clock.monotonic, call);
}

/** If the cloud accepts it but still shows the former id, it is not asked again at once, and its answers are not believed from then on. */
function rename(work: Work, { id, to }: Rename): Promise<ClusterStatusPatch | undefined> {
  const { world, subject, connection, signal } = work;
  const { clock, memory } = world;
  const { client, poller } = connection;
  const unseen = memory.unseenChanges;
  const isPossible = () => isFree(work, to);
  return correct(work, { id, changes: { id: to }, fields: ['clusterID'], isPossible }, async (change) => {
    const isAgain = change !== undefined && unseen.inARow(change, clock.monotonic()) !== undefined;
    const cluster = await client.update(id, { id: to }, signal);
    if (change !== undefined) unseen.accepted(change, clock);
    if (isAgain) refuseAwaited(world, subject, change);
    const answeredAt = clock.monotonic();
    poller.learn(id, undefined, answeredAt);
    poller.learn(to, cluster, answeredAt);
    return { clusterID: to };
  });
}

/** If the cloud accepts the changes but does not show them, or only in its answer, it is not asked again at once. */
function update(work: StepWork, { id, changes }: Update): Promise<ClusterStatusPatch | undefined> {
  const { world, subject, connection, signal, keep } = work;
  const { clock, memory } = world;
  const { client, poller } = connection;
  const unseen = memory.unseenChanges;
  return correct(work, { id, changes, fields: Object.keys(changes) }, async (change) => {
    const { backup, ...fields } = changes;
    const request = { ...fields, ...(backup === undefined ? {} : { backupConfiguration: backup }) };
    const cluster = await client.update(id, request, signal).catch((error: unknown) => {
      // Nobody can read back which settings hold now. Those of a free cluster are disabled either way.
      if (isEffectUnknown(error) && backup !== undefined && !subject.spec.isFree) keep({ backup: null });
      throw passing(error, 'Updating');
    });
    poller.learn(id, cluster, clock.monotonic());
    const accepted = backup === undefined ? {} : { backup };
    if (change !== undefined && isShownLater(changes)) unseen.accepted(change, clock);
    if (isUnseen(changes, cluster)) {
      keep(accepted);
      throw updateNotApplied(id);
    }
    // The state makes the pass report the change, although the next one comes at once and sees the rest.
    return { state: cluster.status, ...accepted };
  });
}
