import { databaseDefinition } from '../kinds/database/schema.ts';
import { adminSecretName } from '../kinds/databasecluster/identity.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import type { AnyObject } from '../kube/api.ts';
import { isStatusConditionTrue } from '../kube/condition.ts';
import { parseSpec, parseSpecInPart, parseStatus, type ResourceDefinition } from '../kube/definition.ts';
import { type ObjectKey, objectKey } from '../kube/object.ts';

/** An object of the plan, read once: as it is, and with the spec that it should have. */
export interface PlannedObject {
  readonly definition: ResourceDefinition;
  readonly key: ObjectKey;
  /** The object in the API; undefined: it will be created. */
  readonly live: AnyObject | undefined;
  /** The object as it should become; undefined: it will be deleted. */
  readonly wanted: AnyObject | undefined;
}

/** Whether it is to go, or goes already: applying a manifest does not undo that. */
export function isLeaving({ live, wanted }: PlannedObject): boolean {
  return wanted === undefined || live?.metadata.deletionTimestamp !== undefined;
}

const NOTHING: AnyObject = { metadata: { name: '', uid: '', resourceVersion: '' } };

function typed<Spec, Status>(definition: ResourceDefinition<Spec, Status>) {
  return (objects: readonly PlannedObject[]) =>
    objects
      .filter((each) => each.definition.kind === definition.kind)
      .flatMap((object) => {
        const { metadata, spec, status } = object.live ?? object.wanted ?? NOTHING;
        const next = read(definition, (object.wanted ?? object.live)?.spec);
        // An object may be older than the rules, and the files may mend it.
        const now = read(definition, spec) ?? next;
        if (now === undefined || next === undefined) return [];
        return [{ object, metadata, spec: now, next, status: parseStatus(definition, status) }];
      });
}

/** As the operator does: every field of the spec that can be read counts. */
function read<Spec>(definition: ResourceDefinition<Spec>, spec: unknown): Spec | undefined {
  const whole = parseSpec(definition, spec);
  return whole.ok ? whole.spec : parseSpecInPart(definition, spec)?.value;
}

export const spacesOf = typed(databaseSpaceDefinition);
export const clustersOf = typed(databaseClusterDefinition);
export const usersOf = typed(databaseUserDefinition);
export const databasesOf = typed(databaseDefinition);

export type PlannedSpace = ReturnType<typeof spacesOf>[number];
export type PlannedCluster = ReturnType<typeof clustersOf>[number];
export type PlannedUser = ReturnType<typeof usersOf>[number];
export type PlannedDatabase = ReturnType<typeof databasesOf>[number];

/** The name of the Secret with the cluster's own login; undefined: the cluster only has the login that it came with. */
export function securedIn({ metadata, spec, status }: PlannedCluster): string | undefined {
  const { credentials, createdAt = '', lastRotation = '', conditions } = status;
  const secured = isStatusConditionTrue(conditions, 'CredentialsSecured');
  if (credentials !== undefined) return credentials.secretName;
  // The last one may have been that of an earlier cluster, in whose place this one is.
  return secured || Date.parse(lastRotation) > Date.parse(createdAt) ? adminSecretName({ metadata, spec }) : undefined;
}

/** The key of an object that another refers to: in the same namespace unless the reference names one. */
export function referred(
  ref: { readonly name: string; readonly namespace?: string | undefined },
  { namespace = '' }: { readonly namespace?: string | undefined },
): ObjectKey {
  return objectKey(ref.namespace ?? namespace, ref.name);
}
