import { type ConditionUpdate, findStatusCondition } from '../../kube/condition.ts';
import type { ObjectKey, ObjectMeta } from '../../kube/object.ts';
import { particulars, ready, reconciling, stalled } from '../../kube/summary.ts';
import type { Decision } from '../../runtime/kind.ts';
import { clusterKeyOf, type OpenServer, type ServerAccess } from './access.ts';

/* What the kinds have in common whose objects stand for something on the server of a DatabaseCluster. */

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

/** The object is in the namespace of its cluster, which admits it without having looked. */
export function isBeside({ metadata, spec }: Pick<Dependent, 'metadata' | 'spec'>): boolean {
  return (spec.clusterRef.namespace ?? metadata.namespace) === metadata.namespace;
}

/**
 * Whether the object's wish for a name counts against others, where it has nothing under it yet: whom the cluster does
 * not admit, or has not looked at yet from another namespace, takes no name from anybody.
 */
export function isAdmitted(record: Dependent): boolean {
  const ready = findStatusCondition(record.status.conditions, 'Ready');
  return ready === undefined ? isBeside(record) : ready.reason !== 'ClusterNotAllowed';
}

/** What of an object's is on which server, and goes there with its object. */
export interface EndsOn {
  readonly cluster: ObjectKey;
  /** Its object is being deleted. */
  readonly leaves: boolean;
}

/** `exists`: something on the server is surely this object's. Undefined: nothing goes there with the object. */
export function endsOn(record: Dependent, exists: boolean): EndsOn | undefined {
  if (record.spec.deletionPolicy !== 'Delete' || !exists) return undefined;
  return { cluster: clusterKeyOf(record), leaves: record.metadata.deletionTimestamp !== undefined };
}

/** The server cannot be worked on now, or not by this object. */
export type NoServer = Exclude<ServerAccess, OpenServer> & {
  /** Nothing that the object refers to has changed since the object was found to be right. Absent: not looked at. */
  readonly unchanged?: boolean;
};

/** What to say of an object that waits with its cluster, while nothing is asked of anybody. */
export function withoutServer(
  { status, metadata }: Pick<Dependent, 'metadata' | 'status'>,
  access: NoServer,
): Decision<never, never> {
  const { reason, message } = access;
  const others = particulars(status.conditions ?? []);
  // Whom a selector admits follows from a namespace's labels, which are read in a pass only.
  if (access.server === 'refused') return { conditions: [...stalled(reason, message), ...others], retry: 'slowly' };
  const known = findStatusCondition(status.conditions, 'Ready');
  const isOfThisSpec = known !== undefined && status.observedGeneration === metadata.generation;
  // None changes because this process is new.
  if (access.starting && isOfThisSpec) return { conditions: 'keep' };
  // It is as it should be, like its cluster: nothing goes on that anybody could wait for.
  if (access.rests && access.unchanged && isOfThisSpec && known.status === 'True')
    return { conditions: [...ready(reason, message), ...others] };
  return { conditions: [...reconciling(reason, message), ...others] };
}
