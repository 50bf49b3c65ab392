import { TransientError } from '../base/errors.ts';
import { isOfGroup } from '../base/group.ts';
import { ABANDON, PAUSED } from '../kube/annotations.ts';
import type { KubeApi, Resource } from '../kube/api.ts';
import type { ObjectMeta } from '../kube/object.ts';

/** The object as it was when a step was decided. */
interface Decided {
  readonly metadata: ObjectMeta;
  readonly deleting: boolean;
}

/**
 * Reads the object once more before anything is created, changed or ended outside. The cache may be older than a person's last
 * order, above all when a standby process takes over. `orders`: annotations by which a person says what may be done, besides
 * those that every kind has.
 * Throws TransientError ObjectChanged if the object is not as it was.
 */
export async function confirm(
  api: KubeApi,
  resource: Resource,
  { metadata, deleting }: Decided,
  signal: AbortSignal,
  orders: readonly string[] = [],
): Promise<void> {
  const { namespace, name, uid, generation, annotations } = metadata;
  const live = (await api.get(resource, { namespace, name }, signal))?.metadata;
  const same =
    live?.uid === uid &&
    live.generation === generation &&
    (live.deletionTimestamp !== undefined) === deleting &&
    isHeld(live) &&
    [PAUSED, ABANDON, ...orders].every((order) => live.annotations?.[order] === annotations?.[order]);
  if (!same)
    throw new TransientError('ObjectChanged', `${resource.kind} "${name}" changed meanwhile: Mooring checks it again`);
}

/** Somebody may just have removed the finalizer: anything made then would be left behind. */
function isHeld({ finalizers = [] }: ObjectMeta): boolean {
  return finalizers.some(isOfGroup);
}
