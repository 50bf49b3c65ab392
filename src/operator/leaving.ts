import { Multimap } from '../base/multimap.ts';
import { endsOn as databaseEndsOn } from '../kinds/database/records.ts';
import { endsOn as userEndsOn } from '../kinds/databaseuser/records.ts';
import type { EndsOn } from '../kinds/server/dependents.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { Informer } from '../runtime/informer.ts';

/** Which users and databases go with their objects, by the cluster that they are on: kept by changes, as there may be many thousand. */
export class Leaving {
  readonly #going = new Multimap();
  readonly #staying = new Multimap();
  readonly #onChange: (cluster: ObjectKey) => void;

  /** `onChange`: one of this cluster begins to go, or is gone. */
  constructor(users: Informer<KubeObject>, databases: Informer<KubeObject>, onChange: (cluster: ObjectKey) => void) {
    this.#onChange = onChange;
    users.onChange((_key, before, after) => this.#changed(userEndsOn, before, after));
    databases.onChange((_key, before, after) => this.#changed(databaseEndsOn, before, after));
  }

  /** Those whose objects are being deleted, as `DatabaseUser shop/app`. */
  from(cluster: ObjectKey): readonly string[] {
    return [...this.#going.get(cluster)].toSorted();
  }

  /** Whether there are others, whose objects may be deleted at any moment. */
  mayFollow(cluster: ObjectKey): boolean {
    return this.#staying.has(cluster);
  }

  #changed(
    endsOn: (object: KubeObject | undefined) => EndsOn | undefined,
    before: KubeObject | undefined,
    after: KubeObject | undefined,
  ): void {
    const [was, is] = [endsOn(before), endsOn(after)];
    if (was?.cluster === is?.cluster && was?.leaves === is?.leaves) return;
    if (was !== undefined && before !== undefined) this.#of(was).delete(was.cluster, nameOf(before));
    if (is !== undefined && after !== undefined) this.#of(is).add(is.cluster, nameOf(after));
    if (was?.leaves) this.#onChange(was.cluster);
    else if (is?.leaves) this.#onChange(is.cluster);
  }

  #of({ leaves }: { readonly leaves: boolean }): Multimap {
    return leaves ? this.#going : this.#staying;
  }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}
