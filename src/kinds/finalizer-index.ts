import { isOfGroup } from '../base/group.ts';
import type { AnyObject } from '../kube/api.ts';
import type { ObjectKey } from '../kube/object.ts';

/** Which Secrets carry which of our finalizers, kept up to date by changes: there may be thousands of Secrets, and few of these. */
export class FinalizerIndex {
  readonly #keys = new Map<string, Set<ObjectKey>>();

  changed(key: ObjectKey, before: AnyObject | undefined, after: AnyObject | undefined): void {
    for (const finalizer of oursOf(before)) {
      const keys = this.#keys.get(finalizer);
      if (keys?.delete(key) && keys.size === 0) this.#keys.delete(finalizer);
    }
    for (const finalizer of oursOf(after)) {
      const keys = this.#keys.get(finalizer) ?? new Set();
      this.#keys.set(finalizer, keys.add(key));
    }
  }

  withFinalizer(finalizer: string): Iterable<ObjectKey> {
    return this.#keys.get(finalizer) ?? [];
  }
}

function oursOf(secret: AnyObject | undefined): readonly string[] {
  return (secret?.metadata.finalizers ?? []).filter(isOfGroup);
}
