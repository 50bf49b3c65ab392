import type { Clock } from '../../../base/clock.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import type { SpacePoller } from '../../../cloud/space-poller.ts';
import type { ObjectKey } from '../../../kube/object.ts';
import type { Difference } from './differences.ts';
import {
  type AskedChange,
  answered,
  explains,
  isAwaited,
  isOver,
  isSameChange,
  isSettled,
  lookedAt,
  partOf,
  type Unseen,
} from './unseen-change.ts';

/** Of which object, and how its cluster is now. */
type Of = Omit<AskedChange, 'changes'>;

/** The last changes of settings, state and id of each object that the cloud accepted but may not show. Times are monotonic. */
export class UnseenChanges {
  /** One of each part at most. */
  readonly #last = new Map<ObjectKey, readonly Unseen[]>();

  /** The change was accepted, and is not to be seen yet. */
  accepted(change: AskedChange, clock: Pick<Clock, 'now' | 'monotonic'>, answer: Unseen['answer'] = 'accepted'): void {
    this.#set(answered(change, answer, this.inARow(change, clock.monotonic()), clock));
  }

  /** The change was asked for, and nobody knows whether it was accepted: it may be asked for again at once. */
  mayLand(change: AskedChange, clock: Pick<Clock, 'now' | 'monotonic'>): void {
    if (this.inARow(change, clock.monotonic()) !== undefined) return;
    const unseen = answered(change, 'accepted', undefined, clock);
    this.#set({ ...unseen, times: 0, untilMs: unseen.answeredMs });
  }

  /** The change, if all of it was accepted a short time ago and the cluster is in all of it as it was then; undefined otherwise. */
  awaited(change: AskedChange, nowMs: number): Unseen | undefined {
    const last = this.#same(change);
    return last !== undefined && change.changes.backup === undefined && isAwaited(last, nowMs) ? last : undefined;
  }

  /** The change, if it was accepted and is not to be seen yet, even if it may be requested again. */
  inARow(change: AskedChange, nowMs: number): Unseen | undefined {
    const last = this.#same(change);
    return last !== undefined && last.times > 0 && !isOver(last, nowMs) ? last : undefined;
  }

  /** Whether all that differs from the spec is our own doing. `isLeftAsIs`: what others change stays. */
  explains(of: Of, differing: readonly Difference[], nowMs: number, isLeftAsIs: boolean): boolean {
    const mayShow = this.#lastOf(of).filter((last) => !isOver(last, nowMs));
    const isOurs = (difference: Difference) =>
      mayShow.some((last) => explains(last, difference, of.cluster, nowMs, isLeftAsIs));
    return differing.length > 0 && differing.every(isOurs);
  }

  /** Takes the cluster as it is now, before it is judged how it came to differ. */
  looks(key: ObjectKey, cluster: Cluster, poller: Pick<SpacePoller, 'formerListedAt'>): void {
    this.#replace(key, (last) => lookedAt(last, cluster, poller));
  }

  /** Takes the cluster as it is now, if it is not this process's doing that it differs from the spec. */
  shows(key: ObjectKey, cluster: Cluster, nowMs: number): void {
    this.#replace(key, (last) => (isSettled(last, cluster, nowMs) ? undefined : last));
  }

  forget(key: ObjectKey): void {
    this.#last.delete(key);
  }

  #set(unseen: Unseen): void {
    const { key, changes } = unseen.change;
    const others = (this.#last.get(key) ?? []).filter(({ change }) => partOf(change.changes) !== partOf(changes));
    this.#last.set(key, [...others, unseen]);
  }

  #replace(key: ObjectKey, by: (last: Unseen) => Unseen | undefined): void {
    const left = (this.#last.get(key) ?? []).flatMap((last) => by(last) ?? []);
    if (left.length === 0) this.#last.delete(key);
    else this.#last.set(key, left);
  }

  #lastOf({ key, uid, cluster: { createdAt } }: Of): readonly Unseen[] {
    const isOfThis = ({ change }: Unseen) => change.uid === uid && change.cluster.createdAt === createdAt;
    return (this.#last.get(key) ?? []).filter(isOfThis);
  }

  #same(change: AskedChange): Unseen | undefined {
    return this.#lastOf(change).find((last) => isSameChange(change, last));
  }
}
