import { describe, expect, it } from 'vitest';
import {
  aCluster,
  anObservation,
  type ClusterBuilder,
  CREATED_AT,
  CREATED_MS,
  conditionOf,
  NOW_MS,
  type ObservationBuilder,
  outline,
} from '../../../../test/support/builders.ts';
import { decideCluster } from '../decide.ts';
import { decideExistence, isFromOperation } from './decide-existence.ts';

interface Case {
  readonly name: string;
  readonly given: ClusterBuilder;
  readonly seen: ObservationBuilder;
  readonly thus: Partial<ReturnType<typeof outline>>;
  readonly status?: object;
  readonly hold?: boolean;
}

const MINUTE = 60_000;
const foreign = anObservation().cluster({ createdAt: CREATED_MS + MINUTE });
const again = '0 ms';
const absence = { since: '2026-11-20T12:00:00Z', until: '2026-11-20T12:00:20Z', leftMs: 12_000, hadLookalikes: false };
const notShown = anObservation().missing().with({ absence });

const cases: readonly Case[] = [
  {
    name: 'records a deploy before it is made, and for which spec',
    given: aCluster().generation(3),
    seen: anObservation().missing(),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: {
      operation: { type: 'Deploy', target: 'orders', startedAt: new Date(NOW_MS).toISOString(), generation: 3 },
    },
  },
  {
    name: 'deploys what was recorded',
    given: aCluster().announced(),
    seen: anObservation().missing(),
    thus: { ready: 'Unknown Deploying', steps: ['Deploy'] },
  },
  {
    name: 'records a deploy again when another id was recorded',
    given: aCluster().announced('Deploy', 'other').withStatus({ clusterID: 'orders' }),
    seen: anObservation().missing(),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
  },
  {
    name: 'clones what was recorded',
    given: aCluster()
      .with({ cloneFrom: { clusterID: 'source' } })
      .announced('Clone'),
    seen: anObservation()
      .missing()
      .with({ cloneSource: { is: 'known', id: 'source' } }),
    thus: { ready: 'Unknown Deploying', steps: ['Clone'] },
  },
  {
    name: 'waits for the source of a clone, and looks again, as not every change of it wakes it',
    given: aCluster()
      .with({ cloneFrom: { clusterRef: { name: 'source' } } })
      .announced('Clone'),
    seen: anObservation()
      .missing()
      .with({ cloneSource: { is: 'waiting', message: 'Waiting for DatabaseCluster "source"' } }),
    thus: { ready: 'Unknown WaitingForSource', summary: 'Reconciling', steps: [], comesBack: 'soon' },
  },
  {
    name: 'records a deploy again when the id was changed after the cloud had refused it',
    given: aCluster().with({ clusterID: 'orders-eu' }).announced(),
    seen: anObservation().missing().with({ mayLandUntilMs: undefined }),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { operation: { type: 'Deploy', target: 'orders-eu' } },
  },
  {
    name: 'goes on with the recorded id while the call may still take effect',
    given: aCluster().with({ clusterID: 'orders-eu' }).announced(),
    seen: anObservation()
      .missing()
      .with({ mayLandUntilMs: NOW_MS + 1000 }),
    thus: { ready: 'Unknown Deploying', steps: ['Deploy'] },
  },
  {
    name: 'clones nothing from another place',
    given: aCluster().with({ cloneFrom: { clusterRef: { name: 'source' } } }),
    seen: anObservation()
      .missing()
      .with({ cloneSource: { is: 'unusable', reason: 'CloneSourceElsewhere', message: 'Choose another' } }),
    thus: { ready: 'False CloneSourceElsewhere', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'creates none with managementPolicy Observe',
    given: aCluster().with({ managementPolicy: 'Observe' }),
    seen: anObservation().missing(),
    thus: { ready: 'False ClusterNotFound', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'creates none with adoptionPolicy MustExist',
    given: aCluster().with({ adoptionPolicy: 'MustExist' }),
    seen: anObservation().missing(),
    thus: { ready: 'False ClusterNotFound', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'creates nothing in place of a vanished cluster',
    given: aCluster().healthy(),
    seen: anObservation().missing(),
    thus: { ready: 'False ClusterMissing', summary: 'Stalled', steps: [], comesBack: 'slowly' },
    status: { endpoint: null, state: null, servers: null },
  },
  {
    name: 'looks for a cluster that was just deployed and is not shown, as a cloud may be slow',
    given: aCluster().owned(),
    seen: notShown,
    thus: { ready: 'Unknown Deploying', summary: 'Reconciling', steps: [], comesBack: '5000 ms' },
  },
  {
    name: 'looks for a cluster that worked and is not shown',
    given: aCluster().healthy(),
    seen: notShown,
    thus: { ready: 'False NotFound', summary: 'Reconciling', steps: [], comesBack: '5000 ms' },
  },
  {
    name: 'says the same at the next look about a cluster that was suspended, and so was Ready without a login',
    given: aCluster().owned().withCondition('Ready', 'False', 'NotFound'),
    seen: notShown,
    thus: { ready: 'False NotFound', summary: 'Reconciling', steps: [], comesBack: '5000 ms' },
  },
  {
    name: 'does not look again, as a new process would, for a cluster that was treated as gone',
    given: aCluster().owned().withCondition('Ready', 'False', 'ClusterMissing'),
    seen: notShown,
    thus: { ready: 'False ClusterMissing', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'does not look again for a cluster that was only observed, and was treated as gone',
    given: aCluster()
      .with({ managementPolicy: 'Observe', recreatePolicy: 'Always' })
      .owned()
      .withCondition('Ready', 'False', 'ClusterNotFound'),
    seen: notShown,
    thus: { ready: 'False ClusterNotFound', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'looks once more for a cluster that was treated as gone before another one is created in its place',
    given: aCluster().with({ recreatePolicy: 'Always' }).healthy().withCondition('Ready', 'False', 'ClusterMissing'),
    seen: notShown,
    thus: { ready: 'False NotFound', summary: 'Reconciling', steps: [], comesBack: '5000 ms' },
  },
  {
    name: 'reports at once one that may be the cluster under another id',
    given: aCluster().healthy(),
    seen: anObservation()
      .missing()
      .with({ lookalikes: ['other'] }),
    thus: { ready: 'False ClusterMissing', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'forgets a vanished cluster before it creates another, with recreatePolicy Always',
    given: aCluster().with({ recreatePolicy: 'Always' }).healthy(),
    seen: anObservation().missing(),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { createdAt: null, clusterID: null, credentials: null, operation: { type: 'Deploy', target: 'orders' } },
  },
  {
    name: 'treats the cluster of a lost answer as its own',
    given: aCluster().announced(),
    seen: foreign,
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { createdAt: new Date(CREATED_MS + MINUTE).toISOString(), operation: null },
  },
  {
    name: 'treats nothing as its own before the call was made',
    given: aCluster().announced(),
    seen: foreign.with({ mayLandUntilMs: undefined }),
    thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [], comesBack: 'slowly' },
    status: { operation: null },
  },
  {
    name: 'treats no cluster as its own that is older than the call',
    given: aCluster().announced(),
    seen: anObservation().cluster({ createdAt: CREATED_MS - 10 * MINUTE }),
    thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [] },
  },
  {
    name: 'treats the cluster of an answer that was not recorded as its own, whatever its clock and that of the cloud say',
    given: aCluster().announced(),
    seen: anObservation()
      .cluster({ createdAt: CREATED_MS - 10 * MINUTE })
      .with({
        createdByCall: new Date(CREATED_MS - 10 * MINUTE).toISOString(),
      }),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { createdAt: new Date(CREATED_MS - 10 * MINUTE).toISOString(), operation: null },
  },
  {
    name: 'treats the cluster of an answer that was not recorded as its own, if the cloud does not tell any more when it was created',
    given: aCluster().announced(),
    seen: anObservation().cluster({ createdAt: undefined }).with({ createdByCall: CREATED_AT }),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { createdAt: 'unknown', operation: null },
  },
  {
    name: 'treats no cluster as its own that was created after the one in an answer that was not recorded',
    given: aCluster().announced(),
    seen: foreign.with({ createdByCall: CREATED_AT }),
    thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [] },
  },
  {
    name: 'treats a cluster as its own that is older than the call only by the clock of the cloud',
    given: aCluster().announced(),
    seen: anObservation().cluster({ createdAt: CREATED_MS - 4 * MINUTE }),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { createdAt: new Date(CREATED_MS - 4 * MINUTE).toISOString(), operation: null },
  },
  ...[{ provider: 'aws' }, { region: 'us-east1' }, { serverCount: 3 }, { isFree: true }, { version: '3.4.0' }].map(
    (other): Case => ({
      name: `treats no cluster as its own that is unlike what was asked for: ${JSON.stringify(other)}`,
      given: aCluster().announced(),
      seen: foreign.cluster(other),
      thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [] },
    }),
  ),
  ...[{ machineType: 'c2d-highcpu-8' }, { storageSizeGB: 200 }].flatMap((other): readonly Case[] => [
    {
      name: `treats no cluster as its own that is unlike what was asked for, and the spec has not changed since: ${JSON.stringify(other)}`,
      given: aCluster().announced('Deploy', 'orders', 3).generation(3),
      seen: foreign.cluster(other),
      thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [] },
      status: { operation: null },
    },
    {
      name: `treats a cluster as its own that may be as an earlier spec said: ${JSON.stringify(other)}`,
      given: aCluster().announced('Deploy', 'orders', 3).generation(4),
      seen: foreign.cluster(other),
      thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    },
    {
      name: `treats a cluster as its own if an earlier version has not recorded which spec it asked for: ${JSON.stringify(other)}`,
      given: aCluster().announced(),
      seen: foreign.cluster(other),
      thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    },
  ]),
  {
    name: 'leaves a foreign cluster alone',
    given: aCluster(),
    seen: anObservation(),
    thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  ...(['Never', 'IfExists', 'MustExist'] as const).map(
    (adoptionPolicy): Case => ({
      name: `waits for the end of a foreign cluster that is being destroyed, with adoptionPolicy ${adoptionPolicy}`,
      given: aCluster().with({ adoptionPolicy }),
      seen: anObservation().status('destroying'),
      thus: { ready: 'Unknown Destroying', summary: 'Reconciling', steps: [] },
      status: { createdAt: null, operation: null },
    }),
  ),
  {
    name: 'waits for the end of a cluster that it has observed before, and should manage now',
    given: aCluster().with({ adoptionPolicy: 'IfExists' }).healthy().observedBefore(),
    seen: anObservation().status('destroying'),
    thus: { ready: 'Unknown Destroying', summary: 'Reconciling', steps: [] },
    status: { createdAt: null, observedOnly: null, observed: null, version: null, backup: null },
  },
  {
    name: 'does not record a cluster to observe that is being destroyed',
    given: aCluster().with({ managementPolicy: 'Observe' }),
    seen: anObservation().status('destroying'),
    thus: { ready: 'Unknown Destroying', summary: 'Reconciling', steps: [] },
    status: { createdAt: null },
  },
  {
    name: 'recognizes its own cluster, whose deploy was never answered, even if it is being destroyed',
    given: aCluster().announced(),
    seen: foreign.status('destroying'),
    thus: { steps: [], comesBack: again },
    status: { createdAt: new Date(CREATED_MS + MINUTE).toISOString() },
  },
  {
    name: 'takes a foreign cluster over with adoptionPolicy IfExists',
    given: aCluster().with({ adoptionPolicy: 'IfExists' }),
    seen: anObservation(),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { createdAt: CREATED_AT, clusterID: 'orders' },
  },
  {
    name: 'recognizes its own cluster, whose deploy was never answered, even if it only observes now',
    given: aCluster().with({ managementPolicy: 'Observe' }).announced(),
    seen: anObservation().with({ mayLandUntilMs: NOW_MS }),
    thus: { steps: [], comesBack: again },
    status: { createdAt: CREATED_AT, observedOnly: null },
  },
  {
    name: 'records the creation time of its own cluster that the cloud reports late',
    given: aCluster().owned().withStatus({ createdAt: 'unknown' }),
    seen: anObservation().tried({ working: 'factory', secretVersion: undefined, factoryAlive: undefined }),
    thus: { ready: 'as before', steps: [], comesBack: again },
    status: { createdAt: CREATED_AT },
  },
  {
    name: 'leaves a foreign cluster alone that it has observed before',
    given: aCluster().healthy().observedBefore(),
    seen: anObservation(),
    thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [], comesBack: 'slowly' },
    status: { createdAt: null, clusterID: null, endpoint: null },
  },
  {
    name: 'takes over a cluster that it has observed before, with adoptionPolicy IfExists, and puts the finalizer on',
    given: aCluster().with({ adoptionPolicy: 'IfExists' }).healthy().observedBefore(),
    seen: anObservation(),
    thus: { ready: 'as before', steps: [], comesBack: again },
    status: { createdAt: CREATED_AT, observedOnly: null },
    hold: true,
  },
  {
    name: 'records which cluster it observes',
    given: aCluster().with({ managementPolicy: 'Observe' }),
    seen: anObservation(),
    thus: { steps: [], comesBack: again },
    status: { createdAt: CREATED_AT, observedOnly: true },
  },
  {
    name: 'leaves a cluster alone that has replaced its own, and points nobody to it',
    given: aCluster().healthy(),
    seen: foreign,
    thus: { ready: 'False IdentityChanged', summary: 'Stalled', steps: [], comesBack: 'slowly' },
    status: { state: null, endpoint: null, servers: null, drift: null },
  },
  {
    name: 'takes over a replaced cluster when an annotation names it',
    given: aCluster()
      .healthy()
      .annotated('accept-identity', new Date(CREATED_MS + MINUTE).toISOString()),
    seen: foreign,
    thus: { ready: 'Unknown IdentityAccepted', steps: [], comesBack: again },
    status: { createdAt: new Date(CREATED_MS + MINUTE).toISOString(), credentials: null },
  },
  {
    name: 'takes over no other cluster than the annotation names',
    given: aCluster().healthy().annotated('accept-identity', CREATED_AT),
    seen: foreign,
    thus: { ready: 'False IdentityChanged', steps: [] },
  },
  ...(
    [
      ['starting', 'Unknown Deploying'],
      ['suspending', 'Unknown Suspending'],
      ['resuming', 'Unknown Resuming'],
      ['destroying', 'Unknown Destroying'],
      ['hibernating', 'Unknown UnderWay'],
    ] as const
  ).map(
    ([status, ready]): Case => ({
      name: `waits while the cluster is ${status}`,
      given: aCluster().healthy(),
      seen: anObservation().status(status),
      thus: { ready, summary: 'Reconciling', steps: [] },
    }),
  ),
  {
    name: 'looks again when it believes that a cluster is on its way whose suspension was not shown before',
    given: aCluster().healthy(),
    seen: anObservation()
      .status('suspending')
      .with({ notShown: { reason: 'UpdateNotApplied', message: 'It is not shown' } }),
    thus: { ready: 'Unknown UpdateNotApplied', comesBack: '30000 ms' },
  },
  {
    name: 'looks again soon at a clone that is shown at the address of its source',
    given: aCluster().healthy(),
    seen: anObservation().with({ endpoint: undefined, sourcesAddress: { address: 'source.test:443', id: 'source' } }),
    thus: { ready: 'Unknown WaitingForServer', comesBack: 'soon' },
  },
  {
    name: 'knows the clone that it asked for, whatever that is like',
    given: aCluster()
      .with({ cloneFrom: { clusterID: 'source' } })
      .announced('Clone', 'orders', 1),
    seen: foreign.cluster({ machineType: 'c2d-highcpu-16', storageSizeGB: 500 }),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { createdAt: new Date(CREATED_MS + MINUTE).toISOString(), operation: null },
  },
  {
    name: 'knows the cluster that it asked for also at a cloud that does not say what that is like',
    given: aCluster().announced('Deploy', 'orders', 1),
    seen: foreign.cluster({ provider: undefined, serverCount: undefined, version: undefined, machineType: undefined }),
    thus: { ready: 'Unknown Deploying', steps: [], comesBack: again },
    status: { createdAt: new Date(CREATED_MS + MINUTE).toISOString(), operation: null },
  },
  {
    name: 'does not say of a cluster that it takes over which backup settings the one before had',
    given: aCluster()
      .with({ adoptionPolicy: 'IfExists' })
      .withStatus({ backup: { frequency: 'hourly', retentionDays: 7 } }),
    seen: anObservation(),
    thus: { ready: 'Unknown Deploying' },
    status: { backup: null },
  },
  {
    name: 'leaves nothing of a cluster that was only observed and vanished to the one that it creates',
    given: aCluster().with({ recreatePolicy: 'Always' }).owned().observedBefore(),
    seen: anObservation().missing(),
    thus: { ready: 'Unknown Deploying', comesBack: again },
    status: { createdAt: null, observed: null, observedOnly: null, former: null, unverifiedSecretName: null },
  },
  {
    name: 'does not look out for a vanished cluster that nothing would tell from others',
    given: aCluster()
      .with({ recreatePolicy: 'Always' })
      .healthy()
      .withStatus({ createdAt: 'unknown', former: { clusterID: 'before', createdAt: CREATED_AT } }),
    seen: anObservation().missing(),
    thus: { ready: 'Unknown Deploying', comesBack: again },
    status: { former: null, unverifiedSecretName: null },
  },
  {
    name: 'looks out for the vanished cluster, and remembers its Secret, when it creates another one',
    given: aCluster().with({ recreatePolicy: 'Always' }).healthy(),
    seen: anObservation().missing(),
    thus: { ready: 'Unknown Deploying', comesBack: again },
    status: { former: { clusterID: 'orders', createdAt: CREATED_AT }, unverifiedSecretName: 'orders-admin' },
  },
  {
    name: 'is not Ready while a cluster that sleeps is not to be seen, which has no login yet',
    given: aCluster().owned().withCondition('Ready', 'True', 'Suspended'),
    seen: notShown,
    thus: { ready: 'False NotFound' },
  },
  {
    name: 'waits while no server of a running cluster runs',
    given: aCluster().healthy(),
    seen: anObservation().with({ endpoint: undefined }),
    thus: { ready: 'Unknown WaitingForServer', summary: 'Reconciling', steps: [] },
  },
];

describe('decideExistence()', () => {
  it.each(cases)('$name', ({ given, seen, thus, status, hold }) => {
    const decision = decideCluster(given.subject, seen.seen, NOW_MS);
    expect(outline(decision)).toMatchObject(thus);
    if (status !== undefined) expect(decision.status).toMatchObject(status);
    if (hold !== undefined) expect(decision.hold).toBe(hold);
  });

  it.each([
    ['is being created', aCluster().announced(), foreign],
    ['being taken over', aCluster().with({ adoptionPolicy: 'IfExists' }), anObservation()],
    ['observed from now on', aCluster().with({ managementPolicy: 'Observe' }), anObservation()],
  ])('says that a cluster that it finds is %s', (words, given, seen) => {
    const decision = decideCluster(given.subject, seen.seen, NOW_MS);
    expect(conditionOf(decision, 'Ready')?.message).toContain(words);
  });

  it('knows nothing of a cluster under another id than the one that it asked for', () => {
    const { subject } = aCluster().announced('Deploy', 'orders', 1);
    for (const id of ['orders', 'other'])
      expect(isFromOperation(subject, foreign.cluster({ id }).seen), id).toBe(id === 'orders');
  });

  it.each([
    ['before it was Ready', aCluster().owned(), 'Unknown CloudAnswerUnusable'],
    ['that was Ready', aCluster().healthy(), 'False CloudAnswerUnusable'],
    [
      'that was not',
      aCluster().healthy().withCondition('Ready', 'False', 'CloudAnswerUnusable'),
      'False CloudAnswerUnusable',
    ],
  ])('says of a cluster %s that its address is none, and looks again', (_what, given, ready) => {
    const servers = [{ address: 'orders.test:443/path', status: 'running' }];
    const seen = anObservation().cluster({ servers }).with({ endpoint: undefined });
    const decision = decideCluster(given.subject, seen.seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready, steps: [], comesBack: 'slowly' });
    expect(conditionOf(decision, 'Available')).toMatchObject({ status: 'False', reason: 'CloudAnswerUnusable' });
  });

  it("remembers nothing of a cluster that turns out to be somebody else's", () => {
    const given = aCluster().withStatus({
      former: { clusterID: 'before', createdAt: CREATED_AT },
      unverifiedSecretName: 'before-admin',
      observedOnly: true,
    });
    const { status = {} } = decideCluster(given.subject, foreign.seen, NOW_MS);
    expect(new Set(Object.values(status))).toEqual(new Set([null]));
    for (const field of [
      'createdAt',
      'clusterID',
      'operation',
      'former',
      'unverifiedSecretName',
      'place',
      'observedOnly',
    ])
      expect(status).toHaveProperty(field);
  });

  it('says which words the cloud has for servers that do not run, as Mooring may not know one', () => {
    const servers = [{ address: 'orders.test:443', status: 'ready' }];
    const seen = anObservation().cluster({ servers }).with({ endpoint: undefined });
    const decision = decideCluster(aCluster().healthy().subject, seen.seen, NOW_MS);
    expect(conditionOf(decision, 'Ready')?.message).toContain('none of its servers does yet (the cloud says "ready")');
  });

  it.each([
    ['runs', anObservation()],
    ['is suspended', anObservation().status('suspended')],
    ['has no creation time', anObservation().cluster({ createdAt: undefined })],
  ])('leaves a cluster of ours that %s to the other rules', (_what, seen) => {
    expect(decideExistence(aCluster().healthy().subject, seen.seen, NOW_MS)).toBeUndefined();
  });

  it.each([
    ['is created', {}, 'then creates one'],
    ['must be created by a person', { adoptionPolicy: 'MustExist' }, 'create one there when it is gone'],
    ['is only observed', { managementPolicy: 'Observe' }, 'create one there when it is gone'],
  ])('says what follows a foreign cluster that is being destroyed: one that %s', (_what, spec, told) => {
    const decision = decideCluster(aCluster().with(spec).subject, anObservation().status('destroying').seen, NOW_MS);
    expect(conditionOf(decision, 'Ready')?.message).toContain(told);
  });

  it.each([
    ['would be created', {}, true],
    ['must be there', { adoptionPolicy: 'MustExist' }, false],
    ['is only observed', { managementPolicy: 'Observe' }, false],
  ])('names recreatePolicy only if a vanished cluster %s', (_what, spec, isNamed) => {
    const decision = decideCluster(aCluster().with(spec).healthy().subject, anObservation().missing().seen, NOW_MS);
    expect(conditionOf(decision, 'Ready')?.reason).toBe('ClusterMissing');
    expect(conditionOf(decision, 'Ready')?.message.includes('recreatePolicy')).toBe(isNamed);
  });

  it.each([
    ['an empty one is created', { recreatePolicy: 'Always' }],
    ['it is treated as gone', {}],
    ['it is treated as gone', { recreatePolicy: 'Always', managementPolicy: 'Observe' }],
  ])('says that %s if a cluster is not shown for long, with %j', (words, spec) => {
    const decision = decideCluster(aCluster().with(spec).owned().subject, notShown.seen, NOW_MS);
    expect(conditionOf(decision, 'Ready')?.message).toMatch(
      new RegExp(`not been seen in .* since ${absence.since}.* by ${absence.until}, ${words}`),
    );
  });

  it('reports a cluster that it takes over as its own at once', () => {
    const { subject } = aCluster().with({ adoptionPolicy: 'IfExists' });
    const decision = decideCluster(subject, anObservation().seen, NOW_MS);
    const reasons = ['Synced', 'CredentialsSecured'].map((type) => conditionOf(decision, type)?.reason);
    expect(reasons).toEqual(['AsSpecified', 'NotYet']);
  });

  it('says nothing of the login of a vanished cluster when another one is created in its place', () => {
    const lost = aCluster().with({ recreatePolicy: 'Always' }).healthy();
    const { subject } = lost.withCondition('CredentialsSecured', 'False', 'AdminLoginRefused');
    const decision = decideCluster(subject, anObservation().missing().seen, NOW_MS);
    expect(decision.status?.operation).toMatchObject({ type: 'Deploy' });
    expect(conditionOf(decision, 'CredentialsSecured')?.reason).toBe('NotYet');
  });

  it('says nothing of the former login when another cluster is taken over as annotated', () => {
    const given = aCluster()
      .healthy()
      .annotated('accept-identity', new Date(CREATED_MS + MINUTE).toISOString());
    const { subject } = given.withCondition('CredentialsSecured', 'False', 'AdminLoginRefused');
    const decision = decideCluster(subject, foreign.seen, NOW_MS);
    expect(decision.status?.credentials).toBeNull();
    expect(conditionOf(decision, 'CredentialsSecured')?.reason).toBe('ClusterNotOurs');
  });

  it('records no backup settings for a clone, as the request for it has only its id', () => {
    const spec = { backup: { frequency: 'hourly' } };
    const deployed = decideCluster(aCluster().with(spec).announced().subject, foreign.seen, NOW_MS);
    const cloned = decideCluster(
      aCluster()
        .with({ ...spec, cloneFrom: { clusterID: 'source' } })
        .announced('Clone').subject,
      foreign.seen,
      NOW_MS,
    );
    expect(deployed.status?.backup).toEqual({ frequency: 'hourly', retentionDays: 7 });
    expect(cloned.status?.backup).toBeNull();
  });

  it.each([
    ['foreign', aCluster(), anObservation()],
    ['replaced', aCluster().healthy(), foreign],
    ['missing', aCluster().healthy(), anObservation().missing()],
  ])('claims nothing good about a cluster that is %s', (_what, given, seen) => {
    const decision = decideCluster(given.subject, seen.seen, NOW_MS);
    for (const type of ['Ready', 'Synced', 'CredentialsSecured', 'Available'])
      expect(conditionOf(decision, type)?.status, type).toBe('False');
  });
});

