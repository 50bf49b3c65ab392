/** The parts of a Kubernetes object's metadata that are used here (metav1.ObjectMeta). */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface KubeObject<Spec = unknown, Status = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

/** `namespace/name`: names an object among those of its kind. */
export type ObjectKey = string;

export function keyOf(object: { readonly metadata: Pick<ObjectMeta, 'name' | 'namespace'> }): ObjectKey {
  return objectKey(object.metadata.namespace ?? '', object.metadata.name);
}

export function objectKey(namespace: string, name: string): ObjectKey {
  return `${namespace}/${name}`;
}

export function splitKey(key: ObjectKey): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Annotation in which `kubectl apply` keeps the object as applied. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** managedFields make up half of an object's bytes. */
export function withoutManagedFields<T extends { readonly metadata: object }>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T['metadata'] & { readonly managedFields?: unknown };
  return { ...object, metadata };
}

type Versioned = Pick<ObjectMeta, 'resourceVersion'>;

const NUMBER = /^[1-9]\d*$/;

/**
 * Compares resource versions. Above 0: `one` is newer; 0: they are the same; NaN: one of them is no number, so the last word counts. As
 * in apimachinery's CompareResourceVersion, they may have more digits than a number holds.
 */
export function compareVersions({ resourceVersion: one }: Versioned, { resourceVersion: other }: Versioned): number {
  if (!NUMBER.test(one) || !NUMBER.test(other)) return Number.NaN;
  if (one === other) return 0;
  return one.length - other.length || (one > other ? 1 : -1);
}

/** Returns the metav1.MicroTime of a moment in milliseconds since 1970. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
