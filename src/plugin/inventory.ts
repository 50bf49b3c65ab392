import { definitions } from '../kinds/definitions.ts';
import { isNotFound, type KubeApi, KubeError, NAMESPACES } from '../kube/api.ts';
import type { ResourceDefinition } from '../kube/definition.ts';
import { listAllPages } from '../kube/list.ts';
import { objectKey } from '../kube/object.ts';
import { unlessForbidden } from '../kube/unless-forbidden.ts';
import type { Reached } from './command-line/reach.ts';
import { type Item, itemOf, nameOf } from './item.ts';
import { definitionOf, notThere, resourceOf } from './kinds.ts';
import { type NodeName, nodeName, placeOf, splitNode } from './node-name.ts';

/** The objects of our kinds that were found. */
export interface Inventory extends Reached {
  readonly items: readonly Item[];
  /** Objects that are referred to but that the caller may not read. */
  readonly hidden: ReadonlySet<NodeName>;
  /** Rights that the caller lacks, in the API server's words; what needs them is not among the items. */
  readonly refused?: readonly string[];
  /** Why no operator seems to be running; undefined: one may be. */
  readonly operator?: string | undefined;
}

/** Up to this many objects of one kind and namespace are read by name; more are listed. */
const READ_BY_NAME = 3;

/**
 * Loads all objects of our kinds, in one namespace or in all, with one paged list per kind. Also reads what they need from other
 * namespaces. Throws KubeError if the caller may list none of the kinds.
 */
export async function loadInventory(
  api: KubeApi,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<Inventory> {
  const lists = await Promise.all(
    definitions.map((definition) => unlessForbidden(listAll(api, definition, namespace, signal))),
  );
  const refused = lists.filter((list) => list instanceof KubeError);
  const [first] = refused;
  if (first !== undefined && refused.length === lists.length) throw first;
  const items = new Map(
    lists.flatMap((list) => (list instanceof KubeError ? [] : list.map((item) => [nameOf(item), item]))),
  );
  const known = new Map<NodeName, 'hidden' | 'absent'>();
  const mayList = (kind: string) => !(lists[definitions.findIndex((each) => each.kind === kind)] instanceof KubeError);
  const missing = () => {
    const parents = new Set([...items.values()].flatMap(({ parent }) => (parent === undefined ? [] : [parent])));
    return [...parents].filter((name) => !items.has(name) && !known.has(name));
  };
  for (let wanted = missing(); wanted.length > 0; wanted = missing()) {
    for (const [place, names] of Map.groupBy(wanted, placeOf)) {
      const { kind, namespace: elsewhere } = splitNode(place);
      const looked = (namespace === undefined || namespace === elsewhere) && mayList(kind);
      const found = looked ? [] : await readNodes(api, kind, elsewhere, names, signal);
      for (const item of found) if (item !== 'hidden') items.set(nameOf(item), item);
      const rest = found.includes('hidden') ? 'hidden' : 'absent';
      for (const name of names) if (!items.has(name)) known.set(name, rest);
    }
  }
  const hidden = new Set([...known].flatMap(([name, why]) => (why === 'hidden' ? [name] : [])));
  return { items: [...items.values()], hidden, refused: refused.map(({ message }) => message) };
}

/**
 * Loads one object with everything that it needs; undefined: it does not exist. Needed objects that may not be read are hidden.
 * Throws KubeError 404 if the API server does not serve the kind.
 */
export async function loadChain(
  api: KubeApi,
  definition: ResourceDefinition,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<{ readonly item: Item; readonly inventory: Inventory } | undefined> {
  const object = await api.get(resourceOf(definition), ref, signal);
  if (object === undefined) {
    await mustBeServed(api, definition, ref.namespace, signal);
    return undefined;
  }
  const item = itemOf(definition, object);
  const items = [item];
  const hidden = new Set<NodeName>();
  for (let name = item.parent; name !== undefined; name = items.at(-1)?.parent) {
    const found = await readNode(api, name, signal);
    if (found === 'hidden') hidden.add(name);
    if (typeof found !== 'object') break;
    items.push(found);
  }
  return { item, inventory: { items, hidden } };
}

/** Says that the object does not exist, and suggests a name that may be meant. `reach`: from `reachOf`. */
export async function notThereText(
  api: KubeApi,
  definition: ResourceDefinition,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
  reach: string,
): Promise<string> {
  const names = await namesIn(api, definition, namespace, signal);
  return notThere(nodeName(definition.kind, objectKey(namespace, name)), names, reach);
}

/**
 * The names in the namespace, to suggest some of them; empty if they may not be listed. Throws KubeError 404 if the API server does not
 * serve the kind, as that is then why a name does not exist.
 */
export async function namesIn(
  api: KubeApi,
  definition: ResourceDefinition,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const objects = await listAllPages(api, resourceOf(definition), { namespace, metadataOnly: true }, signal);
    return objects.map(({ metadata }) => metadata.name);
  } catch (error) {
    if (error instanceof KubeError && !isNotFound(error)) return [];
    throw error;
  }
}

/** An API server answers the same for a missing object as for a missing kind; this tells them apart. */
async function mustBeServed(
  api: KubeApi,
  definition: ResourceDefinition,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.list(resourceOf(definition), { namespace, limit: 1 }, signal);
  } catch (error) {
    // A caller that may not list the kind gets what is known.
    if (isNotFound(error)) throw error;
  }
}

/** Those of the named objects that exist, and perhaps others; includes `hidden` if the caller may not read something. */
async function readNodes(
  api: KubeApi,
  kind: string,
  namespace: string,
  names: readonly NodeName[],
  signal: AbortSignal,
): Promise<readonly (Item | 'hidden')[]> {
  const definition = definitionOf(kind);
  if (definition !== undefined && names.length > READ_BY_NAME) {
    const listed = await unlessForbidden(listAll(api, definition, namespace, signal));
    const wanted = new Set(names);
    return listed instanceof KubeError ? ['hidden'] : listed.filter((item) => wanted.has(nameOf(item)));
  }
  const found = await Promise.all(names.map((name) => readNode(api, name, signal)));
  return found.filter((item) => item !== undefined);
}

/** `hidden`: the caller may not read it. Undefined: it does not exist. */
async function readNode(api: KubeApi, node: NodeName, signal: AbortSignal): Promise<Item | 'hidden' | undefined> {
  const { kind, namespace, name } = splitNode(node);
  const definition = definitionOf(kind);
  if (definition === undefined) return undefined;
  const object = await unlessForbidden(api.get(resourceOf(definition), { namespace, name }, signal));
  if (object instanceof KubeError) return 'hidden';
  return object === undefined ? undefined : itemOf(definition, object);
}

/** Reports whether there is no such namespace; false if the caller cannot know. */
export async function isNoNamespace(api: KubeApi, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await api.get(NAMESPACES, { name }, signal)) === undefined;
  } catch {
    return false;
  }
}

/** All objects of one kind. `namespace` undefined: in all namespaces. */
export async function listAll(
  api: KubeApi,
  definition: ResourceDefinition,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const objects = await listAllPages(api, resourceOf(definition), { namespace }, signal);
  return objects.map((object) => itemOf(definition, object));
}
