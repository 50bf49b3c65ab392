import type { ObjectKey, ObjectMeta } from '../kube/object.ts';

/** For how long this process has seen something of each object. Recorded times may come from other clocks. */
export class Elapsed {
  readonly #since = new Map<ObjectKey, { readonly uid: string; readonly ms: number }>();

  /** Starts measuring, unless it has already. Returns the milliseconds since the start. `nowMs`: monotonic. */
  begin(
    { key, metadata: { uid } }: { readonly key: ObjectKey; readonly metadata: Pick<ObjectMeta, 'uid'> },
    nowMs: number,
  ): number {
    const known = this.#since.get(key);
    const since = known?.uid === uid ? known : { uid, ms: nowMs };
    this.#since.set(key, since);
    return nowMs - since.ms;
  }

  /** Returns the milliseconds since `begin`; undefined: it has not begun. */
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
