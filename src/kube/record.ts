import { parseSpec, parseSpecInPart, parseStatus, type ResourceDefinition } from './definition.ts';
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

export interface HeldRecord<Spec, Status> extends ObjectRecord<Spec, Status> {
  /** Top-level fields of the spec that cannot be read. Absent: all can. */
  readonly unread?: ReadonlySet<unknown>;
}

export interface Holding<Spec, Status> {
  /** Something outside is, or may be, the object's. */
  readonly holds: (status: Status) => boolean;
  /** The spec with the name under which that is there. */
  readonly named: (record: ObjectRecord<Spec, Status>) => Spec;
}

/**
 * As `recordReader`, and also of an object whose spec cannot be read any more, if something outside may be its own: that is so
 * still, and nobody else may take it. Of its spec all counts that can be read. It has what it has, and wants nothing else.
 */
export function heldRecordReader<Spec, Status>(
  definition: ResourceDefinition<Spec, Status>,
  { holds, named }: Holding<Spec, Status>,
): (object: KubeObject | undefined) => HeldRecord<Spec, Status> | undefined {
  const recordOf = recordReader(definition);
  return (object) => {
    const record = recordOf(object);
    if (record !== undefined || object === undefined) return record;
    const { metadata } = object;
    const status = parseStatus(definition, object.status);
    const parsed = holds(status) ? parseSpecInPart(definition, object.spec) : undefined;
    if (parsed === undefined) return undefined;
    return { metadata, spec: named({ metadata, spec: parsed.value, status }), status, unread: parsed.unread };
  };
}
