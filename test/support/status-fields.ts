import { structuralSchema } from '../../src/kube/crd/structural-schema.ts';
import type { ResourceDefinition } from '../../src/kube/definition.ts';

/** The fields that a status may have by its CRD: the API server drops all others. */
export function statusFieldsOf({ status }: Pick<ResourceDefinition, 'status'>): ReadonlySet<string> {
  return new Set(Object.keys(structuralSchema(status, 'status').properties ?? {}));
}
