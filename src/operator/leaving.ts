import { leavingFrom as databaseLeaving } from '../kinds/database/records.ts';
import { leavingFrom as userLeaving } from '../kinds/databaseuser/records.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { Informer } from '../runtime/informer.ts';

/** Which users and databases are going, by the cluster that they are on: kept by changes, as there may be many thousand. */
export class Leaving {
  readonly #byCluster = new Map<ObjectKey, Set<string>>();
  readonly #onLeft: (cluster: ObjectKey) => void;

  /** `onLeft`: one that was going from this cluster is gone. */
  constructor(users: Informer<KubeObject>, databases: Informer<KubeObject>, onLeft: (cluster: ObjectKey) => void) {
    this.#onLeft = onLeft;
    users.onChange((_key, before, after) => this.#changed(userLeaving, before, after));
    databases.onChange((_key, before, after) => this.#changed(databaseLeaving, before, after));
  }

  /** As `DatabaseUser app`. */
  from(cluster: ObjectKey): readonly string[] {
    return [...(this.#byCluster.get(cluster) ?? [])].toSorted();
  }

  #changed(
    leavingFrom: (object: KubeObject | undefined) => ObjectKey | undefined,
    before: KubeObject | undefined,
    after: KubeObject | undefined,
  ): void {
    const [left, leaves] = [leavingFrom(before), leavingFrom(after)];
    if (leaves !== undefined && after !== undefined) {
      const names = this.#byCluster.get(leaves) ?? new Set();
      this.#byCluster.set(leaves, names.add(nameOf(after)));
    } else if (left !== undefined && before !== undefined) {
      const names = this.#byCluster.get(left);
      if (names?.delete(nameOf(before)) && names.size === 0) this.#byCluster.delete(left);
      this.#onLeft(left);
    }
  }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
