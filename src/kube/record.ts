import { parseSpec, parseSpecInPart, parseStatus, type ResourceDefinition } from './definition.ts';
import type { KubeObject, ObjectMeta } from './object.ts';

/** What an object says by itself, for its own controller and for other objects of any kind. */
export interface ObjectRecord<Spec, Status> {
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status: Status;
}

/** Reads objects of one kind; returns undefined if there is none, or its spec cannot be read. */
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
  /** Top-level fields of the spec that cannot be read. Absent: all can be. */
  readonly unread?: ReadonlySet<unknown>;
}

export interface Holding<Spec, Status> {
  /** Reports whether something outside is, or may be, the object's. */
  readonly holds: (status: Status) => boolean;
  /** Returns the spec with the name under which that exists. */
  readonly named: (record: ObjectRecord<Spec, Status>) => Spec;
}

/**
 * Like `recordReader`, but also reads an object whose spec can no longer be read, if something outside may be its own: it still is, and
 * no other object may take it. Every field of the spec that can be read counts. The object has what it has, and wants nothing else.
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