describe('decideCluster() while a cluster is being created', () => {
  it('announces what follows once that is written down', () => {
    const given = aCluster();
    const decision = decideCluster(given.subject, anObservation().missing().seen, NOW_MS);
    expect(decision.announces).toEqual([{ do: 'Deploy', id: 'orders' }]);
    const asked = decideCluster(given.announced().subject, anObservation().missing().seen, NOW_MS);
    expect([asked.announces, asked.steps]).toEqual([undefined, decision.announces]);
    // The cloud may take long to answer, and until then the status says this.
    expect(decision.conditions).toEqual(asked.conditions);
  });

  it('says the same once the cloud has begun as when it was asked to, so that nothing needs to be written', () => {
    const asked = decideCluster(aCluster().announced().subject, anObservation().missing().seen, NOW_MS);
    const conditions = asked.conditions === 'keep' ? [] : asked.conditions;
    const told = conditions.reduce(
      (cluster, { type, status, reason }) => cluster.withCondition(type, status, reason),
      aCluster().owned(),
    );
    const begun = decideCluster(told.subject, anObservation().status('starting').seen, NOW_MS);
    const withoutKept = (decision: typeof asked) =>
      decision.conditions === 'keep' ? [] : decision.conditions.filter(({ type }) => type !== 'CredentialsSecured');
    expect(withoutKept(begun)).toEqual(withoutKept(asked));
    expect(begun.status?.drift).toBeNull();
  });
});

