import { isRecord } from '../../base/is-record.ts';
import { databaseClusterDefinition } from '../../kinds/databasecluster/schema.ts';
import { databaseUserDefinition } from '../../kinds/databaseuser/schema.ts';
import { isPaused } from '../../kube/annotations.ts';
import { type Condition, isStatusConditionTrue } from '../../kube/condition.ts';
import type { Inventory } from '../inventory.ts';
import { type Item, isOutOfDate, nameOf, stalledOf } from '../item.ts';
import { commandFor } from '../kinds.ts';
import { ancestorsOf, blockerOf } from '../tree.ts';

/* What keeps a change that a person asks for from happening, as far as the objects show. */

/**
 * Why the change will have no effect until something else is changed, and what that is; undefined: no reason is known.
 * `name`: of the command. `inventory`: the object with what it needs.
 */
export function obstacleOf(name: string, inventory: Inventory, item: Item): string | undefined {
  if (name === 'pause' || name === 'unpause') return undefined;
  if (item.metadata.deletionTimestamp !== undefined) return 'It is being deleted.';
  if (isPaused(item.metadata))
    return `It is paused: Mooring changes nothing about it. First: ${commandFor('unpause', item, inventory)}`;
  if (isOnlyObserved(item))
    return 'It is only observed (managementPolicy: Observe): Mooring changes nothing about it. First set managementPolicy: Manage.';
  return (name === 'rotate' ? againstRotation(inventory, item) : withoutCluster(item)) ?? inTheWay(inventory, item);
}

/** The state can only be set if the cluster exists and belongs to the object. */
function withoutCluster(item: Item): string | undefined {
  const stalled = stalledOf(item);
  if (stalled === undefined || isOutOfDate(item)) return undefined;
  const isOwn = item.status['createdAt'] !== undefined;
  return isOwn && !['ClusterMissing', 'IdentityChanged'].includes(stalled.reason) ? undefined : mustAct(stalled);
}

function mustAct({ reason, message }: Pick<Condition, 'reason' | 'message'>): string {
  return `It is stalled, and a person must act first: ${reason}: ${message}`;
}

function isOnlyObserved({ kind, spec }: Item): boolean {
  return kind === databaseClusterDefinition.kind && spec['managementPolicy'] === 'Observe';
}

/** A password is replaced on a running server, with a login that works. */
function againstRotation(inventory: Inventory, item: Item): string | undefined {
  const own = item.kind === databaseUserDefinition.kind ? item.spec['passwordSecretRef'] : undefined;
  if (isRecord(own))
    return `Its password is your own: change it in Secret "${String(own['name'])}", and Mooring applies it.`;
  const [parent] = ancestorsOf(inventory.items, item);
  const cluster = item.kind === databaseClusterDefinition.kind ? item : parent;
  if (typeof cluster === 'object' && cluster.spec['state'] === 'Suspended') {
    const what = cluster === item ? 'It' : nameOf(cluster);
    return `${what} is suspended: there is no server to change a password on. First: ${commandFor('resume', cluster, inventory)}`;
  }
  const stalled = stalledOf(item);
  // The cluster may be stuck on something else while its login is still looked after.
  const works = isStatusConditionTrue(item.conditions, 'Available');
  if (stalled === undefined || works || isOutOfDate(item)) return undefined;
  return mustAct(stalled);
}

/** Another object that a person must attend to. One that will get ready by itself is no obstacle. */
function inTheWay(inventory: Inventory, item: Item): string | undefined {
  const blocker = blockerOf(inventory, item);
  if (blocker === undefined || blocker.name === nameOf(item)) return undefined;
  const found = inventory.items.find((each) => nameOf(each) === blocker.name);
  if (found === undefined) return `It waits for a missing object: ${blocker.message}`;
  if (isPaused(found.metadata) && !isReady(found))
    return `It waits for ${blocker.name}, which is paused. First: ${commandFor('unpause', found, inventory)}`;
  if (stalledOf(found) === undefined) return undefined;
  return `It waits for ${blocker.name}: ${blocker.reason}: ${blocker.message}`;
}

function isReady({ conditions }: Item): boolean {
  return isStatusConditionTrue(conditions, 'Ready');
}
