import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  aCluster,
  anObservation,
  CREATED_MS,
  conditionOf,
  NOW_MS,
  type ObservationBuilder,
} from '../../../test/support/builders.ts';
import { decideCluster } from './decide.ts';
import type { ClusterDecision, ClusterObservation, ClusterStep } from './observation.ts';

/** docs/lifecycle.md is what `decideCluster` says, asked for each row. `UPDATE_DOCS=1` rewrites it. */
const DOCUMENT = new URL('../../../docs/lifecycle.md', import.meta.url);

const healthy = aCluster().healthy();

const DESIRED = [
  ['Running', healthy],
  ['Suspended', healthy.generation(2).with({ state: 'Suspended' })],
  ['deleted, deletionPolicy Retain', healthy.with({ deletionPolicy: 'Retain' }).deleting()],
  ['deleted, deletionPolicy Suspend', healthy.with({ deletionPolicy: 'Suspend' }).deleting()],
  ['deleted, deletionPolicy Delete', healthy.with({ deletionPolicy: 'Delete' }).deleting()],
] as const;

/** `foreign`: nothing says that the cluster is this object's. */
const OBSERVED: readonly (readonly [string, ObservationBuilder | 'moved', 'foreign' | 'new' | 'owned'])[] = [
  ...['starting', 'running', 'suspending', 'suspended', 'resuming', 'destroying'].map(
    (word) => [word, anObservation().status(word), 'owned'] as const,
  ),
  ['another word, such as `hibernating`', anObservation().status('hibernating'), 'owned'],
  ['none yet', anObservation().missing(), 'new'],
  ['renamed by somebody else', anObservation().with({ id: 'orders-x' }).cluster({ id: 'orders-x' }), 'owned'],
  ['in another place than its space', 'moved', 'owned'],
  ['vanished', anObservation().missing(), 'owned'],
  ['replaced by another one', anObservation().cluster({ createdAt: CREATED_MS + 60_000 }), 'owned'],
  ["somebody else's", anObservation(), 'foreign'],
  ["somebody else's, and being destroyed", anObservation().status('destroying'), 'foreign'],
];

const DOES: Readonly<Record<ClusterStep['do'], string>> = {
  Deploy: 'creates it',
  Clone: 'clones it',
  Destroy: 'destroys it',
  Suspend: 'suspends it',
  Resume: 'resumes it',
  Rename: 'renames it',
  Update: 'changes it',
  PreparePassword: 'writes a new password',
  PutPassword: 'sets the new password',
  PromotePassword: 'publishes the new password',
  DeleteSecret: 'deletes the admin Secret',
  RetireSecret: 'deletes the former admin Secret',
  TellLeft: 'reports that nobody saw its end',
  TellFactoryLogin: 'reports that its first login may work',
};

function doing(decision: ClusterDecision): string {
  const steps = (decision.steps ?? []).map((step) => DOES[step.do]);
  if (decision.release === true) return [...steps, 'removes the finalizer'].join(', ');
  if (steps.length > 0) return steps.join(', ');
  if (conditionOf(decision, 'Stalled') !== undefined) return 'nothing, a person must act';
  if (decision.status?.operation != null) return 'records that it creates it, then does so';
  return conditionOf(decision, 'Reconciling') === undefined ? 'nothing' : 'waits';
}

function row(
  [desired, owner]: (typeof DESIRED)[number],
  [observed, seen, whose]: (typeof OBSERVED)[number],
): readonly string[] {
  const unknown = { conditions: undefined, createdAt: undefined, clusterID: undefined, credentials: undefined };
  const { subject } = whose === 'owned' ? owner : owner.withStatus(unknown);
  const asleep = subject.spec.state === 'Suspended' || subject.deleting;
  const decision = decideCluster(subject, observationOf(seen, asleep), NOW_MS);
  const ready = conditionOf(decision, 'Ready');
  return [desired, observed, doing(decision), ready?.status ?? '', ready?.reason ?? ''];
}

function observationOf(seen: ObservationBuilder | 'moved', asleep: boolean): ClusterObservation {
  if (seen === 'moved') return { space: 'moved', reason: 'SpaceMoved', message: '' };
  return asleep ? seen.login({ login: 'notTried' }).seen : seen.seen;
}

function table(): string {
  const rows = DESIRED.flatMap((desired) => OBSERVED.map((observed) => row(desired, observed)));
  const lines = [
    ['The object says', 'The cluster is', 'Mooring', 'Ready', 'Reason'],
    ['---', '---', '---', '---', '---'],
    ...rows,
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function document(): string {
  return `# What Mooring does with a cluster

The table has each state that a DatabaseCluster asks for, with each that its cluster may be in. All policies have their defaults
(adoptionPolicy, recreatePolicy: Never; driftPolicy: Revert; managementPolicy: Manage), the cluster has the properties of
the spec, its login was verified, and the space has an API token of level admin.

${table()}

A cluster counts as vanished once neither the cloud's List nor a Get has shown it for 20 seconds, as a cloud may be slow
to show one. Until then Ready says NotFound, or Deploying if the cluster never came up, and how long Mooring goes on looking.
The same holds for an object that is being deleted, with deletionPolicy Suspend or Delete.

Mooring knows a cluster by its id and creation time, as the cloud keeps no owner's mark. It never changes or destroys
somebody else's cluster, or one that replaced the object's. It recognises a renamed cluster by its creation time, but only
if that is to the millisecond, no other cluster has the same, and no List showed both; otherwise it reports the cluster, and
clusterID settles it. A cluster that three Lists showed beside the object's is another one, whatever its creation time.

Other settings:

- adoptionPolicy IfExists or MustExist: somebody else's cluster is taken over, unless it is being destroyed; with MustExist
  none is created.
- recreatePolicy Always: an empty cluster is created in place of a vanished one. If the vanished one is there again before
  another is created, it is the object's again.
- managementPolicy Observe: Mooring never does anything. Ready says whether the cluster is as the spec says, with reason
  Observed or Drifted, and nothing about its login.
- driftPolicy Report: what was changed elsewhere stays, with reason Drifted or RenamedElsewhere, until the spec changes.
- deletionProtection: deletion waits, with reason DeletionProtected. Meanwhile nothing about the cluster is changed, and its
  login is looked after as before.

Without its finalizer an object is gone and reports nothing, hence the empty cells. An object that waits goes on with the
cloud's next List. One that a person must fix is looked at again when the cluster, the space or a Secret changes, and slowly
in any case.

The tests write this table from the function that decides: \`UPDATE_DOCS=1 npm test\`.
`;
}

describe('docs/lifecycle.md', () => {
  it('says what decideCluster() does', async () => {
    if (process.env['UPDATE_DOCS'] === '1') await writeFile(DOCUMENT, document());
    expect(await readFile(DOCUMENT, 'utf8')).toBe(document());
  });
});