it.each(['2026-11-20T08:01:02.000Z', '2026-11-20T08:01:02Z', '2026-11-20T09:01:02+01:00'])(
  'takes over another cluster if accept-identity is its creation time, written as %s',
  (value) => {
    const given = aCluster().healthy().annotated('accept-identity', value);
    const seen = anObservation().cluster({ createdAt: Date.parse('2026-11-20T08:01:02Z') });
    expect(outline(decideCluster(given.subject, seen.seen, NOW_MS)).ready).toBe('Unknown IdentityAccepted');
  },
);

it('takes over no other cluster for a day that does not exist', () => {
  const given = aCluster().healthy().annotated('accept-identity', '2026-02-30T08:01:02Z');
  const seen = anObservation().cluster({ createdAt: Date.parse('2026-03-02T08:01:02Z') });
  expect(outline(decideCluster(given.subject, seen.seen, NOW_MS)).ready).toBe('False IdentityChanged');
});

it.each([String(CREATED_MS + MINUTE), 'true', CREATED_AT])(
  'says that accept-identity: %s names no such creation time',
  (value) => {
    const given = aCluster().healthy().annotated('accept-identity', value);
    const seen = anObservation().cluster({ createdAt: CREATED_MS + MINUTE });
    const ready = conditionOf(decideCluster(given.subject, seen.seen, NOW_MS), 'Ready');
    const wanted = new Date(CREATED_MS + MINUTE).toISOString();
    expect(ready?.message).toContain(`annotate mooring.dev/accept-identity=${wanted}, not "${value}" as now`);
  },
);

it('advises recreatePolicy: Always for a vanished cluster only if another would be created then', () => {
  const gone = anObservation().missing();
  const lookalike = gone.with({ lookalikes: ['other'] });
  const advises = ({ subject }: ReturnType<typeof aCluster>, { seen }: typeof gone) =>
    conditionOf(decideCluster(subject, seen, NOW_MS), 'Ready')?.message.includes('recreatePolicy');
  const given = aCluster().healthy();
  expect([gone, lookalike].map((seen) => advises(given, seen))).toEqual([true, false]);
  // None is created while the other may be this one under another id.
  const always = decideCluster(given.with({ recreatePolicy: 'Always' }).subject, lookalike.seen, NOW_MS);
  expect(outline(always)).toMatchObject({ ready: 'False ClusterMissing', steps: [] });
});
