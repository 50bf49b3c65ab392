import type { ResourceDefinition } from '../../src/kube/definition.ts';
import { structuralSchema } from '../../src/kube/structural-schema.ts';

/** What a status may have by its CRD: the API server drops all else. */
export function statusFieldsOf({ status }: Pick<ResourceDefinition, 'status'>): ReadonlySet<string> {
  return new Set(Object.keys(structuralSchema(status, 'status').properties ?? {}));
}
