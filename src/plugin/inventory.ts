import { isRecord } from '../base/is-record.ts';
import { databaseDefinition } from '../kinds/database/schema.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import { definitions } from '../kinds/definitions.ts';
import { PAUSED } from '../kube/annotations.ts';
import { type AnyObject, type KubeApi, KubeError, NAMESPACES } from '../kube/api.ts';
import { type Condition, findStatusCondition } from '../kube/condition.ts';
import { parseStatus, type ResourceDefinition } from '../kube/definition.ts';
import { listAllPages } from '../kube/list.ts';
import { type ObjectKey, type ObjectMeta, objectKey, splitKey } from '../kube/object.ts';
import { notThere, resourceOf } from './kinds.ts';

/** An object of any of our kinds, with what is shown of it. */
export interface Item {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly metadata: ObjectMeta;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: ReturnType<typeof parseStatus<unknown>>;
  readonly conditions: readonly Condition[];
  /** The object that it cannot be without, as `kind namespace/name`; undefined for a space. */
  readonly parent: string | undefined;
}

/** What was found of our kinds. */
export interface Inventory {
  readonly items: readonly Item[];
  /** Objects, as `kind namespace/name`, that are referred to and that the caller may not read. */
  readonly hidden: ReadonlySet<string>;
  /** Rights that the caller lacks, in the API server's words: what they are needed for is not among the items. */
  readonly refused?: readonly string[];
  /** Why no operator seems to be running; undefined: one may be. */
  readonly operator?: string | undefined;
}

/** More objects of one kind and namespace than these are listed, fewer are read by name. */
const READ_BY_NAME = 3;

/**
 * All objects of our kinds, of one namespace or of all: one List a kind, in pages. What they need in other namespaces is
 * read as well. Throws KubeError where the caller may list none of them.
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
  const known = new Map<string, 'hidden' | 'absent'>();
  const mayList = (kind: string) => !(lists[definitions.findIndex((each) => each.kind === kind)] instanceof KubeError);
  const missing = () => {
    const parents = new Set([...items.values()].flatMap(({ parent }) => (parent === undefined ? [] : [parent])));
    return [...parents].filter((name) => !items.has(name) && !known.has(name));
  };
  for (let wanted = missing(); wanted.length > 0; wanted = missing()) {
    for (const [place, names] of Map.groupBy(wanted, placeOf)) {
      const [kind = '', elsewhere = ''] = place.split(' ');
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
 * One object with all that it needs; undefined: it is not there. What may not be read of that is hidden. Throws KubeError 404 where
 * the API server has no such kind.
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
  const hidden = new Set<string>();
  for (let name = item.parent; name !== undefined; name = items.at(-1)?.parent) {
    const found = await readNode(api, name, signal);
    if (found === 'hidden') hidden.add(name);
    if (typeof found !== 'object') break;
    items.push(found);
  }
  return { item, inventory: { items, hidden } };
}

/** That the object is not there, with the name that may be meant. */
export async function notThereText(
  api: KubeApi,
  definition: ResourceDefinition,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<string> {
  const names = await namesIn(api, definition, namespace, signal);
  return notThere(nodeName(definition.kind, objectKey(namespace, name)), names);
}

/** Names in the namespace, of which one may be meant by another that is not there; none where they may not be listed. */
export async function namesIn(
  api: KubeApi,
  definition: ResourceDefinition,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const { items } = await api.list(resourceOf(definition), { namespace, limit: MANY }, signal);
    return items.map(({ metadata }) => metadata.name);
  } catch (error) {
    if (error instanceof KubeError) return [];
    throw error;
  }
}

const MANY = 200;

/** Of an object that is not there, an API server answers the same as of a kind that is not. */
async function mustBeServed(
  api: KubeApi,
  definition: ResourceDefinition,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.list(resourceOf(definition), { namespace, limit: 1 }, signal);
  } catch (error) {
    // Who may not list it is told what is known.
    if (error instanceof KubeError && error.status === 404) throw error;
  }
}

/** `kind namespace` of what is named so. */
function placeOf(node: string): string {
  return node.slice(0, node.indexOf('/'));
}

