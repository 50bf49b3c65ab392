import { TransientError } from '../../../base/errors.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import type { SpacePoller } from '../../../cloud/space-poller.ts';
import { LET_GO } from '../../../kube/annotations.ts';
import type { ClusterSubject } from '../observation.ts';
import type { ClusterWorld } from '../world.ts';
import { differences } from './differences.ts';
import { type Asked, type AskedChange, UNSETTLED_MS, type Unseen } from './unseen-change.ts';

/* What is reported if the cloud accepts a change and goes on showing the cluster as before. */

type State = NonNullable<Asked['status']>;

/** The reason while the cloud may only be slow to show it, what was asked for, and how the cluster is shown instead. */
const WORDS: Readonly<Record<State | 'renamed', readonly [reason: string, what: string, shown: string]>> = {
  suspended: ['Suspending', 'suspension', 'does not show it as suspended'],
  running: ['Resuming', 'resumption', 'does not show it as running'],
  gone: ['Destroying', 'deletion', 'still shows it'],
  renamed: ['Updating', 'renaming', 'still shows it under that id'],
};

/** The status that the cloud shows while it brings a state about. */
const ON_ITS_WAY: Readonly<Record<State, string>> = {
  suspended: 'suspending',
  running: 'resuming',
  gone: 'destroying',
};

/** Throws if the change was answered a short time ago: requesting it again is put off, unless a person wants that. */
export function refuseAwaited(
  { clock, memory }: ClusterWorld,
  { lookNow }: ClusterSubject,
  change: AskedChange | undefined,
): void {
  if (change === undefined || lookNow) return;
  const unseen = memory.unseenChanges.awaited(change, clock.monotonic());
  if (unseen === undefined) return;
  const { changes, cluster } = change;
  const what = changes.status ?? (changes.id === undefined ? undefined : 'renamed');
  throw what === undefined ? updateNotApplied(cluster.id) : notShown(what, change, unseen);
}

/** Whether the cluster differs from the spec only by what this process asked for. */
export function isOurDoing({ clock, memory }: ClusterWorld, subject: ClusterSubject, cluster: Cluster): boolean {
  const { key, metadata, spec } = subject;
  const differing = differences(subject, cluster);
  const isLeftAsIs = spec.driftPolicy === 'Report';
  return memory.unseenChanges.explains({ key, uid: metadata.uid, cluster }, differing, clock.monotonic(), isLeftAsIs);
}

/**
 * Takes in the cluster as it is now. Returns whether it differs from the spec only by what this process asked for: until the status says
 * that it is no drift, that must not be forgotten.
 */
export function takeIn(
  world: ClusterWorld,
  subject: ClusterSubject,
  cluster: Cluster,
  poller: Pick<SpacePoller, 'formerListedAt'>,
): boolean {
  const { unseenChanges } = world.memory;
  unseenChanges.looks(subject.key, cluster, poller);
  const isOurs = isOurDoing(world, subject, cluster);
  if (!isOurs) unseenChanges.shows(subject.key, cluster, world.clock.monotonic());
  return isOurs;
}

/** What to report about the state that was requested and has not been seen since; undefined: it was not requested. */
export function stateNotShown(
  { clock, memory }: ClusterWorld,
  { key, metadata: { uid } }: ClusterSubject,
  cluster: Cluster,
  status: State,
): TransientError | undefined {
  const change = { key, uid, changes: { status }, cluster };
  const nowMs = clock.monotonic();
  const unseen = memory.unseenChanges.inARow(change, nowMs);
  if (unseen === undefined) return undefined;
  // Each answer to a request shows this; what is shown later is believed.
  const isBegun = cluster.status === ON_ITS_WAY[status] && nowMs >= unseen.answeredMs + UNSETTLED_MS;
  return isBegun ? undefined : notShown(status, change, unseen);
}

/** At first the cloud may only be slow to show it, which is no news. Then the words stay the same, whatever its answers say. */
function notShown(change: keyof typeof WORDS, { cluster }: AskedChange, { answer, at, times }: Unseen): TransientError {
  const [reason, what, shown] = WORDS[change];
  const answered = answer === 'missing' ? `answered 404 to the ${what} of` : `accepted the ${what} of`;
  const letGo = change === 'gone' ? `. ${LET_GO}` : '';
  const message =
    `The cloud ${answered} cluster "${cluster.id}" at ${at}, but ${shown}: Mooring looks again, and asks for it again after half a minute ` +
    `or more. If this persists, check the cloud's console, or ask the cloud's support${letGo}`;
  return new TransientError(times > 1 ? 'UpdateNotApplied' : reason, message);
}

export function updateNotApplied(id: string): TransientError {
  const message = `The cloud accepted the change of cluster "${id}", but does not show it: Mooring looks again, and asks for it again after a minute or more. If this persists, ask the cloud's support`;
  return new TransientError('UpdateNotApplied', message);
}
