import { isRecord, recordOf } from '../base/is-record.ts';
import { databaseDefinition } from '../kinds/database/schema.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import type { AnyObject } from '../kube/api.ts';
import { type Condition, findStatusCondition } from '../kube/condition.ts';
import { parseStatus, type ResourceDefinition } from '../kube/definition.ts';
import { type ObjectKey, type ObjectMeta, objectKey } from '../kube/object.ts';
import { type NodeName, nodeName } from './node-name.ts';

/** An object of any of our kinds, with what is shown of it. */
export interface Item {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly metadata: ObjectMeta;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Condition[];
  /** The object that it depends on; undefined for a space. */
  readonly parent: NodeName | undefined;
}

export function itemOf(definition: ResourceDefinition, object: AnyObject): Item {
  const { metadata, spec, status } = object;
  const fields = recordOf(spec);
  const { conditions = [] } = parseStatus(databaseSpaceDefinition, status);
  const namespace = metadata.namespace ?? '';
  return {
    kind: definition.kind,
    key: objectKey(namespace, metadata.name),
    metadata,
    spec: fields,
    status: recordOf(parseStatus(definition, status)),
    conditions,
    parent: parentOf(definition, fields, namespace),
  };
}

function parentOf(
  { kind }: ResourceDefinition,
  spec: Readonly<Record<string, unknown>>,
  namespace: string,
): NodeName | undefined {
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

export function nameOf({ kind, key }: Pick<Item, 'kind' | 'key'>): NodeName {
  return nodeName(kind, key);
}

export function readyOf({ conditions }: Pick<Item, 'conditions'>): Condition | undefined {
  return findStatusCondition(conditions, 'Ready');
}

/** What Ready says of the object as it is now. A condition for an older spec does not count. */
export function readinessOf(item: Item): Pick<Condition, 'status' | 'reason' | 'message'> {
  const ready = readyOf(item);
  if (ready !== undefined && !isOutOfDate(item)) return ready;
  const what =
    item.metadata.deletionTimestamp === undefined
      ? 'Mooring has not looked at this version of the object yet'
      : 'It is being deleted, and Mooring has not looked at that yet';
  return {
    status: 'Unknown',
    reason: NOT_SEEN,
    message: `${what}: is the operator running, and does it watch this namespace? Or does an Event StatusRefused of the object say why its status cannot be written?`,
  };
}

/** Not a condition's reason, but the lack of a condition. */
export const NOT_SEEN = 'NotSeen';

/** The Stalled condition, present only while a person must act. */
export function stalledOf({ conditions }: Pick<Item, 'conditions'>): Condition | undefined {
  return findStatusCondition(conditions, 'Stalled');
}

/** Reports whether the status is about an older spec, or there is none yet. */
export function isOutOfDate({ metadata, status }: Pick<Item, 'metadata' | 'status'>): boolean {
  const seen = status['observedGeneration'];
  return typeof seen !== 'number' || seen < (metadata.generation ?? 0);
}
