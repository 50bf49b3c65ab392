import { placeInFull } from '../../kinds/databasespace/place.ts';
import { placeNamedBy } from '../../kinds/databasespace/places.ts';
import { type KubeObject, keyOf, type ObjectKey, objectKey, splitKey } from '../../kube/object.ts';

export type Sharded = 'spaces' | 'clusters' | 'users' | 'databases';

export const SHARDED: readonly Sharded[] = ['spaces', 'clusters', 'users', 'databases'];

/** Something by key, for each kind. */
export type ByKind<T> = Readonly<Record<Sharded, Map<ObjectKey, T>>>;

export function byKind<T>(): ByKind<T> {
  return { spaces: new Map(), clusters: new Map(), users: new Map(), databases: new Map() };
}

/** The object that another one is in. */
export interface Outer {
  readonly kind: 'spaces' | 'clusters';
  readonly key: ObjectKey;
}

interface Ref {
  readonly name: string;
  readonly namespace?: string;
}

/**
 * Knows in which shard each object is. A shard is a space in the cloud, whichever DatabaseSpaces name it: a cluster is in its space's
 * shard, a user or database in its cluster's.
 */
export class Shards {
  /** What `withinOf` returned for each object seen: reading the object again takes much longer. */
  readonly #within: ByKind<string> = byKind();
  readonly #namespaces: readonly string[] | undefined;

  /** `namespaces`: the watched ones; undefined: all. */
  constructor(namespaces: readonly string[] | undefined) {
    this.#namespaces = namespaces;
  }

  /** Takes in the object's current version; undefined: it is gone. Returns the shard it has left, if that was known and has changed. */
  see(kind: Sharded, key: ObjectKey, object: KubeObject | undefined): string | undefined {
    const [former, within] = [this.#within[kind].get(key), object && withinOf(kind, object)];
    if (former === within) return undefined;
    const left = former === undefined ? undefined : this.of(kind, key);
    if (within === undefined) this.#within[kind].delete(key);
    else this.#within[kind].set(key, within);
    return left;
  }

  has(kind: Sharded, key: ObjectKey): boolean {
    return this.#within[kind].has(key);
  }

  keys(kind: Sharded): readonly ObjectKey[] {
    return [...this.#within[kind].keys()];
  }

  /** Returns the shard. If the object, or one it is in, is not known, returns that one's key. */
  of(kind: Sharded, key: ObjectKey): string {
    const outer = this.outerOf(kind, key);
    return outer === undefined ? (this.#within[kind].get(key) ?? key) : this.of(outer.kind, outer.key);
  }

  /** Returns what the object refers to, whether it exists or not; undefined for a space, and for an unknown object. */
  outerOf(kind: Sharded, key: ObjectKey): Outer | undefined {
    const within = this.#within[kind].get(key);
    if (within === undefined || kind === 'spaces') return undefined;
    return { kind: kind === 'clusters' ? 'spaces' : 'clusters', key: within };
  }

  /** Returns the unknown object that decides the shard; undefined if all are known, or the object itself is gone. */
  unseen(kind: Sharded, key: ObjectKey): Outer | undefined {
    const outer = this.outerOf(kind, key);
    // No replica sees objects outside the watched namespaces.
    if (outer === undefined || this.#namespaces?.includes(splitKey(outer.key).namespace) === false) return undefined;
    return this.has(outer.kind, outer.key) ? this.unseen(outer.kind, outer.key) : outer;
  }
}

/** Returns, for a space, its shard; for any other object, the key of the object it is in. An object may be older than the rules. */
function withinOf(kind: Sharded, object: KubeObject): string {
  const { metadata, spec } = object;
  if (kind === 'spaces') {
    const place = placeNamedBy(object);
    return place === undefined ? keyOf(object) : placeInFull(place);
  }
  const { spaceRef, clusterRef } = (spec ?? {}) as { readonly spaceRef?: Ref; readonly clusterRef?: Ref };
  const ref = spaceRef ?? clusterRef;
  return objectKey(ref?.namespace ?? metadata.namespace ?? '', ref?.name ?? '');
}
