import { keyOf, type ObjectKey, type ObjectMeta } from '../kube/object.ts';

/** How far an object has come with the thing it claims: it has it, has begun to create it, only wants it, or wants it and cannot have it. */
export type Hold = 'has' | 'begun' | 'wants' | 'cannot';

const ORDER: readonly Hold[] = ['has', 'begun', 'wants', 'cannot'];

/**
 * Returns which of several objects that want the same thing comes first: the one that has come farthest, then the oldest.
 * Undefined: the subject itself. The others may include the subject.
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
  for (const other of others) if (rankOf(other) < rankOf(first)) first = other;
  return first.metadata.uid === subject.metadata.uid ? undefined : keyOf(first);
}
