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
} from '../../../test/support/builders.ts';
import { decideCluster } from './decide.ts';
import type { ClusterObservation } from './observation.ts';

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
const letGo = { steps: [], released: true };

const cases: readonly Case[] = [
  { name: 'retains the cluster', given: leaving('Retain'), seen: running.seen, thus: letGo },
  { name: 'retains the cluster without its space', given: leaving('Retain'), seen: noSpace('waiting'), thus: letGo },
  {
    name: 'stays as it is while what is on it and goes too needs it',
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
    name: 'destroys the cluster under the id that it was renamed to, though the answer was lost',
    given: leaving('Delete').with({ clusterID: 'orders-eu' }),
    seen: running.with({ id: 'orders-eu' }).cluster({ id: 'orders-eu' }).seen,
    thus: { ready: 'Unknown Destroying', steps: ['Destroy'] },
  },
  {
    name: 'never destroys by its new id a cluster that tells no creation time',
    given: leaving('Delete').with({ clusterID: 'orders-eu' }),
    seen: running.with({ id: 'orders-eu' }).cluster({ id: 'orders-eu', createdAt: undefined }).seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'waits while the cluster is being destroyed',
    given: leaving('Delete'),
    seen: running.status('destroying').seen,
    thus: { ready: 'Unknown Destroying', summary: 'Reconciling', steps: [] },
  },
  {
    name: 'says of one that was to be suspended, and that somebody else destroys, that it is',
    given: leaving('Suspend'),
    seen: running.status('destroying').seen,
    thus: { ready: 'Unknown Destroying', summary: 'Reconciling', steps: [] },
  },
  {
    name: 'tells nothing of a cluster that was to be suspended, and was seen to end',
    given: leaving('Suspend').withStatus({ state: 'destroying' }),
    seen: gone.seen,
    thus: { steps: [], released: true },
  },
  {
    name: 'deletes the Secret of a cluster that is gone, and tells that it did not end it',
    given: leaving('Delete'),
    seen: gone.seen,
    thus: { steps: ['DeleteSecret', 'TellLeft'], released: true },
  },
  {
    name: 'tells nothing of a cluster that it was seen to end',
    given: leaving('Delete').withStatus({ state: 'destroying' }),
    seen: gone.seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  ...['Delete', 'Suspend'].map((policy) => ({
    name: `tells nothing of a cluster that it was seen to end, and that was shown to be gone since (${policy})`,
    given: leaving(policy).withStatus({ state: undefined }).withCondition('Synced', 'False', 'ClusterDestroyed'),
    seen: gone.seen,
    thus: { steps: policy === 'Delete' ? ['DeleteSecret'] : [], released: true },
  })),
  {
    name: 'tells of a cluster that was there again since, and went without its end being seen',
    given: leaving('Delete').withStatus({ state: 'running' }).withCondition('Synced', 'False', 'ClusterDestroyed'),
    seen: gone.seen,
    thus: { steps: ['DeleteSecret', 'TellLeft'], released: true },
  },
  {
    name: 'tells nothing of a cluster that was only observed',
    given: leaving('Delete').withStatus({ observedOnly: true }),
    seen: gone.seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'never destroys a cluster that has replaced its own',
    given: leaving('Delete'),
    seen: foreign.seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  {
    name: 'never destroys a cluster that another object stands for',
    given: leaving('Delete'),
    seen: running.with({ claimedBy: 'shop/first' }).seen,
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
    seen: noSpace('waiting'),
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
    seen: running.with({ attempted: false }).seen,
    thus: { steps: ['DeleteSecret'], released: true },
  },
  ...['Delete', 'Suspend'].map(
    (deletionPolicy): Case => ({
      name: `waits for the cluster of a lost answer, which may still come into being, with ${deletionPolicy}`,
      given: unanswered(deletionPolicy),
      seen: gone.with({ mayLandUntilMs: NOW_MS + 90_000 }).seen,
      thus: { ready: 'Unknown Deploying', summary: 'Reconciling', steps: [], comesBack: '90000 ms' },
    }),
  ),
  {
    name: 'waits no longer for the cluster of a lost answer than it may take',
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
  { name: 'suspends no cluster that has replaced its own', given: leaving('Suspend'), seen: foreign.seen, thus: letGo },
  {
    name: 'lets a vanished cluster go, and tells that it was not suspended',
    given: leaving('Suspend'),
    seen: gone.seen,
    thus: { steps: ['TellLeft'], released: true },
  },
  {
    name: 'records the cluster of a lost answer before it suspends it',
    given: unanswered('Suspend'),
    seen: running.seen,
    thus: { ready: 'as before', steps: [], comesBack: '0 ms' },
  },
];

describe('decideDeletion()', () => {
  it.each(cases)('$name', ({ given, seen, thus }) => {
    expect(outline(decideCluster(given.subject, seen, NOW_MS))).toMatchObject(thus);
  });

  it.each([
    ['Delete', 'Manage', true],
    ['Delete', 'Observe', false],
    ['Suspend', 'Manage', false],
    ['Retain', 'Manage', false],
  ])('says of protection whether its end destroys data: %s, %s: %s', (policy, managementPolicy, destroys) => {
    const given = leaving(policy).with({ deletionProtection: true, managementPolicy });
    const message = conditionOf(decideCluster(given.subject, running.seen, NOW_MS), 'Ready')?.message;
    expect(message).toContain('deletionProtection is true: set it to false to go on');
    expect(message).toContain('annotate mooring.dev/abandon=true');
    const warning = 'go on, which destroys the cluster with its data. To keep the cluster and let this object go, ';
    expect(message?.includes(warning)).toBe(destroys);
  });

  it('says who destroys a cluster that was to be suspended', () => {
    const decision = decideCluster(leaving('Suspend').subject, running.status('destroying').seen, NOW_MS);
    expect(conditionOf(decision, 'Ready')?.message).toMatch(/is being destroyed, though not by this object/);
    expect(decision.status).toMatchObject({ state: 'destroying' });
  });

  it('keeps the identity of a cluster that it found', () => {
    const decision = decideCluster(unanswered('Delete').subject, running.seen, NOW_MS);
    expect(decision.status).toMatchObject({ createdAt: CREATED_AT, clusterID: 'orders', operation: null });
  });
});
