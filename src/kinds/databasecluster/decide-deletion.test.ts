import { describe, expect, it } from 'vitest';
import {
  aCluster,
  anObservation,
  type ClusterBuilder,
  CREATED_AT,
  CREATED_MS,
  conditionOf,
  NOW_MS,
  noSpace,
  outline,
  PLACE,
} from '../../../test/support/builders.ts';
import { TerminalError, TransientError } from '../../base/errors.ts';
import { failureOf } from '../../kube/failure.ts';
import { decideCluster } from './decide.ts';
import { needsCloudToGo } from './decide-deletion.ts';
import { LOOKED_FOR_MS } from './existence/decide-absent.ts';
import type { ClusterObservation, LoginObservation } from './observation.ts';

interface Case {
  readonly name: string;
  readonly given: ClusterBuilder;
  readonly seen: ClusterObservation;
  readonly thus: Partial<ReturnType<typeof outline>>;
}

const running = anObservation().login({ login: 'notTried' });
const gone = running.missing();
const foreign = running.cluster({ createdAt: CREATED_MS + 60_000 });
const leaving = (deletionPolicy: string, given = aCluster().healthy()) => given.with({ deletionPolicy }).deleting();
const unanswered = (deletionPolicy: string) => leaving(deletionPolicy, aCluster().announced());
const absence = { since: CREATED_AT, until: CREATED_AT, leftMs: 60_000, hadLookalikes: false };
const takenForGone = leaving('Delete').withCondition('Ready', 'False', 'ClusterMissing');
const notNeeded: ClusterObservation = { space: 'notNeeded' };
const letGo = { steps: [], released: true };
const tells = { steps: ['TellFactoryLogin'], released: true };

