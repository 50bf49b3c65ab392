import { describe, expect, it } from 'vitest';
import { aCluster, anObservation, CREATED_MS, ENDPOINT } from '../../../test/support/builders.ts';
import { clusterSchema } from '../../cloud/schema.ts';
import { isOurs, owns } from './identity.ts';
import { clusterConditions, isDrift, isSecured, shown, unobserved } from './present.ts';
import { status } from './status.ts';

const healthy = aCluster().healthy();
const foreign = anObservation().cluster({ createdAt: CREATED_MS + 1 });

const withoutNulls = (patch: object) => Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null));

describe('shown()', () => {
  it('shows what the cloud reports', () => {
    expect(shown(anObservation().seen)).toMatchObject({
      state: 'running',
      clusterID: 'orders',
      version: '3.5.0',
      endpoint: ENDPOINT,
      observed: { storageSizeGB: 100, machineType: 'c2d-highcpu-4' },
    });
  });

  it.each([100.5, 1e300, -3, 0.1])('shows nothing that the status has no room for (%d)', (number) => {
    const cluster = clusterSchema.parse({
      id: 'orders',
      status: 'running',
      storageSizeGB: number,
      serverCount: number,
    });
    expect(
      status.safeParse({ observedGeneration: 1, ...withoutNulls(shown({ cluster, endpoint: undefined })) }).error,
    ).toBeUndefined();
  });

  it('shows the servers in one order, whatever the order of the List', () => {
    const [a, b] = ['a', 'b'].map((host) => ({ address: `${host}.test:443`, status: 'running' }));
    for (const servers of [
      [a, b],
      [b, a],
    ])
      expect(
        shown(anObservation().cluster({ servers: servers.flatMap((server) => server ?? []) }).seen).servers,
      ).toEqual([a, b]);
  });

  it('removes what was shown of a cluster that is gone, except what others recognize it by', () => {
    expect(shown(anObservation().missing().seen)).toEqual({ state: null, servers: null, endpoint: null });
  });
});

describe('isOurs()', () => {
  it.each([
    ['the cluster that was recorded', healthy, anObservation(), true],
    ['a cluster when none was recorded', aCluster(), anObservation(), false],
    ['another cluster than was recorded', healthy, foreign, false],
    ['no cluster', healthy, anObservation().missing(), false],
    ['a cluster without a creation time', healthy, anObservation().cluster({ createdAt: undefined }), true],
    [
      'a cluster that never had a creation time, and does now',
      healthy.withStatus({ createdAt: 'unknown' }),
      anObservation(),
      false,
    ],
    [
      'a cluster whose creation time the cloud reports late, before its login was verified',
      aCluster().owned().withStatus({ createdAt: 'unknown' }),
      anObservation(),
      true,
    ],
  ])('of %s', (_what, given, seen, ours) => {
    expect(isOurs(given.subject, seen.seen)).toBe(ours);
  });
});

describe('owns()', () => {
  it.each([
    ['one that was recorded as its own', healthy, true],
    ['one that may be coming', aCluster().announced(), true],
    ['none, if nothing was recorded', aCluster(), false],
    ['none, if it was only observed', healthy.observedBefore(), false],
    ['none, while it only observes', healthy.with({ managementPolicy: 'Observe' }), false],
  ])('says of %s', (_what, { subject }, expected) => {
    expect(owns(subject)).toBe(expected);
  });
});

describe('isDrift()', () => {
  it.each([
    ['when it was in sync with this spec', aCluster().withCondition('Synced', 'True', 'AsSpecified'), true],
    ['when it had drifted from this spec', aCluster().withCondition('Synced', 'False', 'Drifted'), true],
    ['not when this spec was not reached yet', aCluster().withCondition('Synced', 'False', 'Differs'), false],
    ['not when the spec has changed', aCluster().withCondition('Synced', 'True', 'AsSpecified').generation(2), false],
    [
      'when it was in sync before the cloud could not be asked',
      aCluster().withCondition('Synced', 'Unknown', 'NotObserved'),
      true,
    ],
    ['not when nothing is known', aCluster(), false],
  ])('%s', (_when, given, drift) => {
    expect(isDrift(given.subject, {})).toBe(drift);
    expect(isDrift(given.subject, { isOurChange: true })).toBe(false);
  });
});

