import { TransientError } from '../../base/errors.ts';
import type { Cluster } from '../../cloud/schema.ts';
import { LET_GO } from '../../kube/annotations.ts';
import type { ClusterSubject } from './observation.ts';
import type { Asked, Change, Unseen } from './unseen-changes.ts';
import type { ClusterWorld } from './world.ts';

/* What is said where the cloud takes a change and goes on to show the cluster as before. */

/** What is done, and the word for it while it may only be slow to show. */
const WORDS: Readonly<Record<NonNullable<Asked['status']>, readonly [reason: string, what: string]>> = {
  suspended: ['Suspending', 'suspension'],
  running: ['Resuming', 'resumption'],
  gone: ['Destroying', 'deletion'],
};

/** Throws where the change was answered a short time ago: to ask for it again is put off, but for a person who wants that. */
export function refuseAwaited(
  { clock, memory }: ClusterWorld,
  { lookNow }: ClusterSubject,
  change: Change | undefined,
): void {
  if (change === undefined || lookNow) return;
  const unseen = memory.unseenChanges.awaited(change, clock.monotonic());
  if (unseen === undefined) return;
  const { changes, cluster } = change;
  throw changes.status === undefined ? updateNotApplied(cluster.id) : statusNotShown(changes.status, change, unseen);
}

/** Whether that the cluster is to be suspended was accepted, and was not seen since. */
export function isSuspensionUnseen(
  { clock, memory }: ClusterWorld,
  { key, metadata: { uid } }: ClusterSubject,
  cluster: Cluster,
): boolean {
  return memory.unseenChanges.has({ key, uid, changes: { status: 'suspended' }, cluster }, clock.monotonic());
}

/** At first it may only be slow to show, which is no news. */
function statusNotShown(
  status: NonNullable<Asked['status']>,
  { cluster }: Change,
  { answer, at, times }: Unseen,
): TransientError {
  const [reason, what] = WORDS[status];
  const answered = answer === 'missing' ? `answered 404 to the ${what} of` : `accepted the ${what} of`;
  const letGo = status === 'gone' ? `. ${LET_GO}` : '';
  const message =
    `The cloud ${answered} cluster "${cluster.id}" at ${at}, and still shows it as ${cluster.status}: it is looked at again, and asked for ` +
    `again after half a minute or more. If it stays so, look into the cloud's console, or ask the cloud's support${letGo}`;
  return new TransientError(times > 1 ? 'UpdateNotApplied' : reason, message);
}

export function updateNotApplied(id: string): TransientError {
  const message = `The cloud accepted the change of cluster "${id}", but does not show it: it is looked at again, and asked for again after a minute or more. If it stays so, ask the cloud's support`;
  return new TransientError('UpdateNotApplied', message);
}
