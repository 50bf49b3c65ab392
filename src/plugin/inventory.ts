import { databaseDefinition } from '../kinds/database/schema.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import { definitions } from '../kinds/definitions.ts';
import { type AnyObject, type KubeApi, KubeError } from '../kube/api.ts';
import type { Condition } from '../kube/condition.ts';
import { parseStatus, type ResourceDefinition } from '../kube/definition.ts';
import { type ObjectKey, type ObjectMeta, objectKey, splitKey } from '../kube/object.ts';
import { resourceOf } from './kinds.ts';

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
}

const PAGE = 500;

/**
 * All objects of our kinds, of one namespace or of all: one List a kind, in pages. What they need in other namespaces is
 * read by name.
 */
export async function loadInventory(
  api: KubeApi,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<Inventory> {
  const lists = await Promise.all(definitions.map((definition) => listAll(api, definition, namespace, signal)));
  const items = lists.flat();
  const hidden = new Set<string>();
  if (namespace === undefined) return { items, hidden };
  for (let wanted = missingParents(items, hidden, namespace); wanted.length > 0; ) {
    for (const name of wanted) {
      const found = await readNode(api, name, signal);
      if (found === undefined) hidden.add(name);
      else items.push(found);
    }
    wanted = missingParents(items, hidden, namespace);
  }
  return { items, hidden };
}

/** Of other namespaces only: what is missing in the listed one is not there. */
function missingParents(items: readonly Item[], hidden: ReadonlySet<string>, listed: string): readonly string[] {
  const present = new Set(items.map(({ kind, key }) => nodeName(kind, key)));
  const parents = new Set(items.flatMap(({ parent }) => (parent === undefined ? [] : [parent])));
  return [...parents].filter(
    (name) => !present.has(name) && !hidden.has(name) && splitKey(name.split(' ')[1] ?? '').namespace !== listed,
  );
}

/** Undefined: it is not there, or the caller may not read it. */
async function readNode(api: KubeApi, node: string, signal: AbortSignal): Promise<Item | undefined> {
  const [kind = '', key = ''] = node.split(' ');
  const definition = definitions.find((each) => each.kind === kind);
  if (definition === undefined) return undefined;
  try {
    const object = await api.get(resourceOf(definition), splitKey(key), signal);
    return object === undefined ? undefined : itemOf(definition, object);
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  }
}

async function listAll(
  api: KubeApi,
  definition: ResourceDefinition,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let continueToken: string | undefined;
  do {
    const page = await api.list(resourceOf(definition), { namespace, limit: PAGE, continueToken }, signal);
    items.push(...page.items.map((object) => itemOf(definition, object)));
    continueToken = page.continueToken;
  } while (continueToken !== undefined);
  return items;
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

/** Names an item among all kinds. */
export function nodeName(kind: string, key: ObjectKey): string {
  return `${kind} ${key}`;
}

export function readyOf({ conditions }: Pick<Item, 'conditions'>): Condition | undefined {
  return conditions.find(({ type }) => type === 'Ready');
}

/** The status speaks of an older spec, or of none yet. */
export function isOutOfDate({ metadata, status }: Pick<Item, 'metadata' | 'status'>): boolean {
  const seen = isRecord(status) ? status['observedGeneration'] : undefined;
  return typeof seen !== 'number' || seen < (metadata.generation ?? 0);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