/** Those of them that are there, and perhaps more; `hidden` among them: something may not be read by the caller. */
async function readNodes(
  api: KubeApi,
  kind: string,
  namespace: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly (Item | 'hidden')[]> {
  const definition = definitions.find((each) => each.kind === kind);
  if (definition !== undefined && names.length > READ_BY_NAME) {
    const listed = await unlessForbidden(listAll(api, definition, namespace, signal));
    const wanted = new Set(names);
    return listed instanceof KubeError ? ['hidden'] : listed.filter((item) => wanted.has(nameOf(item)));
  }
  const found = await Promise.all(names.map((name) => readNode(api, name, signal)));
  return found.filter((item) => item !== undefined);
}

/** `hidden`: the caller may not read it. Undefined: it is not there. */
async function readNode(api: KubeApi, node: string, signal: AbortSignal): Promise<Item | 'hidden' | undefined> {
  const [kind = '', key = ''] = node.split(' ');
  const definition = definitions.find((each) => each.kind === kind);
  if (definition === undefined) return undefined;
  const object = await unlessForbidden(api.get(resourceOf(definition), splitKey(key), signal));
  if (object instanceof KubeError) return 'hidden';
  return object === undefined ? undefined : itemOf(definition, object);
}

/** The KubeError of what the caller may not do. */
async function unlessForbidden<T>(answer: Promise<T>): Promise<T | KubeError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return error;
    throw error;
  }
}

/** Whether there is no such namespace; false also where that may not be known. */
export async function isNoNamespace(api: KubeApi, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await api.get(NAMESPACES, { name }, signal)) === undefined;
  } catch {
    return false;
  }
}

/** All objects of one kind. `namespace` undefined: of all. */
export async function listAll(
  api: KubeApi,
  definition: ResourceDefinition,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const objects = await listAllPages(api, resourceOf(definition), { namespace }, signal);
  return objects.map((object) => itemOf(definition, object));
}

export function itemOf(definition: ResourceDefinition, object: AnyObject): Item {
  const { metadata, spec, status } = object as AnyObject & { readonly spec?: unknown; readonly status?: unknown };
  const fields = isRecord(spec) ? spec : {};
  const { conditions = [] } = parseStatus(databaseSpaceDefinition, status);
  const namespace = metadata.namespace ?? '';
  return {
    kind: definition.kind,
    key: objectKey(namespace, metadata.name),
    metadata,
    spec: fields,
    status: parseStatus(definition, status),
    conditions,
    parent: parentOf(definition, fields, namespace),
  };
}

function parentOf(
  { kind }: ResourceDefinition,
  spec: Readonly<Record<string, unknown>>,
  namespace: string,
): string | undefined {
  const [field, parentKind] =
    kind === databaseClusterDefinition.kind
      ? (['spaceRef', databaseSpaceDefinition.kind] as const)
      : [databaseUserDefinition.kind, databaseDefinition.kind].includes(kind)
        ? (['clusterRef', databaseClusterDefinition.kind] as const)
        : [];
  const ref = field === undefined ? undefined : spec[field];
  if (!isRecord(ref)) return undefined;
  return nodeName(String(parentKind), objectKey(String(ref['namespace'] ?? namespace), String(ref['name'] ?? '')));
}

export function nameOf({ kind, key }: Pick<Item, 'kind' | 'key'>): string {
  return nodeName(kind, key);
}

/** Names an item among all kinds. */
export function nodeName(kind: string, key: ObjectKey): string {
  return `${kind} ${key}`;
}

export function readyOf({ conditions }: Pick<Item, 'conditions'>): Condition | undefined {
  return findStatusCondition(conditions, 'Ready');
}

/** What Ready says of the object as it is now: what the operator said of an older spec is not what there is. */
export function readinessOf(item: Item): Pick<Condition, 'status' | 'reason' | 'message'> {
  const ready = readyOf(item);
  if (ready !== undefined && !isOutOfDate(item)) return ready;
  const what =
    item.metadata.deletionTimestamp === undefined
      ? 'Mooring has not looked at this version of the object yet'
      : 'It is being deleted, and waits for Mooring, which has not looked at that yet';
  return {
    status: 'Unknown',
    reason: NOT_SEEN,
    message: `${what}: is the operator running, and does it watch this namespace?`,
  };
}

/** No condition, but the want of one. */
export const NOT_SEEN = 'NotSeen';

/** There only while a person must act. */
export function stalledOf({ conditions }: Pick<Item, 'conditions'>): Condition | undefined {
  return findStatusCondition(conditions, 'Stalled');
}

/** A person told Mooring to change nothing about it. */
export function isPaused({ metadata }: Pick<Item, 'metadata'>): boolean {
  return metadata.annotations?.[PAUSED] === 'true';
}

/** The status speaks of an older spec, or of none yet. */
export function isOutOfDate({ metadata, status }: Pick<Item, 'metadata' | 'status'>): boolean {
  const seen = isRecord(status) ? status['observedGeneration'] : undefined;
  return typeof seen !== 'number' || seen < (metadata.generation ?? 0);
}
