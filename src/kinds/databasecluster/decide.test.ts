import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aCloudCluster,
  aCluster,
  anObservation,
  CREATED_AT,
  CREATED_MS,
  conditionOf,
  ENDPOINT,
  NOW_MS,
  noSpace,
  outline,
} from '../../../test/support/builders.ts';
import { decideRunState } from './changes/decide-state.ts';
import { decideCluster, RULES } from './decide.ts';
import { decideClaim } from './existence/decide-claim.ts';
import { decideExistence } from './existence/decide-existence.ts';
import { decideLogin } from './login/decide-login.ts';
import type { ClusterDecision, ClusterObservation, ClusterSubject, LoginObservation } from './observation.ts';

const healthy = aCluster().healthy();
/** Something is wrong for every rule at once. */
const amiss = anObservation()
  .cluster({ createdAt: CREATED_MS + 60_000, storageSizeGB: 50 })
  .status('suspended')
  .with({ claimedBy: 'shop/first' })
  .tried({ working: 'factory' });

describe('decideCluster() asks', () => {
  it('the rules in this order', () => {
    expect(RULES).toEqual([decideClaim, decideExistence, decideRunState, decideLogin]);
  });

  it.each([
    ['who has the id before whose cluster it is', amiss, 'False ClusterIDClaimed'],
    ['whose cluster it is before whether it runs', amiss.with({ claimedBy: undefined }), 'False IdentityChanged'],
    [
      'whether it runs before what it is like',
      amiss.with({ claimedBy: undefined }).cluster({ createdAt: CREATED_MS }),
      'Unknown Resuming',
    ],
    [
      'for its login before what it is like',
      amiss.with({ claimedBy: undefined }).cluster({ createdAt: CREATED_MS }).status('running'),
      'Unknown SecuringCredentials',
    ],
    ['what it is like last', anObservation().cluster({ storageSizeGB: 50 }), 'Unknown Updating'],
  ])('%s', (_what, seen, ready) => {
    expect(outline(decideCluster(healthy.subject, seen.seen, NOW_MS)).ready).toBe(ready);
  });

  it('nothing more if the cluster is that of another object: what was known of the login need not be so any more', () => {
    const claimed = anObservation().with({ claimedBy: 'shop/first' });
    for (const type of ['Available', 'CredentialsSecured']) {
      const told = conditionOf(decideCluster(healthy.subject, claimed.seen, NOW_MS), type);
      expect(told).toMatchObject({ status: 'Unknown', reason: 'NotVerified' });
      expect(told?.message).toBe('No login is tried, as the cluster belongs to DatabaseCluster "shop/first"');
    }
  });

  it.each([
    ['running', 'False NotYet', 'The login that new clusters come with is not retired yet'],
    ['suspended', 'False NotYet', 'none can be tried while the cluster is suspended'],
  ] as const)('and believes nothing of it once the other object is gone (%s)', (state, secured, message) => {
    const given = healthy
      .with({ state: 'Suspended' })
      .withCondition('CredentialsSecured', 'Unknown', 'NotVerified')
      .withCondition('Available', 'Unknown', 'NotVerified');
    const seen = anObservation()
      .status(state)
      .with({ login: { login: 'notTried' } });
    const told = conditionOf(decideCluster(given.subject, seen.seen, NOW_MS), 'CredentialsSecured');
    expect(`${told?.status} ${told?.reason}`).toBe(secured);
    expect(told?.message).toContain(message);
  });

  it('for deletion before everything', () => {
    const given = healthy.with({ deletionPolicy: 'Retain' }).deleting();
    for (const seen of [amiss.seen, noSpace('waiting'), noSpace('refused')])
      expect(outline(decideCluster(given.subject, seen, NOW_MS)).released).toBe(true);
  });
});

describe('decideCluster(), while Lists of the space fail', () => {
  const why = 'The cloud does not show how far that is: DatabaseSpace "production" says why';
  const away = (seen: typeof amiss) => seen.with({ away: 'production' }).seen;

  it.each([
    ['being created', healthy, anObservation().status('starting')],
    ['being suspended', healthy.with({ state: 'Suspended' }), anObservation().status('suspending')],
    ['being destroyed', healthy.with({ deletionPolicy: 'Delete' }).deleting(), anObservation().status('destroying')],
  ])('says of a cluster %s that nobody can tell how far that is', (_what, given, seen) => {
    const { conditions } = decideCluster(given.subject, away(seen), NOW_MS);
    for (const type of ['Ready', 'Reconciling'])
      expect(conditions).toContainEqual(expect.objectContaining({ type, message: expect.stringContaining(why) }));
  });

  it('says nothing of it for a cluster that is Ready, or while it does something', () => {
    for (const seen of [anObservation(), anObservation().cluster({ storageSizeGB: 50 })])
      expect(JSON.stringify(decideCluster(healthy.subject, away(seen), NOW_MS))).not.toContain(why);
  });
});

