import { type Inventory, type Item, nameOf, readinessOf } from './inventory.ts';

/** A line of the tree: one object, or one that is referred to and not there. */
export interface Node {
  readonly item: Item | undefined;
  /** `kind namespace/name`. */
  readonly name: string;
  readonly children: readonly Node[];
}

/** Objects under what they cannot be without: spaces, their clusters, these clusters' users and databases. */
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

/** The objects from this one up to its space, nearest first; ends where one is not there. */
export function ancestorsOf(items: readonly Item[], item: Item): readonly (Item | string)[] {
  const byNode = indexOf(items);
  const found: (Item | string)[] = [];
  for (let name = item.parent; name !== undefined; ) {
    const parent = byNode.get(name);
    found.push(parent ?? name);
    name = parent?.parent;
  }
  return found;
}

const indexes = new WeakMap<readonly Item[], ReadonlyMap<string, Item>>();

/** By name; made once for each list, as everybody in it looks others up. */
function indexOf(items: readonly Item[]): ReadonlyMap<string, Item> {
  const index = indexes.get(items) ?? new Map(items.map((each) => [nameOf(each), each]));
  indexes.set(items, index);
  return index;
}

/** Reasons that only say that another object is waited for. */
const WAITING = /^(WaitingFor(Cluster|Space)|Cluster(NotFound|Suspended|Deleting)|SpaceNotFound)$/;

/** No reason of a condition: there is no object that could have one. */
export const NOT_THERE = 'NotThere';

export interface Blocker {
  /** What has to change first: the object itself, or one that it waits for. `kind namespace/name`. */
  readonly name: string;
  readonly reason: string;
  readonly message: string;
}

/** The first thing in the way of the object; undefined: it is Ready. */
export function blockerOf(inventory: Inventory, item: Item): Blocker | undefined {
  const ready = readinessOf(item);
  const name = nameOf(item);
  if (ready.status === 'True') return undefined;
  const own = { name, reason: ready.reason, message: ready.message };
  if (!WAITING.test(ready.reason)) return own;
  const [parent] = ancestorsOf(inventory.items, item);
  if (parent === undefined || inventory.hidden.has(String(parent))) return own;
  if (typeof parent === 'string')
    return { name: parent, reason: NOT_THERE, message: `${parent} is not there: create it, or correct the reference` };
  return blockerOf(inventory, parent) ?? own;
}