const cases: readonly Case[] = [
  { name: 'retains the cluster', given: leaving('Retain'), seen: running.seen, thus: letGo },
  { name: 'retains the cluster without its space', given: leaving('Retain'), seen: notNeeded, thus: letGo },
  {
    name: 'tells that it retains a cluster whose factory login was not retired',
    given: leaving('Retain', aCluster().owned()),
    seen: notNeeded,
    thus: tells,
  },
  {
    name: 'tells it of one that may come up, too',
    given: unanswered('Retain'),
    seen: notNeeded,
    thus: tells,
  },
  {
    name: 'tells it of one whose factory login came back',
    given: leaving('Retain').withCondition('CredentialsSecured', 'False', 'FactoryLoginWorks'),
    seen: notNeeded,
    thus: tells,
  },
  {
    name: 'tells it of one that it suspends, once it is suspended',
    given: leaving('Suspend', aCluster().owned()),
    seen: running.status('suspended').seen,
    thus: tells,
  },
  {
    name: 'tells nothing about the login of a cluster that has vanished',
    given: leaving('Retain').withCondition('CredentialsSecured', 'False', 'ClusterMissing'),
    seen: notNeeded,
    thus: letGo,
  },
  {
    name: 'tells nothing about a cluster that is not its own any more',
    given: leaving('Retain', aCluster().owned()).withCondition('CredentialsSecured', 'False', 'ClusterNotOurs'),
    seen: notNeeded,
    thus: letGo,
  },
  {
    name: 'tells it of one that is not shown for a moment, and was never secured',
    given: leaving('Retain', aCluster().owned()).withCondition('CredentialsSecured', 'False', 'ClusterMissing'),
    seen: notNeeded,
    thus: tells,
  },
  ...(
    [
      ['Unknown', 'AdminLoginLost'],
      ['False', 'AdminLoginLost'],
      ['False', 'AdminLoginRefused'],
      ['False', 'AdminLoginUnpublished'],
    ] as const
  ).map(([status, reason]) => ({
    name: `tells nothing about a login that is lost, but was replaced (${status}, ${reason})`,
    given: leaving('Retain').withCondition('CredentialsSecured', status, reason),
    seen: notNeeded,
    thus: letGo,
  })),
  {
    name: 'tells nothing about a cluster that it only observes',
    given: leaving('Retain', aCluster().owned()).with({ managementPolicy: 'Observe' }),
    seen: notNeeded,
    thus: letGo,
  },
  {
    name: 'tells nothing if nothing was asked for',
    given: leaving('Retain', aCluster()),
    seen: notNeeded,
    thus: letGo,
  },
  {
    name: 'stays as it is while what is on it and is also going needs it',
    given: leaving('Retain'),
    seen: { space: 'needed', reason: 'WaitingForDependents', message: 'Waiting', forMs: 1_000 },
    thus: { ready: 'Unknown WaitingForDependents', summary: 'Reconciling', steps: [] },
  },
  {
    name: 'destroys the cluster',
    given: leaving('Delete'),
    seen: running.seen,
    thus: { ready: 'Unknown Destroying', summary: 'Reconciling', steps: ['Destroy'] },
  },
  {
    name: 'destroys the cluster under the id that it was renamed to, even if the answer was lost',
    given: leaving('Delete').with({ clusterID: 'orders-eu' }),
    seen: running.with({ id: 'orders-eu' }).cluster({ id: 'orders-eu' }).seen,
    thus: { ready: 'Unknown Destroying', steps: ['Destroy'] },
  },
  {
    name: 'never destroys by its new id a cluster that has no creation time',
    given: leaving('Delete').with({ clusterID: 'orders-eu' }),
    seen: running.with({ id: 'orders-eu' }).cluster({ id: 'orders-eu', createdAt: undefined }).seen,
    thus: { steps: ['TellLeft'], released: true },
  },
  {
    name: 'waits while the cluster is being destroyed',
    given: leaving('Delete'),
    seen: running.status('destroying').seen,
    thus: { ready: 'Unknown Destroying', summary: 'Reconciling', steps: [] },
  },
  {
    name: 'says when somebody else destroys a cluster that should be suspended',
    given: leaving('Suspend'),
    seen: running.status('destroying').seen,
    thus: { ready: 'Unknown Destroying', summary: 'Reconciling', steps: [] },
  },
  {
    name: 'reports nothing about a cluster that should be suspended, and whose end was seen',
    given: leaving('Suspend').withStatus({ state: 'destroying' }),
    seen: gone.seen,
    thus: { steps: [], released: true },
  },
  {
    name: 'deletes the Secret of a cluster that is gone, and says that it did not end it',
    given: leaving('Delete'),
    seen: gone.seen,
    thus: { steps: ['DeleteSecret', 'TellLeft'], released: true },
  },
  {
    name: 'reports nothing about a cluster whose end was seen',
    given: leaving('Delete').withStatus({ state: 'destroying' }),
    seen: gone.seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  ...['Delete', 'Suspend'].map((policy) => ({
    name: `reports nothing about a cluster whose end was seen, and that was shown to be gone since (${policy})`,
    given: leaving(policy).withStatus({ state: undefined }).withCondition('Synced', 'False', 'ClusterDestroyed'),
    seen: gone.seen,
    thus: { steps: policy === 'Delete' ? ['DeleteSecret'] : [], released: true },
  })),
  {
    name: 'reports a cluster that was there again since, and went without its end being seen',
    given: leaving('Delete').withStatus({ state: 'running' }).withCondition('Synced', 'False', 'ClusterDestroyed'),
    seen: gone.seen,
    thus: { steps: ['DeleteSecret', 'TellLeft'], released: true },
  },
  {
    name: 'reports nothing about a cluster that was only observed',
    given: leaving('Delete').withStatus({ observedOnly: true }),
    seen: gone.seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'never destroys a cluster that has replaced its own, and keeps the login, as it may be its own, restored',
    given: leaving('Delete'),
    seen: foreign.seen,
    thus: { steps: ['TellLeft'], released: true },
  },
  {
    name: 'deletes the Secret of a cluster whose end was seen, and whose id somebody else has by now',
    given: leaving('Delete').withStatus({ state: 'destroying' }),
    seen: foreign.seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: "never destroys a cluster that another object stands for, and keeps the login, which may be that one's only one",
    given: leaving('Delete'),
    seen: running.with({ claimedBy: 'shop/first' }).seen,
    thus: letGo,
  },
  {
    name: 'keeps the login of a cluster that another object stands for, and that is not shown',
    given: leaving('Delete'),
    seen: gone.with({ claimedBy: 'shop/first' }).seen,
    thus: letGo,
  },
  {
    name: 'deletes the Secret of a cluster that another object stood for, and whose end was seen',
    given: leaving('Delete').withStatus({ state: 'destroying' }),
    seen: gone.with({ claimedBy: 'shop/first' }).seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'never destroys with deletionProtection',
    given: leaving('Delete').with({ deletionProtection: true }),
    seen: running.seen,
    thus: { ready: 'False DeletionProtected', summary: 'Stalled', steps: [] },
  },
  {
    name: 'waits with deletionProtection whatever the policy',
    given: leaving('Retain').with({ deletionProtection: true }),
    seen: notNeeded,
    thus: { ready: 'False DeletionProtected', steps: [] },
  },
  {
    name: 'never destroys with managementPolicy Observe',
    given: leaving('Delete').with({ managementPolicy: 'Observe' }),
    seen: running.seen,
    thus: letGo,
  },
  {
    name: 'cannot destroy without an admin token',
    given: leaving('Delete'),
    seen: running.with({ canDestroy: false }).seen,
    thus: { ready: 'False DeletionBlocked', summary: 'Reconciling', steps: [] },
  },
  {
    name: 'needs the space to destroy',
    given: leaving('Delete'),
    seen: noSpace('waiting'),
    thus: { ready: 'False DeletionBlocked', summary: 'Reconciling', steps: [], comesBack: 'when something changes' },
  },
  {
    name: 'asks a space that refuses it again',
    given: leaving('Delete'),
    seen: noSpace('refused'),
    thus: { ready: 'False DeletionBlocked', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'records the cluster of a lost answer before it destroys it',
    given: unanswered('Delete'),
    seen: running.seen,
    thus: { ready: 'as before', steps: [], comesBack: '0 ms' },
  },
  {
    name: 'leaves a cluster that it never asked for',
    given: unanswered('Delete'),
    seen: running.with({ mayLandUntilMs: undefined }).seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  ...['Delete', 'Suspend'].map(
    (deletionPolicy): Case => ({
      name: `waits for the cluster of a lost answer, which may still appear, with ${deletionPolicy}`,
      given: unanswered(deletionPolicy),
      seen: gone.with({ mayLandUntilMs: NOW_MS + 90_000 }).seen,
      thus: { ready: 'Unknown Deploying', summary: 'Reconciling', steps: [], comesBack: '90000 ms' },
    }),
  ),
  {
    name: 'waits no longer for the cluster of a lost answer than the call can take',
    given: unanswered('Delete'),
    seen: gone.with({ mayLandUntilMs: NOW_MS }).seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'suspends the cluster',
    given: leaving('Suspend'),
    seen: running.seen,
    thus: { ready: 'Unknown Suspending', summary: 'Reconciling', steps: ['Suspend'] },
  },
  ...['suspending', 'suspended'].map(
    (status): Case => ({
      name: `lets a cluster go that is ${status}`,
      given: leaving('Suspend'),
      seen: running.status(status).seen,
      thus: letGo,
    }),
  ),
  {
    name: 'waits until the cluster can be suspended',
    given: leaving('Suspend'),
    seen: running.status('starting').seen,
    thus: { ready: 'Unknown Suspending', steps: [] },
  },
  {
    name: 'says what it waits for where the cluster is in a state that nobody knows',
    given: leaving('Suspend'),
    seen: running.status('failed').seen,
    thus: { ready: 'Unknown UnderWay', steps: [] },
  },
  {
    name: 'suspends no cluster that has replaced its own, and says so',
    given: leaving('Suspend'),
    seen: foreign.seen,
    thus: { steps: ['TellLeft'], released: true },
  },
  {
    name: 'lets a vanished cluster go, and says that it was not suspended',
    given: leaving('Suspend'),
    seen: gone.seen,
    thus: { steps: ['TellLeft'], released: true },
  },
  {
    name: 'never destroys a cluster that was only observed',
    given: leaving('Delete').withStatus({ observedOnly: true }),
    seen: running.seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'destroys by its id a cluster that has no creation time',
    given: leaving('Delete'),
    seen: running.cluster({ createdAt: undefined }).seen,
    thus: { steps: ['Destroy'] },
  },
  ...['Delete', 'Suspend'].flatMap((policy): Case[] => [
    {
      name: `neither ends nor leaves a cluster if another one may be what it was renamed to (${policy})`,
      given: leaving(policy),
      seen: gone.with({ lookalikes: ['orders-eu'] }).seen,
      thus: { ready: 'False DeletionBlocked', summary: 'Reconciling', steps: [], comesBack: 'slowly' },
    },
    {
      name: `ends none by an id that nobody has given it (${policy})`,
      given: leaving(policy),
      seen: running.cluster({ id: 'orders-eu' }).seen,
      thus: { ready: 'False DeletionBlocked', steps: [], comesBack: 'slowly' },
    },
    {
      name: `looks for a cluster that the cloud does not show (${policy})`,
      given: leaving(policy),
      seen: gone.with({ absence: { ...absence, leftMs: 2_000 } }).seen,
      thus: { ready: 'Unknown NotFound', summary: 'Reconciling', steps: [], comesBack: '2000 ms' },
    },
  ]),
  {
    name: 'looks again every few seconds for a cluster that the cloud does not show for long',
    given: leaving('Delete'),
    seen: gone.with({ absence: { ...absence, leftMs: 10 * LOOKED_FOR_MS } }).seen,
    thus: { ready: 'Unknown NotFound', comesBack: `${LOOKED_FOR_MS} ms` },
  },
  {
    name: 'does not ask about another cluster if it only observed one',
    given: leaving('Delete').withStatus({ observedOnly: true }),
    seen: gone.with({ lookalikes: ['orders-eu'], absence }).seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'does not look for a cluster that was treated as gone',
    given: takenForGone,
    seen: gone.with({ absence }).seen,
    thus: { steps: ['DeleteSecret', 'TellLeft'], released: true },
  },
  {
    name: 'looks for a cluster that was treated as gone while others may have been it',
    given: takenForGone,
    seen: gone.with({ absence: { ...absence, hadLookalikes: true } }).seen,
    thus: { ready: 'Unknown NotFound', steps: [] },
  },
  {
    name: 'records a cluster that had vanished and is back before it destroys it',
    given: leaving('Delete', aCluster().withStatus({ former: { clusterID: 'orders', createdAt: CREATED_AT } })),
    seen: running.seen,
    thus: { ready: 'as before', steps: [], comesBack: '0 ms' },
  },
  {
    name: 'leaves a cluster that is unlike what was asked for: the deletion alone, which counts as a generation, changed no spec',
    given: leaving('Delete', aCluster().announced('Deploy', 'orders', 3)).generation(4),
    seen: running.cluster({ storageSizeGB: 200 }).seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'takes a cluster that may be as an earlier spec said for the one that was asked for',
    given: leaving('Delete', aCluster().announced('Deploy', 'orders', 3)).generation(5),
    seen: running.cluster({ storageSizeGB: 200 }).seen,
    thus: { ready: 'as before', steps: [], comesBack: '0 ms' },
  },
  {
    name: 'destroys a cluster that is known, no matter what else was asked for',
    given: leaving('Delete', aCluster().healthy().announced('Clone')),
    seen: running.seen,
    thus: { ready: 'Unknown Destroying', steps: ['Destroy'] },
  },
  {
    name: 'destroys a cluster by the id that it has, even if it should get another one',
    given: leaving('Delete').with({ clusterID: 'orders-eu' }),
    seen: running.seen,
    thus: { ready: 'Unknown Destroying', steps: ['Destroy'] },
  },
  {
    name: 'comes back if the cloud shows a cluster that it may have destroyed already',
    given: leaving('Delete'),
    seen: running.status('destroying').with({ notShown: { reason: 'UpdateNotApplied', message: 'Not yet' } }).seen,
    thus: { ready: 'Unknown UpdateNotApplied', steps: [], comesBack: '30000 ms' },
  },
  {
    name: 'waits for no answer if it knows its cluster',
    given: leaving('Delete'),
    seen: gone.with({ mayLandUntilMs: NOW_MS + 90_000 }).seen,
    thus: { steps: ['DeleteSecret', 'TellLeft'], released: true },
  },
  {
    name: 'records the cluster of a lost answer before it suspends it',
    given: unanswered('Suspend'),
    seen: running.seen,
    thus: { ready: 'as before', steps: [], comesBack: '0 ms' },
  },
];

it.each(['starting', 'resuming'])(
  'A cluster that is to be suspended but is %s is not said to be suspended yet',
  (status) => {
    const { subject } = leaving('Suspend');
    const message = conditionOf(decideCluster(subject, running.status(status).seen, NOW_MS), 'Ready')?.message;
    expect(message).toMatch(new RegExp(`is ${status}, and is suspended once it runs, before .*abandon=true$`));
    const now = conditionOf(decideCluster(subject, running.seen, NOW_MS), 'Ready')?.message;
    expect(now).toBe('Cluster "orders" is being suspended before this object is removed');
  },
);

describe('A cluster that is to be destroyed while it is being cloned', () => {
  const waits = { ready: 'Unknown WaitingForDependents', steps: [], comesBack: '15000 ms' };

  it.each([
    ['stays until the clone has a login of its own', running],
    ['leaves its Secret if it is gone before that', gone],
  ])('%s', (_what, seen) => {
    const decision = decideCluster(leaving('Delete').subject, seen.with({ clones: ['copy'] }).seen, NOW_MS);
    expect(outline(decision)).toMatchObject(waits);
    expect(decision.release).toBeUndefined();
    expect(conditionOf(decision, 'Ready')?.message).toContain(
      'DatabaseCluster "copy". To destroy the cluster at once, delete that object with deletionPolicy: Delete, as nobody would be able to sign in to its cluster. ',
    );
  });

  it.each([
    ['is being destroyed already', leaving('Delete'), running.status('destroying'), []],
    ['is suspended instead', leaving('Suspend'), running, ['Suspend']],
  ])('goes on if it %s', (_what, given, seen, steps) => {
    const decision = decideCluster(given.subject, seen.with({ clones: ['copy'] }).seen, NOW_MS);
    expect(decision.steps ?? []).toEqual(steps.map((step) => expect.objectContaining({ do: step })));
  });
});

describe('decideDeletion()', () => {
  it.each(cases)('$name', ({ given, seen, thus }) => {
    expect(outline(decideCluster(given.subject, seen, NOW_MS))).toMatchObject(thus);
  });

  it.each([
    ['Delete', 'Manage', true],
    ['Delete', 'Observe', false],
    ['Suspend', 'Manage', false],
    ['Retain', 'Manage', false],
  ])('says, when protected, whether its end destroys data: %s, %s: %s', (policy, managementPolicy, destroys) => {
    const given = leaving(policy).with({ deletionProtection: true, managementPolicy });
    const message = conditionOf(decideCluster(given.subject, running.seen, NOW_MS), 'Ready')?.message;
    expect(message).toContain('deletionProtection is true: set it to false to go on');
    expect(message).toContain('annotate mooring.dev/abandon=true');
    const warning =
      'go on, which destroys the cluster with its data. To keep the cluster and remove only this object, ';
    expect(message?.includes(warning)).toBe(destroys);
    expect(message?.includes('destroys')).toBe(destroys);
    expect(message?.includes('keep the cluster')).toBe(destroys);
  });

  it.each(cases)('says what else is known: $name', ({ given, seen }) => {
    const { conditions } = decideCluster(given.subject, seen, NOW_MS);
    const types = conditions === 'keep' ? ['Synced'] : conditions.map(({ type }) => type);
    expect(types).toContain('Synced');
  });

  it.each([
    ['Delete', 'Manage', true],
    ['Suspend', 'Manage', true],
    ['Retain', 'Manage', false],
    ['Delete', 'Observe', false],
  ])('needs the cloud with %s, %s: %s', (policy, managementPolicy, needs) => {
    expect(needsCloudToGo(leaving(policy).with({ managementPolicy }).subject.spec)).toBe(needs);
  });

  it('names the cluster that it ends, or leaves', () => {
    const stepsOf = (policy: string, seen: ClusterObservation) =>
      decideCluster(leaving(policy).subject, seen, NOW_MS).steps;
    expect(stepsOf('Delete', running.seen)).toEqual([{ do: 'Destroy', id: 'orders' }]);
    expect(stepsOf('Suspend', running.seen)).toEqual([{ do: 'Suspend', id: 'orders' }]);
    const message = expect.stringMatching(/^Cluster "orders" in space .* was to be suspended with this object/);
    expect(stepsOf('Suspend', gone.seen)).toEqual([{ do: 'TellLeft', id: 'orders', message }]);
    expect(stepsOf('Suspend', gone.with({ claimedBy: 'shop/first' }).seen)).toEqual([]);
  });

  it.each([
    ['is there', aCluster().owned().withStatus({ place: PLACE }), 'Cluster "orders" in space .* stays, and the login'],
    [
      'may come up',
      aCluster().announced(),
      'Cluster "orders".* was asked for, and stays if it comes up, and the login',
    ],
  ])('says which login may be left on a cluster that %s, and what to do', (_what, given, words) => {
    const { steps } = decideCluster(leaving('Retain', given).subject, notNeeded, NOW_MS);
    const message = expect.stringMatching(`^${words} that new clusters come with .*Replace its password`);
    expect(steps).toEqual([{ do: 'TellFactoryLogin', id: 'orders', message }]);
  });

  it.each([
    ['another one', gone.with({ lookalikes: ['orders-eu', 'orders-us'] }).seen, '"orders-eu", "orders-us", created'],
    ['its own', running.cluster({ id: 'orders-eu' }).seen, '"orders-eu", created'],
  ])('names the clusters that it may have been renamed to: %s', (_what, seen, names) => {
    const message = conditionOf(decideCluster(leaving('Delete').subject, seen, NOW_MS), 'Ready')?.message;
    expect(message).toContain(`Cluster "orders" no longer exists, but there is ${names}`);
    expect(message).toContain('set clusterID: orders-eu to go on');
  });

  it('goes by the creation time to tell whether a cluster was renamed', () => {
    const stepsOf = (seen: ClusterObservation) => decideCluster(leaving('Delete').subject, seen, NOW_MS).steps;
    const foreignOther = foreign.cluster({ id: 'orders-eu' }).seen;
    expect(stepsOf(foreignOther)).toMatchObject([{ do: 'TellLeft' }]);
  });

  it('comes back for what it waits for on the server, and leaves the rest as it was', () => {
    const seen = { space: 'needed', reason: 'WaitingForDependents', message: 'Waiting', forMs: 1_000 } as const;
    const decision = decideCluster(leaving('Delete').subject, seen, NOW_MS);
    expect(decision.requeueAfterMs).toBe(1_000);
    expect(conditionOf(decision, 'Synced')).toMatchObject({ reason: 'AsSpecified', message: 'As before' });
  });

  it('says who destroys a cluster that should be suspended', () => {
    const decision = decideCluster(leaving('Suspend').subject, running.status('destroying').seen, NOW_MS);
    expect(conditionOf(decision, 'Ready')?.message).toMatch(/is being destroyed, though not by this object/);
    expect(decision.status).toMatchObject({ state: 'destroying' });
  });

  it('reports what it sees of a cluster that it destroys', () => {
    const decision = decideCluster(leaving('Delete').subject, running.status('destroying').seen, NOW_MS);
    expect(decision.status).toMatchObject({ state: 'destroying', clusterID: 'orders' });
  });

  it('does not say that a cluster is as specified if it is protected and cannot be looked at', () => {
    const given = leaving('Delete').with({ deletionProtection: true }).subject;
    const syncedOf = (seen: ClusterObservation) => conditionOf(decideCluster(given, seen, NOW_MS), 'Synced')?.status;
    expect([noSpace('waiting'), notNeeded, running.seen].map(syncedOf)).toEqual(['Unknown', 'Unknown', 'True']);
  });

  it('looks again after a failed look at a protected cluster, and leaves the rest as it was', () => {
    const given = leaving('Delete').with({ deletionProtection: true }).subject;
    for (const [error, retry] of [
      [new TransientError('CloudUnreachable', 'No answer'), 'later'],
      [new TerminalError('RefusedByCloud', 'Not allowed'), 'slowly'],
    ] as const) {
      const failure = failureOf(error);
      const decision = decideCluster(given, { space: 'protected', ...failure }, NOW_MS);
      expect(decision).toMatchObject({ retry, prevails: true, mayPass: failure.mayPass });
      expect(outline(decision).ready).toBe('False DeletionProtected');
      expect(conditionOf(decision, 'Synced')).toMatchObject({ status: 'True', message: 'As before' });
    }
  });

  it.each([
    ['none is there', undefined, undefined],
    ['it is refused, as nothing reports that it is accepted again', 'it is refused', 'later'],
  ])('looks again at a cluster that no token may destroy if %s', (_what, destroyRefusal, retry) => {
    const seen = anObservation().with({ canDestroy: false, destroyRefusal });
    const decide = (login: LoginObservation) =>
      decideCluster(leaving('Delete').subject, seen.login(login).seen, NOW_MS).retry;
    expect(decide({ login: 'settled', verifyInMs: 600_000 })).toBe(retry);
    expect(decide({ login: 'unreachable', message: 'It is down', heldBack: false, forMs: 0 })).toBe('soon');
  });

  it('goes on looking at the login of a cluster that stays as its object is paused', () => {
    const given = leaving('Suspend').annotated('paused', 'true').subject;
    const decide = (login: LoginObservation) => {
      const { retry, requeueAfterMs, steps } = decideCluster(given, anObservation().login(login).seen, NOW_MS);
      return { retry, requeueAfterMs, steps: steps?.map((step) => step.do) };
    };
    const settled = { login: 'settled', verifyInMs: 600_000 } as const;
    const steps = ['Suspend'];
    expect(decide(settled)).toEqual({ retry: undefined, requeueAfterMs: 600_000, steps });
    const down = { login: 'unreachable', message: 'It is down', heldBack: false, forMs: 0 } as const;
    expect(decide(down)).toEqual({ retry: 'soon', requeueAfterMs: undefined, steps });
  });

  it('shows a protected cluster under an id that nobody has given it, and does not record that id', () => {
    const given = leaving('Delete').with({ deletionProtection: true }).subject;
    const { status = {} } = decideCluster(given, running.cluster({ id: 'orders-x' }).seen, NOW_MS);
    expect(status).toMatchObject({ state: 'running', drift: [{ field: 'clusterID' }] });
    expect(status).not.toHaveProperty('clusterID');
    const own = decideCluster(given, running.seen, NOW_MS);
    expect(own.status).toMatchObject({ state: 'running', clusterID: 'orders', drift: null });
  });

  it('keeps the identity of a cluster that it found', () => {
    const decision = decideCluster(unanswered('Delete').subject, running.seen, NOW_MS);
    expect(decision.status).toEqual({
      createdAt: CREATED_AT,
      clusterID: 'orders',
      place: PLACE,
      operation: null,
      former: null,
    });
  });
});