describe('isSecured()', () => {
  it.each([
    ['was verified', healthy, true],
    ['was verified, and does not work any more', healthy.withCondition('CredentialsSecured', 'False', 'Refused'), true],
    ['was never verified', aCluster().owned(), false],
    ['may not be retired', healthy.withCondition('CredentialsSecured', 'False', 'NotYet'), false],
    ['was only observed since', healthy.withCondition('CredentialsSecured', 'Unknown', 'ObservedOnly'), false],
    ['was not verified again', healthy.withCondition('CredentialsSecured', 'Unknown', 'NotVerified'), false],
  ])('tells whether a cluster may be suspended without another look at its login, which %s', (_what, given, is) => {
    expect(isSecured(given.subject)).toBe(is);
  });
});

describe('unobserved()', () => {
  const syncedOf = (given: typeof healthy) =>
    unobserved(given.subject, 'WaitingForSpace').find(({ type }) => type === 'Synced');

  it('no longer claims that the cluster is as the spec says, but remembers that it was', () => {
    expect(syncedOf(healthy)).toMatchObject({ status: 'Unknown', reason: 'NotObserved' });
    expect(syncedOf(healthy.generation(2))).toMatchObject({ status: 'Unknown', reason: 'WaitingForSpace' });
  });

  it('leaves what was wrong, and what is known of the login, as it stands', () => {
    const drifted = healthy.withCondition('Synced', 'False', 'Drifted');
    expect(unobserved(drifted.subject, 'WaitingForSpace')).toEqual(
      drifted.subject.status.conditions?.filter(({ type }) => type !== 'Ready'),
    );
  });
});

