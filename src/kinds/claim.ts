import { isOfGroup } from '../base/group.ts';
import { keyOf, type ObjectKey, type ObjectMeta } from '../kube/object.ts';

/** How far an object has come with the thing it claims: it has it, has begun to create it, wants it, or wants it but cannot have it. */
export type Hold = 'has' | 'begun' | 'wants' | 'cannot';

const ORDER: readonly Hold[] = ['has', 'begun', 'wants', 'cannot'];

/**
 * Reports whether the object has let go of everything: it is being deleted, and only finalizers of others still keep it, perhaps for ever.
 * Nobody can add one of ours by then.
 */
export function hasLetGo({ deletionTimestamp, finalizers = [] }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && !finalizers.some(isOfGroup);
}

/**
 * Says what to do about an object that another one comes before: to delete that one may destroy what both want. `losing`: what goes with
 * it all the same.
 */
export function settling(orElse: string, losing = ''): string {
  return `delete this object, or set deletionPolicy: Retain on that one and delete it${losing}, or ${orElse}`;
}

/**
 * Returns which of several objects that want the same thing comes first: the one that has come farthest, then the oldest.
 * Undefined: the subject itself. The others may include the subject, and objects that have let go, which do not count.
 */
export function comesBefore<Claimant extends { readonly metadata: ObjectMeta }>(
  subject: Claimant,
  others: Iterable<Claimant>,
  holdOf: (claimant: Claimant) => Hold,
): ObjectKey | undefined {
  // Sorts as text.
  const rankOf = (claimant: Claimant) => {
    const { creationTimestamp = '', uid } = claimant.metadata;
    return [ORDER.indexOf(holdOf(claimant)), creationTimestamp, uid].join('/');
  };
  let first = subject;
  for (const other of others) if (!hasLetGo(other.metadata) && rankOf(other) < rankOf(first)) first = other;
  return first.metadata.uid === subject.metadata.uid ? undefined : keyOf(first);
}
