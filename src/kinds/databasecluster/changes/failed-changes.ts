import { type Backoff, ceilingMs } from '../../../base/backoff.ts';
import { failureOf } from '../../../kube/failure.ts';
import type { ObjectKey } from '../../../kube/object.ts';

/** The same pauses as the queue's: a change that only a person can mend is requested more slowly. */
const PAUSES: Readonly<Record<'transient' | 'terminal', Backoff>> = {
  transient: { initialMs: 1_000, maxMs: 300_000 },
  terminal: { initialMs: 60_000, maxMs: 1_800_000 },
};

/** A change, and everything that may decide whether it is accepted. */
export interface Requested {
  readonly key: ObjectKey;
  /** What is requested for what, and as whom: if any of that differs, it is another change. */
  readonly what: string;
  readonly by: object;
}

interface Failed extends Pick<Requested, 'what'> {
  /** Weak, as a client that was replaced holds credentials that nobody uses any more. */
  readonly by: WeakRef<object>;
  readonly error: unknown;
  readonly times: number;
  readonly untilMs: number;
}

/** What each object's last change failed with, so that a pass that soon comes for something else does not request it again. */
export class FailedChanges {
  readonly #last = new Map<ObjectKey, Failed>();

  /** Requests the change. `patient`: throws the error of a moment ago instead. `nowMs`: monotonic. */
  async ask<T>(
    { key, what, by }: Requested,
    patient: boolean,
    nowMs: () => number,
    call: () => Promise<T>,
  ): Promise<T> {
    const last = this.#last.get(key);
    const before = last?.what === what && last.by.deref() === by ? last : undefined;
    if (patient && before !== undefined && nowMs() < before.untilMs) throw before.error;
    try {
      const answer = await call();
      this.#last.delete(key);
      return answer;
    } catch (error) {
      const { lasting, heldBack } = failureOf(error);
      // Neither says anything about the change.
      if (lasting === 'conflict' || heldBack !== undefined) throw error;
      const times = (before?.times ?? 0) + 1;
      const untilMs = nowMs() + ceilingMs(PAUSES[lasting], times - 1);
      this.#last.set(key, { what, by: new WeakRef(by), error, times, untilMs });
      throw error;
    }
  }

  forget(key: ObjectKey): void {
    this.#last.delete(key);
  }
}
