import { type ObjectKey, splitKey } from '../kube/object.ts';

/** `kind namespace/name`: names an object among all kinds, whether or not there is one. */
export type NodeName = string;

export function nodeName(kind: string, key: ObjectKey): NodeName {
  return `${kind} ${key}`;
}

export function splitNode(node: NodeName): {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly name: string;
} {
  const space = node.indexOf(' ');
  const key = node.slice(space + 1);
  return { kind: node.slice(0, space), key, ...splitKey(key) };
}

/** `kind namespace/`: the same for all objects of a kind in a namespace. */
export function placeOf(node: NodeName): string {
  return node.slice(0, node.indexOf('/') + 1);
}

/** The names of those `nodes` that have the kind and namespace of `node`. */
export function namesBeside(node: NodeName, nodes: readonly NodeName[]): readonly string[] {
  const place = placeOf(node);
  return nodes.filter((each) => each.startsWith(place)).map((each) => each.slice(place.length));
}