describe('clusterConditions()', () => {
  it('claim of a login that cannot be tried, as the cluster is suspended, only that it worked before', () => {
    const secured = clusterConditions(healthy.subject, anObservation().status('suspended').seen)[1];
    expect(secured).toMatchObject({
      status: 'True',
      message: expect.stringContaining('"orders-admin" worked when it was last tried'),
    });
  });

  describe('of a suspended cluster whose Secret is gone', () => {
    const asleep = anObservation().status('suspended');
    const gone = asleep.login({ login: 'notTried', lostSecret: 'orders-admin' });
    const lost = {
      status: 'Unknown',
      reason: 'AdminLoginLost',
      message:
        'Secret "orders-admin" is gone, and no new one can be made while the cluster is suspended: when it runs again, nobody may be able to sign in. Restore it, with labels mooring.dev/cluster=orders and app.kubernetes.io/managed-by=mooring, or put the login that works into a Secret and name it in adminCredentials.existingSecretRef',
    };
    const known = healthy.withCondition('CredentialsSecured', 'Unknown', 'AdminLoginLost');

    it('say so, and keep saying so', () => {
      expect(securedOf(healthy.subject, gone.seen)).toMatchObject(lost);
      expect(securedOf(known.subject, gone.seen)).toMatchObject(lost);
    });

    it('say that it worked once the Secret is back', () => {
      expect(securedOf(known.subject, asleep.login({ login: 'notTried' }).seen)).toMatchObject({
        status: 'True',
        reason: 'FactoryLoginRetired',
        message: expect.stringContaining('"orders-admin" worked when it was last tried'),
      });
    });

    it('say nothing else of a login that was already lost while the cluster ran', () => {
      const before = healthy.withCondition('CredentialsSecured', 'False', 'AdminLoginLost');
      expect(securedOf(before.subject, gone.seen)).toMatchObject({ status: 'False', reason: 'AdminLoginLost' });
      expect(securedOf(before.subject, asleep.seen)).toMatchObject({ status: 'False', reason: 'AdminLoginLost' });
    });
  });

  const typesAndStatuses = (...arguments_: Parameters<typeof clusterConditions>) =>
    Object.fromEntries(clusterConditions(...arguments_).map(({ type, status }) => [type, status]));

  const securedOf = (...arguments_: Parameters<typeof clusterConditions>) =>
    clusterConditions(...arguments_).find(({ type }) => type === 'CredentialsSecured');

  it('names no server of a cluster that is not ours, as another one may be the first each time', () => {
    const available = (endpoint: string) =>
      clusterConditions(aCluster().subject, foreign.with({ endpoint }).seen).find(({ type }) => type === 'Available');
    expect(available('https://a.test:443')).toMatchObject({ status: 'False', reason: 'NotVerified' });
    expect(available('https://a.test:443')).toEqual(available('https://b.test:443'));
  });

  it('keeps what was verified at this cluster', () => {
    expect(typesAndStatuses(healthy.subject, anObservation().seen)).toEqual({
      Synced: 'True',
      CredentialsSecured: 'True',
      Available: 'True',
    });
  });

  it('claims nothing good about another cluster, or about none', () => {
    for (const seen of [foreign.seen, anObservation().missing().seen])
      expect(new Set(Object.values(typesAndStatuses(healthy.subject, seen)))).toEqual(new Set(['False']));
  });

  it('says which fields of the spec the cloud does not report, as changes to them are not made', () => {
    const syncedOf = (seen: ReturnType<typeof anObservation>) =>
      clusterConditions(healthy.with({ machineType: 'c2d-highcpu-4', storageSizeGB: 200 }).subject, seen.seen)[0];
    const neither = anObservation().cluster({ machineType: undefined, storageSizeGB: undefined });
    const tells = (fields: string) => ({
      status: 'True',
      reason: 'AsSpecified',
      message: `Every field that the cloud reports equals the spec. It does not report ${fields}, so a change of that in the spec is not made: make it in the cloud's console. Backup settings cannot be read back: what the cloud accepted last is in status.backup`,
    });
    expect(syncedOf(neither)).toMatchObject(tells('machineType and storageSizeGB'));
    expect(syncedOf(anObservation().cluster({ storageSizeGB: undefined }))).toMatchObject(tells('storageSizeGB'));
    expect(syncedOf(anObservation().cluster({ storageSizeGB: 200 }))?.message).not.toContain('does not report');
  });

  it('remembers that a cluster that is gone was being destroyed, as long as it is gone', () => {
    const { seen } = anObservation().missing();
    const syncedOf = (given: typeof healthy) =>
      clusterConditions(given.subject, seen).find(({ type }) => type === 'Synced')?.reason;
    expect(syncedOf(healthy)).toBe('ClusterMissing');
    expect(syncedOf(healthy.withStatus({ state: 'destroying' }))).toBe('ClusterDestroyed');
    const told = healthy.withCondition('Synced', 'False', 'ClusterDestroyed');
    expect(syncedOf(told.withStatus({ state: undefined }))).toBe('ClusterDestroyed');
    expect(syncedOf(told.withStatus({ state: 'running' }))).toBe('ClusterMissing');
  });

  it.each([
    ['is gone', anObservation().missing(), 'ClusterMissing', 'There is no cluster "orders" to sign in to'],
    ['is another one', foreign, 'ClusterNotOurs', `Cluster "orders" is not this object's, and no login is tried there`],
  ])('says of the login if the cluster %s', (_what, { seen }, reason, message) => {
    const said = { type: 'CredentialsSecured', status: 'False', reason, message };
    expect(securedOf(healthy.subject, seen)).toEqual(said);
    // Nor is anything said to be still to come of a cluster that never was this object's.
    expect(securedOf(aCluster().subject, seen)).toEqual(said);
  });

  it.each(['ClusterMissing', 'ClusterNotOurs'])('says of the login what it said before it reported %s', (reason) => {
    const back = healthy.withCondition('CredentialsSecured', 'False', reason);
    const asleep = anObservation().status('suspended').seen;
    expect(securedOf(back.subject, asleep)).toMatchObject({ status: 'True', reason: 'FactoryLoginRetired' });
    const never = back.withStatus({ credentials: undefined });
    expect(securedOf(never.subject, asleep)).toMatchObject({ status: 'False', reason: 'NotYet' });
  });

  it.each([
    ['does not show', anObservation().missing()],
    ['has another one in its place', foreign],
  ])('does not forget what is wrong with the login of a cluster that %s for a moment', (_what, { seen }) => {
    const wrong = { status: 'False', reason: 'SecuringCredentials' } as const;
    const alive = healthy.withCondition('CredentialsSecured', wrong.status, wrong.reason);
    const told = securedOf(alive.subject, seen);
    expect(told).toMatchObject(wrong);
    const back = healthy.withCondition('CredentialsSecured', wrong.status, told?.reason ?? '');
    expect(securedOf(back.subject, anObservation().status('suspended').seen)).toMatchObject(wrong);
  });

  it.each([
    ['not shown', anObservation().missing()],
    ['another one', foreign],
    ['there as before', anObservation()],
  ])(
    'does not treat a login as retired that was not tried since the cluster was only observed, when the cluster was %s',
    (_, { seen }) => {
      const observed = healthy.withCondition('CredentialsSecured', 'Unknown', 'ObservedOnly');
      const told = securedOf(observed.subject, seen);
      expect(told).toMatchObject({ status: 'False', reason: 'NotYet' });
      const back = healthy.withCondition('CredentialsSecured', 'False', told?.reason ?? '');
      expect(securedOf(back.subject, anObservation().status('suspended').seen)).toMatchObject({ reason: 'NotYet' });
    },
  );

  it.each([
    ['was only observed', healthy.withCondition('CredentialsSecured', 'Unknown', 'ObservedOnly')],
    [
      'was suspended before its login was tried',
      aCluster().owned().withCondition('CredentialsSecured', 'False', 'NotYet'),
    ],
  ])('says what retires the login of a suspended cluster that %s, and no longer once it runs', (_, { subject }) => {
    expect(securedOf(subject, anObservation().status('suspended').seen)).toMatchObject({
      reason: 'NotYet',
      message: expect.stringContaining('for that, set state to Running until this condition is True'),
    });
    expect(securedOf(subject, anObservation().seen)?.message).toBe(
      'The login that new clusters come with is not retired yet',
    );
  });

  it('says that the login of a cluster that is being created is not retired yet', () => {
    expect(securedOf(aCluster().announced().subject, anObservation().missing().seen)?.reason).toBe('NotYet');
  });

  it('reports no server of a suspended cluster', () => {
    const { seen } = anObservation().status('suspended');
    expect(typesAndStatuses(healthy.subject, seen)).toMatchObject({ CredentialsSecured: 'True', Available: 'False' });
  });

  const availableOf = (...[subject, { seen }]: [typeof healthy.subject, ReturnType<typeof anObservation>]) =>
    clusterConditions(subject, seen).find(({ type }) => type === 'Available');

  it('keeps what was verified while the cloud has a status for the cluster that Mooring does not know', () => {
    const seen = anObservation().status('maintenance').with({ endpoint: healthy.subject.status.endpoint });
    expect(availableOf(healthy.subject, seen)?.status).toBe('True');
  });

  it.each(['suspending', 'destroying', 'resuming'])(
    'does not say that nobody tried while a cluster is %s',
    (status) => {
      expect(availableOf(healthy.subject, anObservation().status(status))).toMatchObject({
        status: 'False',
        reason: 'NoServer',
        message: `No server runs: the cloud's status for the cluster is "${status}"`,
      });
    },
  );

  it.each(['starting', 'suspending', 'suspended', 'destroying', 'resuming'])(
    'reports no server of a cluster that is %s, even if one is still shown as running where the login was verified',
    (status) => {
      const seen = anObservation().status(status).with({ endpoint: ENDPOINT });
      expect(availableOf(healthy.subject, seen)).toMatchObject({ status: 'False', reason: 'NoServer' });
    },
  );

  it('says at which server of a cluster of ours the login was not tried', () => {
    expect(availableOf(aCluster().owned().subject, anObservation())?.message).toBe(
      `The login was not tried yet at ${ENDPOINT}`,
    );
  });

  it.each([
    ['running', 'True', 'FactoryLoginRetired'],
    ['running', 'Unknown', 'AdminLoginLost'],
    ['running', 'False', 'AnyPasswordAccepted'],
    ['suspended', 'Unknown', 'AnyPasswordAccepted'],
  ] as const)('leaves what was said of the login of a cluster that is %s: %s %s', (state, status, reason) => {
    const given = healthy.withCondition('CredentialsSecured', status, reason);
    const secured = clusterConditions(given.subject, anObservation().status(state).login({ login: 'notTried' }).seen);
    expect(secured.find(({ type }) => type === 'CredentialsSecured')).toMatchObject({
      status,
      reason,
      message: 'As before',
    });
  });

  it('says that the cloud shows no cluster if there is none, and gives it no status that the cloud did not use', () => {
    expect(availableOf(healthy.subject, anObservation().missing())).toMatchObject({
      status: 'False',
      reason: 'NoServer',
      message: 'No server runs: the cloud shows no cluster "orders"',
    });
  });

  it('keeps what was verified while the object is being deleted and the cluster runs: only its endpoint is no longer reported', () => {
    const { subject } = healthy.deleting();
    const going = anObservation().with({ endpoint: undefined });
    expect(availableOf(subject, going)?.status).toBe('True');
    expect(availableOf(healthy.subject, going)).toMatchObject({ status: 'False', reason: 'NoServer' });
  });

  it('does not say of a running server that none runs, whoever it belongs to', () => {
    const seen = foreign.with({ endpoint: 'https://other.test:443' });
    expect(availableOf(healthy.subject, seen)).toMatchObject({
      reason: 'NotVerified',
      message: 'Cluster "orders" is not this object\'s, and no login is tried there',
    });
    const going = aCluster().owned().deleting();
    expect(availableOf(going.subject, anObservation().with({ endpoint: undefined }))).toMatchObject({
      reason: 'NotVerified',
      message: 'The login was not tried yet',
    });
  });

  it('does not know whether a login works at another server', () => {
    const seen = anObservation().with({ endpoint: 'https://other.test:443' });
    expect(typesAndStatuses(healthy.subject, seen.seen)).toMatchObject({ Available: 'False' });
  });
});
