import { type Backoff, ceilingMs } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import type { ObjectKey } from '../../../kube/object.ts';
import type { ClusterChanges } from '../observation.ts';
import type { Difference } from './differences.ts';

/** Settings, state and id are remembered separately, as one may be requested while another is awaited. */
type Part = 'settings' | 'status' | 'id';

/** The cluster is looked at much sooner: requesting an accepted change again does not speed it up, and may start it over. */
const PAUSES: Readonly<Record<Part, Backoff>> = {
  settings: { initialMs: 60_000, maxMs: 300_000 },
  status: { initialMs: 30_000, maxMs: 300_000 },
  id: { initialMs: 30_000, maxMs: 300_000 },
};

/** For this long after the cloud accepted it, a change may be shown and gone again: an answering machine may be behind. */
export const UNSETTLED_MS = 30_000;

/** A change that is requested this long after it might have been requested again counts as new. */
const IN_A_ROW_MS = 600_000;

const FIELDS = ['storageSizeGB', 'machineType', 'status', 'id'] as const;
type Field = (typeof FIELDS)[number];

/** What was requested from the cloud; `gone` is not a word of its own. */
export type Asked = ClusterChanges & { readonly status?: 'suspended' | 'running' | 'gone'; readonly id?: string };

/** A change of one cluster, and the cluster as it was just before. */
export interface AskedChange {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly changes: Asked;
  readonly cluster: Cluster;
}

/** Of which object, and how its cluster is now. */
type Of = Omit<AskedChange, 'changes'>;

/** A change that was answered but is not to be seen. */
export interface Unseen {
  readonly change: AskedChange;
  /** `missing`: the cloud did not know the cluster. */
  readonly answer: 'accepted' | 'missing';
  /** How many times in a row; 0: nobody knows whether it was accepted. */
  readonly times: number;
  /** When the first of these was answered, by the wall clock. */
  readonly at: string;
  readonly answeredMs: number;
  readonly untilMs: number;
  /** Whether the last look, or else its answer, showed all of it. */
  readonly wasShown?: boolean;
  /** Settings that were shown, and are gone again. Nobody can tell yet whether anybody undid it. */
  readonly isGone?: boolean;
}

/** Whether the cloud accepted the changes but shows that the cluster runs without one of them. */
export function isUnseen(changes: ClusterChanges, cluster: Cluster): boolean {
  const differs = (field: Field) => cluster[field] !== undefined && !isShown(changes, cluster, field);
  return cluster.status === 'running' && FIELDS.some(differs);
}

function isShown(changes: Asked, cluster: Cluster, field: Field): boolean {
  return changes[field] === undefined || cluster[field] === changes[field];
}

function partOf({ status, id }: Asked): Part {
  if (status !== undefined) return 'status';
  return id === undefined ? 'settings' : 'id';
}

