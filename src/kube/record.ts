import { parseSpec, parseStatus, type ResourceDefinition } from './definition.ts';
import type { KubeObject, ObjectMeta } from './object.ts';

/** What an object of a kind says, without looking further: as its controller, and others of its kind or of other kinds, go by it. */
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
