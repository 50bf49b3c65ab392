import { nearest } from '../base/nearest.ts';
import { type ObjectKey, objectKey, splitKey } from '../kube/object.ts';
import { NOT_WATCHED } from './namespaces.ts';

/** With more names than this, no similar one is suggested: thousands of objects may wait for one that is applied after them. */
const MOST_NAMES = 50;

interface Missing {
  /** The field that names it, such as spaceRef. */
  readonly field: string;
  readonly name: string;
  readonly namespace: string;
  /** The namespace of the object that names it. Names in other namespaces are not shown, as the reader may not be allowed to see them. */
  readonly own: string;
}

/** What to do if an object refers to one that does not exist. `keys`: the existing objects of that kind. */
export function createIt(
  watches: (namespace: string) => boolean,
  { field, name, namespace, own }: Missing,
  keys: () => Iterable<ObjectKey>,
): string {
  if (!watches(namespace)) return NOT_WATCHED;
  const meant = namespace === own ? nearest(name, namesIn(namespace, keys())) : undefined;
  return `create it, or check ${field}${meant === undefined ? '' : ` (did you mean "${meant}"?)`}`;
}

function namesIn(namespace: string, keys: Iterable<ObjectKey>): readonly string[] {
  const prefix = objectKey(namespace, '');
  const names: string[] = [];
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue;
    if (names.length === MOST_NAMES) return [];
    names.push(splitKey(key).name);
  }
  return names;
}
