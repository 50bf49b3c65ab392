import { keyOf, type ObjectKey, type ObjectMeta } from '../kube/object.ts';

/** How far an object has come with what it stands for: it has it, is about to create it, or only wants it. */
export type Hold = 'has' | 'begun' | 'wants';

const ORDER: readonly Hold[] = ['has', 'begun', 'wants'];

/**
 * Which of several objects that want the same thing comes first: the one that has come farthest, then the older one.
 * Undefined: it is the subject itself, which may stand among the others too.
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
