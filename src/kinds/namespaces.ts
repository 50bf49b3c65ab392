import type { Immutable } from '../base/immutable.ts';
import { RECONCILE_AT } from '../kube/annotations.ts';

/** `allowedNamespaces`, as in Gateway API; absent: Same. */
type AllowedNamespaces = Immutable<{
  from: 'Same' | 'All' | 'Selector';
  selector?: LabelSelector | undefined;
}>;

type LabelSelector = Immutable<{
  matchLabels?: Record<string, string> | undefined;
  matchExpressions?:
    | { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] | undefined }[]
    | undefined;
}>;

/** What to do if an object refers to one in a namespace that is not watched. The other object may well exist. */
export const NOT_WATCHED =
  'this operator does not watch that namespace. Have it added to --namespaces, or refer to one that is watched';

/** What to do if `whose` object does not admit a namespace. What its selector asks for is not told to those that it does not admit. */
export function admitIt(allowed: AllowedNamespaces | undefined, whose: string): string {
  return allowed?.from === 'Selector'
    ? `have it labelled as ${whose} allowedNamespaces asks, and then annotate this object with a new ${RECONCILE_AT}, as labels of namespaces are not watched`
    : `have it added to ${whose} allowedNamespaces`;
}

/** Whether a namespace other than the object's own is admitted. Calls `labels` only if they decide. */
export async function admits(
  allowed: AllowedNamespaces | undefined,
  labels: () => Promise<Readonly<Record<string, string>> | undefined>,
): Promise<boolean> {
  if (allowed === undefined || allowed.from === 'Same') return false;
  if (allowed.from === 'All') return true;
  const found = await labels();
  return found !== undefined && matches(allowed.selector ?? {}, found);
}

/** A metav1.LabelSelector: all requirements must hold; an empty selector matches everything. */
export function matches(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  // A label may be called as something that every object has, such as `constructor`.
  const found = new Map(Object.entries(labels));
  const exact = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => found.get(key) === value);
  return (
    exact &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = found.get(key);
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value);
        case 'NotIn':
          return value === undefined || !values.includes(value);
        case 'Exists':
          return value !== undefined;
        case 'DoesNotExist':
          return value === undefined;
        default:
          return operator satisfies never;
      }
    })
  );
}
