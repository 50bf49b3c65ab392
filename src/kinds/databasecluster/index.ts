import type { Reference } from '../../base/collections/reference-index.ts';
import { findStatusCondition } from '../../kube/condition.ts';
import { keyOf, objectKey } from '../../kube/object.ts';
import type { Kind } from '../../runtime/kind.ts';
import { actOnCluster } from './act.ts';
import { decideCluster } from './decide.ts';
import { abandonedWords } from './decide-deletion.ts';
import { createdReferences } from './existence/sharing.ts';
import { heldRecordOf } from './held-record.ts';
import { adminSecretName, createdAtOf, currentID, desiredID, mayExist, owns, spaceKeyOf } from './identity.ts';
import type { ClusterObservation, ClusterStep } from './observation.ts';
import { observeCluster, orProtected } from './observe.ts';
import type { ClusterRecord } from './record.ts';
import { awaitedReference } from './records.ts';
import { namingSecrets } from './refused-token.ts';
import { CLUSTER_FINALIZER, DATABASE_CLUSTERS } from './resource.ts';
import { type DatabaseClusterSpec, type DatabaseClusterStatus, databaseClusterDefinition } from './schema.ts';
import type { ClusterWorld } from './world.ts';

export function databaseClusterKind(
  world: ClusterWorld,
): Kind<DatabaseClusterSpec, DatabaseClusterStatus, ClusterObservation, ClusterStep> {
  return {
    definition: databaseClusterDefinition,
    resource: DATABASE_CLUSTERS,
    finalizer: CLUSTER_FINALIZER,
    restless({ conditions, createdAt }) {
      const reason = findStatusCondition(conditions, 'Ready')?.reason ?? '';
      // The operator may have been started anew with flags that allow the URL; if not, it is refused again without a request.
      return reason === 'ServerURLNotAllowed' || (createdAt === undefined && SEEN_IN_LISTS.has(reason));
    },
    record: heldRecordOf,
    references(subject) {
      const { metadata, spec } = subject;
      const space = spaceKeyOf(subject);
      const existing = spec.adminCredentials?.existingSecretRef?.name;
      const { clusterRef: source, clusterID: sourceID } = spec.cloneFrom ?? {};
      const beside = (name: string) => objectKey(metadata.namespace ?? '', name);
      return [
        `databasespaces/${space}`,
        `leaving/${beside(metadata.name)}`,
        ...createdReferences(subject),
        ...[currentID(subject), desiredID(subject)].map((id) => `clusters/${space}/${id}`),
        // The login stays in the former Secret until a server that runs has the password in the next.
        ...new Set(
          [adminSecretName(subject), subject.status.credentials?.secretName, existing]
            .filter((name) => name !== undefined)
            .map((name) => `secrets/${beside(name)}`),
        ),
        ...(source === undefined ? [] : [`databaseclusters/${beside(source.name)}`]),
        // Also for whom the object that has it admits.
        ...(sourceID === undefined || subject.status.createdAt !== undefined ? [] : [`clusters/${space}/${sourceID}`]),
      ];
    },
    extraReferences: (subject) => [
      ...freeClustersAhead(world, subject).map((id) => `clusters/${spaceKeyOf(subject)}/${id}`),
      ...claimedCluster(world, subject),
    ],
    group: spaceKeyOf,
    holds: (status) => mayExist({ status }),
    owns,
    observe: (subject, signal) =>
      orProtected(subject, namingSecrets(world, subject, observeCluster(world, subject, signal))),
    decide: decideCluster,
    act: (subject, step, signal, keep) =>
      namingSecrets(world, subject, actOnCluster(world, subject, step, signal, keep)),
    describe,
    async abandon({ metadata, status }) {
      const message = abandonedWords({ status });
      if (message !== undefined) world.onLeft(keyOf({ metadata }), message);
    },
    forget: (key, why) => world.memory.forget(key, why),
  };
}

/** Reasons that the List of the space shows to be over, without a request for each object, while no cluster is the object's. */
const SEEN_IN_LISTS: ReadonlySet<string> = new Set(['ClusterNotFound', 'ClusterIDInUse']);

/** The object that comes before this one may know the cluster under another id, so its changes are heard of by the time of creation. */
function claimedCluster(world: ClusterWorld, subject: ClusterRecord): readonly Reference[] {
  if (findStatusCondition(subject.status.conditions, 'Ready')?.reason !== 'ClusterIDClaimed') return [];
  const cluster = world.connections.get(spaceKeyOf(subject))?.poller.get(currentID(subject));
  return cluster === undefined ? [] : awaitedReference(createdAtOf(cluster));
}

/** A team may have one free cluster: an object that waits for its turn looks again when an existing one is gone. */
function freeClustersAhead(world: ClusterWorld, subject: ClusterRecord) {
  if (!subject.spec.isFree || subject.status.createdAt !== undefined) return [];
  const clusters = world.connections.get(spaceKeyOf(subject))?.poller.clusters() ?? [];
  return [...clusters].filter(({ isFree }) => isFree === true).map(({ id }) => id);
}

function describe(step: ClusterStep): string {
  switch (step.do) {
    case 'Deploy':
      return `deploy cluster "${step.id}"`;
    case 'Clone':
      return `clone cluster "${step.source}" to "${step.id}"`;
    case 'Destroy':
      return `destroy cluster "${step.id}" and its data`;
    case 'Suspend':
      return `suspend cluster "${step.id}"`;
    case 'Resume':
      return `resume cluster "${step.id}"`;
    case 'Rename':
      return `rename cluster "${step.id}" to "${step.to}"`;
    case 'Update':
      return `update cluster "${step.id}": ${Object.keys(step.changes).join(', ')}`;
    case 'PreparePassword':
      return `write a new password to the admin Secret${step.from === 'current' ? ', beside the one that works' : ''}`;
    case 'PutPassword':
      return `replace the password of the admin user of cluster "${step.id}"`;
    case 'PromotePassword':
      return 'make the new password the one in the admin Secret';
    case 'DeleteSecret':
      return 'delete the admin Secret, if there is one, as this object has no cluster';
    case 'TellLeft':
      return `let go of cluster "${step.id}", which may still be there`;
    case 'TellFactoryLogin':
      return `let go of cluster "${step.id}", with the login that new clusters come with`;
    case 'RetireSecret':
      return `delete the former admin Secret ${step.names.map((name) => `"${name}"`).join(' and ')}`;
    default:
      return step satisfies never;
  }
}