describe('decideCluster() without the space', () => {
  it('leaves a cluster that is ready as it is', () => {
    expect(decideCluster(healthy.subject, noSpace('waiting'), NOW_MS)).toEqual({ conditions: 'keep' });
  });

  it('says so, too, about a cluster that is ready when the DatabaseSpace itself is gone', () => {
    const missing = { space: 'waiting', reason: 'SpaceNotFound', message: 'Waiting for DatabaseSpace' } as const;
    expect(outline(decideCluster(healthy.subject, missing, NOW_MS)).ready).toBe('Unknown SpaceNotFound');
  });

  it('waits with a cluster that is not ready', () => {
    expect(outline(decideCluster(aCluster().subject, noSpace('waiting'), NOW_MS))).toMatchObject({
      ready: 'Unknown WaitingForSpace',
      summary: 'Reconciling',
    });
  });

  it('says nothing of a new cluster before the space has had its first look', () => {
    const waiting = { ...noSpace('waiting'), untoldMs: 9_000 };
    expect(decideCluster(aCluster().subject, waiting, NOW_MS)).toEqual({ conditions: 'keep', requeueAfterMs: 9_000 });
  });

  it('waits with a cluster whose spec has changed', () => {
    const { subject } = healthy.generation(2);
    expect(outline(decideCluster(subject, noSpace('waiting'), NOW_MS)).ready).toBe('Unknown WaitingForSpace');
  });

  it('judges nothing afresh', () => {
    const { subject } = healthy.generation(2);
    const decision = decideCluster(subject, noSpace('waiting'), NOW_MS);
    const [secured] = subject.status.conditions?.filter(({ type }) => type === 'CredentialsSecured') ?? [];
    expect(conditionOf(decision, 'CredentialsSecured')).toBe(secured);
  });

  it('changes nothing because this process is new', () => {
    const { subject } = aCluster().withCondition('Ready', 'False', 'ClusterIDInUse');
    expect(decideCluster(subject, noSpace('waiting', true), NOW_MS).conditions).toBe('keep');
  });

  it('asks slowly for a space that refuses it', () => {
    expect(outline(decideCluster(healthy.subject, noSpace('refused'), NOW_MS))).toMatchObject({
      ready: 'False SpaceNotAllowed',
      summary: 'Stalled',
      comesBack: 'slowly',
    });
  });
});

const statuses = ['starting', 'running', 'suspending', 'suspended', 'resuming', 'destroying', 'hibernating'];

/** Any spec, status and annotations that an object may have, likely or unlikely. */
const subjects: fc.Arbitrary<ClusterSubject> = fc
  .record({
    state: fc.constantFrom('Running', 'Suspended'),
    adoptionPolicy: fc.constantFrom('Never', 'IfExists', 'MustExist'),
    recreatePolicy: fc.constantFrom('Never', 'Always'),
    driftPolicy: fc.constantFrom('Revert', 'Report'),
    managementPolicy: fc.constantFrom('Manage', 'Manage', 'Observe'),
    deletionPolicy: fc.constantFrom('Retain', 'Suspend', 'Delete'),
    deletionProtection: fc.boolean(),
    storageSizeGB: fc.constantFrom(50, 100, 200),
    version: fc.constantFrom('3.5.0', 'latest'),
    clusterID: fc.constantFrom(undefined, 'orders', 'orders-eu'),
    backup: fc.constantFrom(undefined, { frequency: 'daily' }),
    cloneFrom: fc.constantFrom(undefined, { clusterID: 'source' }),
  })
  .chain((spec) =>
    fc.record({
      spec: fc.constant(spec),
      deleting: fc.boolean(),
      generation: fc.constantFrom(1, 2),
      clusterID: fc.constantFrom(undefined, 'orders'),
      createdAt: fc.constantFrom(undefined, CREATED_AT),
      operation: fc.constantFrom(undefined, 'Deploy' as const, 'Clone' as const),
      target: fc.constantFrom('orders', 'orders-eu'),
      healthy: fc.boolean(),
      observedOnly: fc.constantFrom(undefined, undefined, true),
      synced: fc.constantFrom(undefined, 'Drifted', 'Differs', 'AsSpecified'),
    }),
  )
  .map((given) => {
    let cluster = aCluster().with(given.spec).generation(given.generation);
    if (given.healthy) cluster = cluster.healthy();
    if (given.synced !== undefined)
      cluster = cluster.withCondition('Synced', given.synced === 'AsSpecified' ? 'True' : 'False', given.synced, 1);
    const { clusterID, createdAt, observedOnly } = given;
    cluster = cluster.withStatus({ clusterID, createdAt, observedOnly });
    if (given.operation !== undefined) cluster = cluster.announced(given.operation, given.target);
    return (given.deleting ? cluster.deleting() : cluster).subject;
  });

