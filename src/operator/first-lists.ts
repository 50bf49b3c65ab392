import { inSlices } from '../base/slices.ts';
import { type AnyObject, isForbidden, type KubeApi, NAMESPACES } from '../kube/api.ts';
import { splitKey } from '../kube/object.ts';
import type { Informer } from '../runtime/informer.ts';

/** More are only counted: all of perhaps a hundred namespaces may wait for the same. */
const MOST_NAMED = 3;
/** What is forgotten at once. Each makes others look: thousands would hold everything up. */
const SLICE = 20;

/** A collection, by its plural name, and the namespaces whose first list has not come; undefined: all namespaces. */
interface Listed {
  readonly plural: string;
  readonly informer: { readonly unsynced: ReadonlySet<string | undefined> };
}

/** Why first lists have not come yet. */
export class FirstLists {
  /** By collection and namespace: what a person can know of the last failure. */
  readonly #causes = new Map<string, string>();

  failed(plural: string, namespace: string | undefined, cause: string): void {
    this.#causes.set(keyOf(plural, namespace), cause);
  }

  /** Returns what is waited for, where, and why; undefined: all lists have come. */
  waiting(collections: readonly Listed[]): string | undefined {
    const plurals = new Map<string | undefined, string[]>();
    for (const { plural, informer } of collections)
      for (const namespace of informer.unsynced) plurals.set(namespace, [...(plurals.get(namespace) ?? []), plural]);
    /** Namespaces that wait for the same. */
    const alike = new Map<string, { readonly what: string; readonly why: string; readonly where: string[] }>();
    for (const [namespace, missing] of plurals) {
      const cause = missing.flatMap((plural) => this.#causes.get(keyOf(plural, namespace)) ?? [])[0];
      const what = missing.join(', ');
      const why = cause === undefined ? '' : `: ${cause}`;
      const group = alike.get(`${what}${why}`) ?? { what, why, where: [] };
      alike.set(`${what}${why}`, group);
      if (namespace !== undefined) group.where.push(namespace);
    }
    if (alike.size === 0) return undefined;
    // What nothing is known of comes by itself, most likely.
    const groups = [...alike.values()].toSorted((one, other) => Number(one.why === '') - Number(other.why === ''));
    const texts = groups.slice(0, MOST_NAMED).map(({ what, why, where }) => `${what}${placeWords(where)}${why}`);
    const more = groups.slice(MOST_NAMED).flatMap(({ where }) => where).length;
    return `Waiting for the first list of ${texts.join('. Also of ')}${more === 0 ? '' : `. Namespaces not named here: ${more}`}`;
  }
}

function placeWords(names: readonly string[]): string {
  if (names.length === 0) return '';
  const named = names.slice(0, MOST_NAMED).join(', ');
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return ` in namespace${names.length === 1 ? '' : 's'} ${named}${more}`;
}

function keyOf(plural: string, namespace: string | undefined): string {
  return `${plural} ${namespace ?? ''}`;
}

/**
 * A list or watch of a namespace was refused: if there is no such namespace, it counts as empty. So its first list does not hold up the
 * others, and what it held is forgotten, though its Role was gone before a watch could report that. Whatever comes into it later has
 * nothing yet. One that exists does not count as empty, even if it is being deleted: as long as our finalizers hold objects in it, they
 * may have a cluster, a username or a Secret, or need a space or a cluster that is elsewhere. Nothing may be done for another object as
 * if they did not.
 */
export async function absentIsEmpty<T extends AnyObject>(
  api: Pick<KubeApi, 'get'>,
  informer: Pick<Informer<T>, 'unsynced' | 'store' | 'take'>,
  namespace: string | undefined,
  error: unknown,
): Promise<void> {
  if (namespace === undefined || !isForbidden(error)) return;
  const keys = [...informer.store.keys()].filter((key) => splitKey(key).namespace === namespace);
  if (keys.length === 0 && !informer.unsynced.has(namespace)) return;
  // Without the right to read it, nobody knows.
  const isAbsent = async () => (await api.get(NAMESPACES, { name: namespace }).catch(() => null)) === undefined;
  if (!(await isAbsent())) return;
  // Asked twice: what is here by now may be of a namespace that was created after the first answer.
  const objects = keys.flatMap((key) => informer.store.get(key) ?? []);
  if (objects.length > 0 && (await isAbsent()))
    await inSlices(objects, SLICE, (object) => informer.store.delete(object));
  // What a list brought meanwhile stays.
  if (informer.unsynced.has(namespace))
    await informer.take(namespace, { type: 'listed', keys: new Set(informer.store.keys()), resourceVersion: '0' });
}
