import { failing, ready, reconciling, stalled } from '../../kube/summary.ts';
import type { Rule } from './decide.ts';
import { backupOf, backupPending, type Difference, differences, UPDATABLE } from './differences.ts';
import { type ClusterChanges, type ClusterSubject, desiredID, type SpaceSeen } from './observation.ts';
import { type ClusterDecision, clusterConditions } from './present.ts';

/** Whether the cluster should run. */
export const decideRunState: Rule = (subject, seen) => {
  const { cluster } = seen;
  const { state } = subject.spec;
  if (cluster === undefined) return undefined;
  const suspended = cluster.status === 'suspended';
  if (suspended === (state === 'Suspended')) return suspended ? decideSuspended(subject, seen) : undefined;
  const held = notOurs(subject, seen, ['state']);
  if (held !== undefined) return held;
  const [step, reason, doing] = suspended
    ? (['Resume', 'Resuming', 'resumed'] as const)
    : (['Suspend', 'Suspending', 'suspended'] as const);
  return {
    conditions: [...reconciling(reason, `Cluster "${seen.id}" is being ${doing}`), ...clusterConditions(subject, seen)],
    steps: [{ do: step, id: seen.id }],
  };
};

/** Suspended as it should be: changes wait for nothing, the login does, as there is no server to try it at. */
function decideSuspended(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision {
  const change = decideChanges(subject, seen, 0);
  if (change !== undefined) return change;
  const message = `Cluster "${seen.id}" is suspended, as the spec says`;
  const conditions = clusterConditions(subject, seen).map((condition) =>
    condition.type === 'Available'
      ? { ...condition, reason: 'Suspended', message: `${message}: no server runs` }
      : condition,
  );
  return { conditions: [...ready('Suspended', message), ...conditions] };
}

/** What the cluster should look like, as far as that can be changed. */
export const decideChanges: Rule = (subject, seen) => {
  const { cluster } = seen;
  if (cluster === undefined) return undefined;
  const all = differences(subject, cluster);
  const fixed = all.filter(({ field }) => !UPDATABLE.has(field));
  if (fixed.length > 0) return cannotChange(subject, seen, fixed);
  const shrink = all.find(({ field }) => field === 'storageSizeGB' && isSmaller(subject, cluster.storageSizeGB));
  if (shrink !== undefined) return neverShrinks(subject, seen, shrink);

  const changes = changesOf(subject, all);
  const rename = desiredID(subject) !== cluster.id;
  if (changes === undefined && !rename) return undefined;
  const held = notOurs(
    subject,
    seen,
    all.map(({ field }) => field),
  );
  if (held !== undefined) return held;
  const list = all.map(({ field, desired, observed }) => `${field} from ${observed} to ${desired}`).join(', ');
  return {
    conditions: [
      ...reconciling('Updating', `Cluster "${seen.id}" is being changed: ${list}`),
      ...clusterConditions(subject, seen),
    ],
    steps: [
      rename
        ? { do: 'Rename', id: cluster.id, to: desiredID(subject) }
        : { do: 'Update', id: cluster.id, changes: changes ?? {} },
    ],
  };
};

function isSmaller({ spec }: ClusterSubject, observed: number | undefined): boolean {
  return spec.storageSizeGB !== undefined && observed !== undefined && spec.storageSizeGB < observed;
}

function changesOf(subject: ClusterSubject, all: readonly Difference[]): ClusterChanges | undefined {
  const { spec } = subject;
  const differs = (field: string) => all.some((difference) => difference.field === field);
  const backup = backupPending(subject) ? backupOf(spec) : undefined;
  const changes: ClusterChanges = {
    ...(differs('storageSizeGB') && spec.storageSizeGB !== undefined ? { storageSizeGB: spec.storageSizeGB } : {}),
    ...(differs('machineType') && spec.machineType !== undefined ? { machineType: spec.machineType } : {}),
    ...(backup === undefined ? {} : { backup }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** A difference that is only reported: because of managementPolicy, or because it is drift and driftPolicy says so. */
function notOurs(subject: ClusterSubject, seen: SpaceSeen, fields: readonly string[]): ClusterDecision | undefined {
  const { spec } = subject;
  const observing = spec.managementPolicy === 'Observe';
  if (!observing && !(spec.driftPolicy === 'Report' && isDrift(subject))) return undefined;
  const why = observing ? 'managementPolicy: Observe' : 'driftPolicy: Report';
  const message = `Cluster "${seen.id}" differs from the spec in ${fields.join(', ')}; with ${why} nothing is changed`;
  const conditions = clusterConditions(subject, seen).map((condition) =>
    condition.type === 'Synced' ? { ...condition, reason: 'Drifted' } : condition,
  );
  const drift = seen.cluster === undefined ? [] : differences(subject, seen.cluster);
  return { conditions: [...failing('Drifted', message).slice(0, 1), ...conditions], status: { drift: [...drift] } };
}

/** The cluster was as this very generation of the spec says, so the difference came from elsewhere. */
function isDrift({ metadata, status }: ClusterSubject): boolean {
  const synced = status.conditions?.find((condition) => condition.type === 'Synced');
  return (
    synced?.observedGeneration === metadata.generation && (synced?.status === 'True' || synced?.reason === 'Drifted')
  );
}

function cannotChange(subject: ClusterSubject, seen: SpaceSeen, fixed: readonly Difference[]): ClusterDecision {
  const list = fixed
    .map(({ field, desired, observed }) => `${field} is ${observed}, the spec says ${desired}`)
    .join('; ');
  const message = `Cluster "${seen.id}" was created with other properties than the spec has, and they cannot change: ${list}. Set the spec to what the cluster is`;
  return {
    conditions: [...stalled('ImmutableFieldDiffers', message), ...clusterConditions(subject, seen)],
    status: { drift: [...fixed] },
  };
}

function neverShrinks(subject: ClusterSubject, seen: SpaceSeen, shrink: Difference): ClusterDecision {
  const message = `Cluster "${seen.id}" has ${shrink.observed} GB of storage, the spec says ${shrink.desired}: storage is never made smaller. Set storageSizeGB: ${shrink.observed}`;
  return {
    conditions: [...stalled('StorageCannotShrink', message), ...clusterConditions(subject, seen)],
    status: { drift: [shrink] },
  };
}
