import { NOT_WATCHED } from '../kinds/namespaces.ts';
import type { Inventory } from './inventory.ts';
import { type Item, nameOf, readinessOf } from './item.ts';
import type { NodeName } from './node-name.ts';

/** A line of the tree: an object, or one that is referred to but does not exist. */
export interface Node {
  readonly item: Item | undefined;
  readonly name: NodeName;
  readonly children: readonly Node[];
}

/** Puts objects under those they depend on: spaces, their clusters, the clusters' users and databases. */
export function treeOf(items: readonly Item[]): readonly Node[] {
  const present = new Set(items.map(nameOf));
  const children = Map.groupBy(items, ({ parent }) => parent);
  const node = (item: Item): Node => {
    const name = nameOf(item);
    return { item, name, children: (children.get(name) ?? []).map(node).toSorted(byName) };
  };
  const roots = (children.get(undefined) ?? []).map(node);
  const missing = [...children.keys()].filter((name) => name !== undefined && !present.has(name)) as string[];
  const orphans = missing.map((name) => ({
    item: undefined,
    name,
    children: (children.get(name) ?? []).map(node).toSorted(byName),
  }));
  return [...roots, ...orphans].toSorted(byName);
}

function byName(a: Node, b: Node): number {
  return a.name < b.name ? -1 : 1;
}

/** The objects from this one's parent up to its space, nearest first; ends at one that does not exist. */
export function ancestorsOf(items: readonly Item[], item: Item): readonly (Item | NodeName)[] {
  const byNode = indexOf(items);
  const found: (Item | NodeName)[] = [];
  for (let name = item.parent; name !== undefined; ) {
    const parent = byNode.get(name);
    found.push(parent ?? name);
    name = parent?.parent;
  }
  return found;
}

const indexes = new WeakMap<readonly Item[], ReadonlyMap<NodeName, Item>>();

/** Indexes by name, once per list, since every object in it looks up others. */
function indexOf(items: readonly Item[]): ReadonlyMap<NodeName, Item> {
  const index = indexes.get(items) ?? new Map(items.map((each) => [nameOf(each), each]));
  indexes.set(items, index);
  return index;
}

/** Reasons that only say that the object waits for another. */
const WAITING = /^(WaitingFor(Cluster|Space)|Cluster(NotFound|Suspended|Deleting)|SpaceNotFound)$/;

/** Not a condition's reason: there is no object that could have one. */
export const NOT_THERE = 'NotThere';

export interface Blocker {
  /** What has to change first: the object itself, or one that it waits for. */
  readonly name: NodeName;
  readonly reason: string;
  readonly message: string;
}

/** The first thing in the object's way; undefined: it is Ready. */
export function blockerOf(inventory: Inventory, item: Item): Blocker | undefined {
  const ready = readinessOf(item);
  const name = nameOf(item);
  if (ready.status === 'True') return undefined;
  const own = { name, reason: ready.reason, message: ready.message };
  // What the operator does not watch may be there, and as it should be.
  if (!WAITING.test(ready.reason) || ready.message.includes(NOT_WATCHED)) return own;
  const [parent] = ancestorsOf(inventory.items, item);
  if (parent === undefined || inventory.hidden.has(String(parent))) return own;
  if (typeof parent === 'string')
    return {
      name: parent,
      reason: NOT_THERE,
      message: `${parent} does not exist: create it, or correct the reference`,
    };
  return blockerOf(inventory, parent) ?? own;
}
