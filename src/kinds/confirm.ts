import { TransientError } from '../base/errors.ts';
import { isOfGroup } from '../base/group.ts';
import { ABANDON, PAUSED } from '../kube/annotations.ts';
import type { AnyObject, KubeApi, Resource } from '../kube/api.ts';
import type { ObjectMeta } from '../kube/object.ts';
import { statusOf } from '../kube/status-patch.ts';
import type { StatusBase } from '../runtime/kind.ts';
import type { WrittenDown } from './attempts.ts';

/** The object as it was when a step was decided. */
interface Decided {
  readonly metadata: ObjectMeta;
  readonly deleting: boolean;
  readonly status: Partial<StatusBase> & { readonly operation?: WrittenDown | undefined };
}

/**
 * Reads the object once more before anything is created, changed or ended outside. The cache may be older than a person's last
 * order, above all when a standby process takes over; and than the server's storage, if that was restored, so that a call is not
 * written down any more. `orders`: annotations by which a person says what may be done, besides those that every kind has.
 * Throws TransientError ObjectChanged if the object is not as it was.
 */
export async function confirm(
  api: KubeApi,
  resource: Resource,
  { metadata, deleting, status }: Decided,
  signal: AbortSignal,
  orders: readonly string[] = [],
): Promise<void> {
  const { namespace, name, uid, generation, annotations } = metadata;
  const object = await api.get(resource, { namespace, name }, signal);
  const live = object?.metadata;
  const same =
    live?.uid === uid &&
    live.generation === generation &&
    (live.deletionTimestamp !== undefined) === deleting &&
    isHeld(live) &&
    [PAUSED, ABANDON, ...orders].every((order) => live.annotations?.[order] === annotations?.[order]) &&
    (status.operation === undefined || startedAt(object) === status.operation.startedAt);
  if (!same)
    throw new TransientError('ObjectChanged', `${resource.kind} "${name}" changed meanwhile: Mooring checks it again`);
}

/** Somebody may just have removed the finalizer: anything made then would be left behind. */
function isHeld({ finalizers = [] }: ObjectMeta): boolean {
  return finalizers.some(isOfGroup);
}

/** Which call is written down. */
function startedAt(object: AnyObject | undefined): unknown {
  const { operation } = statusOf(object ?? {}) as { readonly operation?: Partial<WrittenDown> };
  return operation?.startedAt;
}
