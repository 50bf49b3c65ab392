import { type ConditionUpdate, findStatusCondition } from '../../kube/condition.ts';
import type { ObjectKey, ObjectMeta } from '../../kube/object.ts';
import { particulars, ready, reconciling, stalled } from '../../kube/summary.ts';
import type { Decision } from '../../runtime/kind.ts';
import { hasLetGo } from '../claim.ts';
import { clusterKeyOf, type OpenServer, type ServerAccess } from './access.ts';

/* What is common to the kinds whose objects stand for something on the server of a DatabaseCluster. */

interface Dependent {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly clusterRef: { readonly name: string; readonly namespace?: string | undefined };
    readonly deletionPolicy: string;
  };
  readonly status: {
    readonly observedGeneration: number;
    readonly conditions?: readonly ConditionUpdate[] | undefined;
  };
}

/** Reports whether the object is in the namespace of its cluster, which then admits it without a look. */
export function isBeside({ metadata, spec }: Pick<Dependent, 'metadata' | 'spec'>): boolean {
  return (spec.clusterRef.namespace ?? metadata.namespace) === metadata.namespace;
}

/**
 * Reports whether the object's wish for a name counts against others while it has nothing under it yet. An object that the cluster
 * does not admit, or that is in another namespace and was not looked at yet, takes no name from another.
 */
export function isAdmitted(record: Dependent): boolean {
  const ready = findStatusCondition(record.status.conditions, 'Ready');
  return ready === undefined ? isBeside(record) : ready.reason !== 'ClusterNotAllowed';
}

/** The cluster whose server has something of the object's that is deleted with the object. */
export interface EndsOn {
  readonly cluster: ObjectKey;
  /** The object is being deleted. */
  readonly leaves: boolean;
}

/** `exists`: something on the server is surely this object's. Undefined: nothing on it is deleted with the object any more. */
export function endsOn(record: Dependent, exists: boolean): EndsOn | undefined {
  if (record.spec.deletionPolicy !== 'Delete' || !exists || hasLetGo(record.metadata)) return undefined;
  return { cluster: clusterKeyOf(record), leaves: record.metadata.deletionTimestamp !== undefined };
}

/** The server cannot be worked on now, or not by this object. */
export type NoServer = Exclude<ServerAccess, OpenServer> & {
  /** The object was found to be right, and nothing that it refers to has changed since. Absent: not checked. */
  readonly foundRight?: boolean;
};

/** Whether nothing shows that the cluster is another one by now. `isOurs`: whether it is the one that the object has something on. */
export function isOnSameCluster(access: ServerAccess, isOurs: (identity: string) => boolean): boolean {
  const identity = access.server === 'refused' ? undefined : access.identity;
  return identity === undefined || isOurs(identity);
}

/** Says that the cluster is missing. It may well exist, in a namespace that this operator no longer watches. */
function unseenCluster({ metadata, spec }: Pick<Dependent, 'metadata' | 'spec'>): string {
  const { name, namespace = metadata.namespace } = spec.clusterRef;
  return `Mooring sees no DatabaseCluster "${name}" in namespace "${namespace}"`;
}

/** Says why something is left on the server; undefined: it is not, as the object waits for the server. */
export function whyLeft(
  subject: Pick<Dependent, 'metadata' | 'spec'>,
  { why, message, owner }: Extract<ServerAccess, { server: 'waiting' }>,
): string | undefined {
  switch (why) {
    case 'missing':
      return unseenCluster(subject);
    case 'shared':
      return `the cluster belongs to DatabaseCluster "${owner}"`;
    case 'leaving':
      return message;
    default:
      return undefined;
  }
}

/** What to do about an object whose DatabaseCluster goes. */
export const GO_TOO = 'delete this object too, unless another DatabaseCluster of that name follows';

/** Decides what to say about an object that waits with its cluster, while no server is asked. */
export function withoutServer(
  { status, metadata }: Pick<Dependent, 'metadata' | 'status'>,
  access: NoServer,
): Decision<never, never> {
  const { reason } = access;
  const message =
    access.server === 'waiting' && access.why === 'leaving' ? `${access.message}: ${GO_TOO}` : access.message;
  const others = particulars(status.conditions ?? []);
  // Which namespaces a selector admits depends on their labels, which only a pass reads.
  if (access.server === 'refused') return { conditions: [...stalled(reason, message), ...others], retry: 'slowly' };
  const known = findStatusCondition(status.conditions, 'Ready');
  const isOfThisSpec = known !== undefined && status.observedGeneration === metadata.generation;
  // No condition changes only because this process is new.
  if (access.starting && isOfThisSpec) return { conditions: 'keep' };
  // The object is as it should be, and so is its cluster: nothing is going on that anybody could wait for.
  if (access.rests && access.foundRight) return { conditions: [...ready(reason, message), ...others] };
  return { conditions: [...reconciling(reason, message), ...others] };
}
