import { parseSpec, parseStatus, type ResourceDefinition } from '../kube/definition.ts';
import type { KubeObject, ObjectMeta } from '../kube/object.ts';

/** An object of a kind as others of its kind, or of other kinds, look at it. */
export interface ObjectRecord<Spec, Status> {
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status: Status;
}

/** Reads objects of one kind; undefined where there is none, or its spec cannot be read. */
export function recordReader<Spec, Status>(
  definition: ResourceDefinition<Spec, Status>,
): (object: KubeObject | undefined) => ObjectRecord<Spec, Status> | undefined {
  return (object) => {
    if (object === undefined) return undefined;
    const { metadata, spec, status } = object;
    const parsed = parseSpec(definition, spec);
    return parsed.ok ? { metadata, spec: parsed.spec, status: parseStatus(definition, status) } : undefined;
  };
}