const logins: fc.Arbitrary<LoginObservation> = fc.oneof(
  fc.constant<LoginObservation>({ login: 'notTried' }),
  fc.constant<LoginObservation>({ login: 'noServer', forMs: 0 }),
  fc.constant<LoginObservation>({ login: 'settled', verifyInMs: 1000 }),
  fc.constant<LoginObservation>({ login: 'unreachable', message: 'Cannot sign in', heldBack: false, forMs: 0 }),
  fc.constant<LoginObservation>({ login: 'unreachable', message: 'Not tried', heldBack: true, forMs: 0 }),
  fc.constant<LoginObservation>({ login: 'secretTaken', secretName: 'orders-admin' }),
  fc.record({
    login: fc.constant('tried' as const),
    secretName: fc.constant('orders-admin'),
    secretVersion: fc.constantFrom(undefined, '5'),
    next: fc.constantFrom('none', 'ours', 'foreign', 'factory'),
    isAwaited: fc.boolean(),
    isJustSet: fc.boolean(),
    replacedInMs: fc.constantFrom(undefined, 1000),
    working: fc.constantFrom('current', 'next', 'inherited', 'inheritedNext', 'existing', 'factory', 'held', 'none'),
    factoryAlive: fc.constantFrom(undefined, true, false),
    verifyInMs: fc.constantFrom(undefined, 1000),
  }),
);

const observations: fc.Arbitrary<ClusterObservation> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(noSpace('waiting'), noSpace('waiting', true), noSpace('refused')) },
  {
    weight: 9,
    arbitrary: fc
      .record({
        missing: fc.boolean(),
        status: fc.constantFrom(...statuses, 'running', 'suspended'),
        createdAt: fc.constantFrom(undefined, CREATED_MS, CREATED_MS, CREATED_MS + 60_000, CREATED_MS - 3_600_000),
        storageSizeGB: fc.constantFrom(100, 100, 200),
        version: fc.constantFrom('3.5.0', '3.5.0', '3.12.0'),
        endpoint: fc.constantFrom(ENDPOINT, ENDPOINT, undefined),
        canDestroy: fc.boolean(),
        claimedBy: fc.constantFrom(undefined, undefined, undefined, 'shop/first'),
        login: logins,
        cloneSource: fc.constantFrom(
          undefined,
          { is: 'known' as const, id: 'source' },
          { is: 'waiting' as const, message: 'Waiting for DatabaseCluster "source"' },
          {
            is: 'unusable' as const,
            reason: 'CloneSourceElsewhere',
            message: 'DatabaseCluster "source" is elsewhere: choose another',
          },
        ),
        mayLandUntilMs: fc.constantFrom(undefined, NOW_MS - 1, NOW_MS + 1000),
        renameTaken: fc.boolean(),
      })
      .map(({ missing, status, createdAt, storageSizeGB, version, ...rest }) => {
        const cluster = missing ? undefined : aCloudCluster({ status, createdAt, storageSizeGB, version });
        return anObservation().with({ ...rest, cluster, endpoint: missing ? undefined : rest.endpoint }).seen;
      }),
  },
);

/** Holds no matter what is observed. */
function always(
  property: (subject: ClusterSubject, observation: ClusterObservation, decision: ClusterDecision) => void,
) {
  fc.assert(
    fc.property(subjects, observations, (subject, observation) => {
      property(subject, observation, decideCluster(subject, observation, NOW_MS));
    }),
    { numRuns: 2000 },
  );
}

const effectsOf = (decision: ClusterDecision) => (decision.steps ?? []).map((step) => step.do);
const isTrue = (decision: ClusterDecision, type: string) => conditionOf(decision, type)?.status === 'True';

/**
 * What wakes a decision that waits without a time of its own. Reasons that are not here must come back by themselves:
 * - cluster: the space's poller reports a change of the cluster (reference clusters/<space>/<id>)
 * - space: the DatabaseSpace changed or was connected (reference databasespaces/<key>)
 */
const WOKEN_BY: Readonly<Record<string, 'cluster' | 'space'>> = {
  Deploying: 'cluster',
  Suspending: 'cluster',
  Resuming: 'cluster',
  Destroying: 'cluster',
  UnderWay: 'cluster',
  WaitingForServer: 'cluster',
  WaitingForSpace: 'space',
  DeletionBlocked: 'space',
};

