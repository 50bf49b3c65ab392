import { Multimap } from '../base/collections/multimap.ts';
import { endsOn as databaseEndsOn } from '../kinds/database/records.ts';
import { endsOn as userEndsOn } from '../kinds/databaseuser/records.ts';
import type { Dependents } from '../kinds/dependents-first.ts';
import type { EndsOn } from '../kinds/server/dependents.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { Informer } from '../runtime/informer.ts';

/** `isGoing`: one on this cluster begins to go, or is gone. Otherwise the first one that may go came, or the last one went. */
type LeavingChange = (cluster: ObjectKey, isGoing: boolean) => void;

/** Which users and databases go with their objects, by their cluster: kept by changes, as there may be many thousands. */
export class Leaving {
  readonly #going = new Multimap();
  /** How many of the others there are. */
  readonly #staying = new Map<ObjectKey, number>();
  readonly #onChange: LeavingChange;

  constructor(users: Informer<KubeObject>, databases: Informer<KubeObject>, onChange: LeavingChange) {
    this.#onChange = onChange;
    users.onChange((_key, before, after) => this.#changed(userEndsOn, before, after));
    databases.onChange((_key, before, after) => this.#changed(databaseEndsOn, before, after));
  }

  /** What is on the server of the cluster. */
  of(cluster: ObjectKey): Dependents {
    return { leaving: [...this.#going.get(cluster)].toSorted(), mayFollow: this.#staying.has(cluster) };
  }

  has(cluster: ObjectKey): boolean {
    return this.#staying.has(cluster) || this.#going.has(cluster);
  }

  #changed(
    endsOn: (object: KubeObject | undefined) => EndsOn | undefined,
    before: KubeObject | undefined,
    after: KubeObject | undefined,
  ): void {
    const [was, is] = [endsOn(before), endsOn(after)];
    if (was?.cluster === is?.cluster && was?.leaves === is?.leaves) return;
    const clusters = new Set([was, is].flatMap((ends) => ends?.cluster ?? []));
    const hadSome = new Set([...clusters].filter((cluster) => this.has(cluster)));
    if (was?.leaves && before !== undefined) this.#going.delete(was.cluster, nameOf(before));
    else if (was !== undefined) this.#count(was.cluster, -1);
    if (is?.leaves && after !== undefined) this.#going.add(is.cluster, nameOf(after));
    else if (is !== undefined) this.#count(is.cluster, 1);
    for (const cluster of clusters) {
      const isGoing = [was, is].some((ends) => ends?.cluster === cluster && ends.leaves);
      const isFirstOrLast = this.has(cluster) !== hadSome.has(cluster);
      if (isGoing || isFirstOrLast) this.#onChange(cluster, isGoing);
    }
  }

  #count(cluster: ObjectKey, by: 1 | -1): void {
    const count = (this.#staying.get(cluster) ?? 0) + by;
    if (count === 0) this.#staying.delete(cluster);
    else this.#staying.set(cluster, count);
  }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
