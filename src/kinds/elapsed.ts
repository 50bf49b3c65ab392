import type { ObjectKey, ObjectMeta } from '../kube/object.ts';

/** For how long this process has seen something of each object: what was written down is by clocks which may be others. */
export class Elapsed {
  readonly #since = new Map<ObjectKey, { readonly uid: string; readonly ms: number }>();

  /** Begins to measure, unless it does so already. Returns for how many milliseconds it has. `nowMs`: monotonic. */
  begin(
    { key, metadata: { uid } }: { readonly key: ObjectKey; readonly metadata: Pick<ObjectMeta, 'uid'> },
    nowMs: number,
  ): number {
    const known = this.#since.get(key);
    const since = known?.uid === uid ? known : { uid, ms: nowMs };
    this.#since.set(key, since);
    return nowMs - since.ms;
  }

  /** The same, where it has begun; undefined: it has not. */
  elapsedMs(
    { key, metadata: { uid } }: { readonly key: ObjectKey; readonly metadata: Pick<ObjectMeta, 'uid'> },
    nowMs: number,
  ): number | undefined {
    const known = this.#since.get(key);
    return known?.uid === uid ? nowMs - known.ms : undefined;
  }

  forget(key: ObjectKey): void {
    this.#since.delete(key);
  }
}