describe('decideCluster() never', () => {
  it('creates what was not recorded', () => {
    always(({ status }, _observation, { steps = [] }) => {
      for (const step of steps) {
        if (step.do === 'Deploy' || step.do === 'Clone')
          expect(status.operation).toMatchObject({ type: step.do, target: step.id });
      }
    });
  });

  it('creates or changes a cluster that is not certainly its own', () => {
    always(({ status }, observation, decision) => {
      const others = ['Deploy', 'Clone', 'DeleteSecret', 'TellLeft', 'TellFactoryLogin'];
      const touching = effectsOf(decision).filter((step) => !others.includes(step));
      if (touching.length === 0) return;
      const { cluster, claimedBy } = observation.space === 'seen' ? observation : {};
      expect([status.createdAt, status.observedOnly]).toEqual([CREATED_AT, undefined]);
      expect(claimedBy).toBeUndefined();
      expect([undefined, CREATED_MS]).toContain(cluster?.createdAt);
    });
  });

  it('destroys what it was not told to destroy, or what is protected', () => {
    always(({ spec, deleting, status }, observation, decision) => {
      if (!effectsOf(decision).includes('Destroy')) return;
      expect({ deleting, policy: spec.deletionPolicy, isProtected: spec.deletionProtection }).toEqual({
        deleting: true,
        policy: 'Delete',
        isProtected: false,
      });
      expect(status.createdAt).toBe(CREATED_AT);
      expect(observation).toMatchObject({ space: 'seen', canDestroy: true });
    });
  });

  it('leaves a cluster of its own without a finalizer, which would be lost when somebody replaces the object', () => {
    always(({ metadata, spec, deleting, status }, _observation, { hold }) => {
      const isOwner = status.operation !== undefined || (status.createdAt !== undefined && !status.observedOnly);
      const isBare = metadata.finalizers?.length === 0 && !deleting;
      if (isOwner && isBare && spec.managementPolicy === 'Manage') expect(hold).toBe(true);
    });
  });

  it('forgets a cluster of its own, except for another one in its place', () => {
    always(({ status }, observation, decision) => {
      if (status.createdAt === undefined || status.observedOnly || decision.status?.createdAt !== null) return;
      expect(observation).toMatchObject({ space: 'seen', cluster: undefined });
    });
  });

  it('changes anything with managementPolicy Observe', () => {
    always(({ spec }, _observation, decision) => {
      if (spec.managementPolicy === 'Observe') expect(effectsOf(decision)).toEqual([]);
    });
  });

  it('is Ready without what Ready promises', () => {
    always(({ spec }, observation, decision) => {
      if (!isTrue(decision, 'Ready')) return;
      expect(isTrue(decision, 'Synced')).toBe(true);
      const asleep = observation.space === 'seen' && observation.cluster?.status === 'suspended';
      if (asleep) expect(spec.state).toBe('Suspended');
      else if (spec.managementPolicy === 'Manage')
        expect([isTrue(decision, 'CredentialsSecured'), isTrue(decision, 'Available')]).toEqual([true, true]);
    });
  });

  it('says two things at once', () => {
    always((_subject, _observation, decision) => {
      if (decision.conditions === 'keep') return;
      const types = decision.conditions.map((condition) => condition.type);
      expect(types[0]).toBe('Ready');
      expect(new Set(types).size).toBe(types.length);
      expect(types.includes('Stalled') && types.includes('Reconciling')).toBe(false);
      if (isTrue(decision, 'Ready')) expect(types).not.toContain('Stalled');
    });
  });

  it('says anything in a form other than the API asks for', () => {
    always((_subject, _observation, decision) => {
      if (decision.conditions === 'keep') return;
      for (const { reason, message, type } of decision.conditions) {
        expect(reason).toMatch(/^[A-Z][A-Za-z]+$/);
        expect(message, reason).not.toMatch(/\.\s*$|^$|undefined/);
        if (type === 'Stalled')
          expect(message, reason).toMatch(
            /\b(create|check|set|choose|annotate|delete|remove|put|restore|have|give)\b/i,
          );
      }
    });
  });

  it('waits for nothing', () => {
    always((_subject, _observation, decision) => {
      const { steps = [], retry, requeueAfterMs, release } = decision;
      if (steps.length > 0 || retry !== undefined || requeueAfterMs !== undefined || release === true) return;
      const reason = conditionOf(decision, 'Ready')?.reason ?? 'Ready';
      if (isTrue(decision, 'Reconciling')) expect(WOKEN_BY, reason).toHaveProperty(reason);
      if (isTrue(decision, 'Stalled')) expect(reason).toBe('DeletionProtected');
    });
  });

  it('shows drift that Synced does not report, or hides drift that it does', () => {
    always((_subject, _observation, decision) => {
      const synced = conditionOf(decision, 'Synced');
      if (decision.conditions === 'keep' || decision.status?.drift === undefined) return;
      const differs = synced?.reason === 'Differs' || synced?.reason === 'Drifted';
      if (differs) expect(decision.status.drift?.length).toBeGreaterThan(0);
      else expect(decision.status.drift ?? null).toBeNull();
    });
  });
});