/** The last changes of settings, state and id of each object that the cloud accepted but may not show. Times are monotonic. */
export class UnseenChanges {
  readonly #last: Readonly<Record<Part, Map<ObjectKey, Unseen>>> = {
    settings: new Map(),
    status: new Map(),
    id: new Map(),
  };

  /** The change was accepted, and is not to be seen yet. */
  accepted(change: AskedChange, clock: Pick<Clock, 'now' | 'monotonic'>, answer: Unseen['answer'] = 'accepted'): void {
    const last = this.inARow(change, clock.monotonic());
    const before = last?.answer === answer ? last : undefined;
    const times = (before?.times ?? 0) + 1;
    this.#note(change, clock, { answer, times, ...(before && { at: before.at }) });
  }

  /** The change was asked for, and nobody knows whether it was accepted: it may be asked for again at once. */
  mayLand(change: AskedChange, clock: Pick<Clock, 'now' | 'monotonic'>): void {
    if (this.inARow(change, clock.monotonic()) === undefined)
      this.#note(change, clock, { answer: 'accepted', times: 0 });
  }

  /** `at`: absent if this is the first of them. */
  #note(
    change: AskedChange,
    clock: Pick<Clock, 'now' | 'monotonic'>,
    known: Pick<Unseen, 'answer' | 'times'> & Partial<Pick<Unseen, 'at'>>,
  ): void {
    const part = partOf(change.changes);
    const answeredMs = clock.monotonic();
    const pauseMs = known.times === 0 ? 0 : ceilingMs(PAUSES[part], known.times - 1);
    const at = new Date(clock.now()).toISOString();
    this.#last[part].set(change.key, { at, ...known, change, answeredMs, untilMs: answeredMs + pauseMs });
  }

  /** The change, if all of it was accepted a short time ago and the cluster is in all of it as it was then; undefined otherwise. */
  awaited(change: AskedChange, nowMs: number): Unseen | undefined {
    const last = this.#same(change);
    // Once it is asked for again at once, as somebody may have undone it; a cloud that takes it back again must wait.
    if (last?.isGone === true && last.times === 1) return undefined;
    return change.changes.backup === undefined && nowMs < (last?.untilMs ?? 0) ? last : undefined;
  }

  /**
   * Whether all that differs from the spec is our own doing: a change that was accepted, or may have been, and is shown only now that
   * the spec was changed back, or one that was shown and is gone again a moment later. At first that may be somebody else's doing, and
   * counts as that unless nothing would be done about it. `isLeftAsIs`: what others change stays.
   */
  explains(of: Of, differing: readonly Difference[], nowMs: number, isLeftAsIs: boolean): boolean {
    const { cluster } = of;
    const asked = (part: Part) => this.#mayShow(of, part, nowMs)?.change.changes;
    const isOurs = ({ field, desired }: Difference) => {
      switch (field) {
        case 'machineType':
        case 'storageSizeGB':
          return this.#explainsSetting(of, field, nowMs, isLeftAsIs);
        case 'state': {
          const states = desired === 'Running' ? ['suspending', 'suspended'] : ['resuming', 'running'];
          return asked('status')?.status === states[1] && states.includes(cluster.status);
        }
        case 'clusterID':
          return asked('id')?.id === cluster.id;
        default:
          return false;
      }
    };
    return differing.length > 0 && differing.every(isOurs);
  }

  #explainsSetting(of: Of, field: 'machineType' | 'storageSizeGB', nowMs: number, isLeftAsIs: boolean): boolean {
    const last = this.#mayShow(of, 'settings', nowMs);
    const asked = last?.change.changes[field];
    if (last === undefined || asked === undefined) return false;
    const isFresh = nowMs < last.untilMs + UNSETTLED_MS;
    const isAsBefore = isFresh && of.cluster[field] === last.change.cluster[field];
    return of.cluster[field] === asked || (isAsBefore && (isLeftAsIs || last.isGone !== true || last.times > 1));
  }

  /** What was asked for of this cluster, and may show late. */
  #mayShow(of: Of, part: Part, nowMs: number): Unseen | undefined {
    const last = this.#lastOf(of, part);
    return last !== undefined && nowMs < last.untilMs + IN_A_ROW_MS ? last : undefined;
  }

  #lastOf({ key, uid, cluster }: Of, part: Part): Unseen | undefined {
    const last = this.#last[part].get(key);
    return last?.change.uid === uid && last.change.cluster.createdAt === cluster.createdAt ? last : undefined;
  }

  /**
   * Takes the cluster as it is now, before it is judged how it came to differ. `formerListedAt`: as of when a List showed it as it was
   * before. Settings or a state that a List showed are settled: what takes them back later comes from elsewhere. An answer alone proves
   * less.
   */
  looks(key: ObjectKey, cluster: Cluster, formerListedAt: number): void {
    for (const part of ['settings', 'status'] as const) {
      const last = this.#last[part].get(key);
      if (last === undefined) continue;
      const isShownNow = FIELDS.every((field) => isShown(last.change.changes, cluster, field));
      const isGone = part === 'settings' && last.wasShown === true;
      if (last.wasShown === true && !isShownNow && formerListedAt > last.answeredMs) this.#last[part].delete(key);
      else if (last.wasShown !== isShownNow) this.#last[part].set(key, { ...last, wasShown: isShownNow, isGone });
    }
  }

  /** Takes the cluster as it is now: once it shows all that was accepted, later differences came from elsewhere. */
  shows(key: ObjectKey, cluster: Cluster, nowMs: number): void {
    for (const part of ['settings', 'status', 'id'] as const) {
      const last = this.#last[part].get(key);
      if (last === undefined || !FIELDS.every((field) => isShown(last.change.changes, cluster, field))) continue;
      if (nowMs >= last.answeredMs + UNSETTLED_MS) this.#last[part].delete(key);
    }
  }

  /** The change, if it was accepted and is not to be seen yet, even if it may be requested again. */
  inARow(change: AskedChange, nowMs: number): Unseen | undefined {
    const last = this.#same(change);
    return last !== undefined && last.times > 0 && nowMs < last.untilMs + IN_A_ROW_MS ? last : undefined;
  }

  #same(asked: AskedChange): Unseen | undefined {
    const { changes, cluster } = asked;
    const last = this.#lastOf(asked, partOf(changes));
    if (last === undefined) return undefined;
    const { change } = last;
    const isSame = FIELDS.every(
      (field) =>
        changes[field] === undefined ||
        (changes[field] === change.changes[field] && (field === 'status' || cluster[field] === change.cluster[field])),
    );
    return isSame ? last : undefined;
  }

  forget(key: ObjectKey): void {
    for (const part of Object.values(this.#last)) part.delete(key);
  }
}
