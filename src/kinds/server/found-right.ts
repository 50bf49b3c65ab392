import { type Condition, isStatusConditionTrue } from '../../kube/condition.ts';
import { failureOf } from '../../kube/failure.ts';
import type { ObjectKey, ObjectMeta } from '../../kube/object.ts';

interface Subject {
  readonly key: ObjectKey;
  readonly metadata: ObjectMeta;
  readonly status: { readonly observedGeneration: number; readonly conditions?: readonly Condition[] | undefined };
}

/**
 * Which objects were as their spec says when their server was last looked at. While an object waits for its cluster, Ready no longer
 * tells. Losing this leaves Ready unknown until the server can be looked at, and is never a mistake.
 */
export class FoundRight {
  readonly #found = new Map<ObjectKey, string>();

  /** Notes whether the object is, as Ready may tell only now, and returns whether it was last with the spec that it has. For each pass. */
  note({ key, metadata, status }: Subject): boolean {
    const about = `${metadata.uid} ${metadata.generation}`;
    const isOfThisSpec = status.observedGeneration === metadata.generation;
    if (isOfThisSpec && isStatusConditionTrue(status.conditions, 'Ready')) this.#found.set(key, about);
    return this.#found.get(key) === about;
  }

  /** Looks at the server. What is found there counts from then on; a failure that may pass finds nothing. */
  async looking<T>(key: ObjectKey, look: () => Promise<T>): Promise<T> {
    try {
      const seen = await look();
      this.#found.delete(key);
      return seen;
    } catch (error) {
      if (failureOf(error).lasting === 'terminal') this.#found.delete(key);
      throw error;
    }
  }

  forget(key: ObjectKey): void {
    this.#found.delete(key);
  }
}
