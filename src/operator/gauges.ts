import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { parseStatus } from '../kube/definition.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { Informer } from '../runtime/informer.ts';

/* What the metrics tell of the objects when they are asked for. */

/** Every condition of every object; they are the same in every kind's status. */
export function* conditionsOf(informers: readonly Informer<KubeObject>[]) {
  for (const { store } of informers) {
    for (const { kind, status } of store.values()) {
      const { conditions = [] } = parseStatus(databaseSpaceDefinition, status);
      for (const { type: condition, status: value, reason } of conditions)
        yield { kind, condition, status: value, reason };
    }
  }
}

export function observedAt(key: ObjectKey, observedAtMs: number | undefined) {
  if (observedAtMs === undefined) return [];
  const slash = key.indexOf('/');
  return [{ namespace: key.slice(0, slash), name: key.slice(slash + 1), observedAtMs }];
}
