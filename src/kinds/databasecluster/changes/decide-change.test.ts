import { describe, expect, it } from 'vitest';
import {
  aCluster,
  anObservation,
  type ClusterBuilder,
  CREATED_AT,
  conditionOf,
  NOW_MS,
  type ObservationBuilder,
  outline,
} from '../../../../test/support/builders.ts';
import { decideCluster } from '../decide.ts';

interface Case {
  readonly name: string;
  readonly given: ClusterBuilder;
  readonly seen: ObservationBuilder;
  readonly thus: Partial<ReturnType<typeof outline>>;
}

const healthy = aCluster().healthy();
/** The spec has changed since the last pass. */
const changed = (spec: object) =>
  aCluster()
    .healthy()
    .generation(2)
    .with({ ...spec });
const bigger = anObservation().cluster({ storageSizeGB: 200 });
const suspended = anObservation().status('suspended').login({ login: 'notTried' });

const FACTORY = { working: 'factory', secretVersion: undefined, factoryAlive: undefined } as const;
const UNREACHABLE = { login: 'unreachable', message: 'Cannot sign in', heldBack: false } as const;
const MINUTE = 60_000;

const cases: readonly Case[] = [
  {
    name: 'changes a suspended cluster',
    given: changed({ state: 'Suspended', storageSizeGB: 200 }),
    seen: suspended,
    thus: { ready: 'Unknown Updating', steps: ['Update'] },
  },
  {
    name: 'changes storage and machine type',
    given: changed({ storageSizeGB: 200, machineType: 'c2d-highcpu-8' }),
    seen: anObservation(),
    thus: { ready: 'Unknown Updating', summary: 'Reconciling', steps: ['Update'] },
  },
  {
    name: 'renames, and changes the rest afterwards',
    given: changed({ clusterID: 'orders-eu', storageSizeGB: 200 }),
    seen: anObservation(),
    thus: { ready: 'Unknown Updating', steps: ['Rename'] },
  },
  {
    name: 'does not rename to an id that another cluster has',
    given: changed({ clusterID: 'orders-eu', storageSizeGB: 200 }),
    seen: anObservation().with({ renameTaken: true }),
    thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [], comesBack: '600000 ms' },
  },
  {
    name: 'reports even for a suspended cluster that it cannot be renamed',
    given: changed({ clusterID: 'orders-eu', state: 'Suspended' }),
    seen: suspended.with({ renameTaken: true }),
    thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'retires the factory login of a cluster that cannot be renamed',
    given: changed({ clusterID: 'orders-eu' }),
    seen: anObservation().with({ renameTaken: true }).tried(FACTORY),
    thus: { ready: 'False ClusterIDInUse', summary: 'Stalled', steps: ['PreparePassword'] },
  },
  {
    name: 'sends backup settings that were not accepted yet',
    given: changed({ backup: { frequency: 'hourly' } }),
    seen: anObservation(),
    thus: { ready: 'Unknown Updating', steps: ['Update'] },
  },
  {
    name: 'sends no backup settings that were accepted',
    given: changed({ backup: { frequency: 'hourly' } }).withStatus({
      backup: { frequency: 'hourly', retentionDays: 7 },
    }),
    seen: anObservation(),
    thus: { ready: 'True Running', steps: [] },
  },
  {
    name: 'retires the factory login before it changes what the cloud may refuse',
    given: aCluster().owned().with({ storageSizeGB: 200 }),
    seen: anObservation().tried(FACTORY),
    thus: { ready: 'Unknown SecuringCredentials', steps: ['PreparePassword'] },
  },
  {
    name: 'changes a cluster whose server does not accept the new password, as its disk may be full',
    given: changed({ storageSizeGB: 200 }).withStatus({
      lastError: { operation: 'updateUser', message: 'No space left', time: CREATED_AT },
    }),
    seen: anObservation().tried({ next: 'ours', factoryAlive: undefined }),
    thus: { ready: 'Unknown Updating', steps: ['Update'] },
  },
  {
    name: 'changes a cluster whose Secret cannot be written',
    given: changed({ storageSizeGB: 200 })
      .annotated('rotate-at', 'now')
      .withStatus({
        lastRotation: CREATED_AT,
        lastError: { operation: 'Reconcile', message: 'Secret is immutable', time: CREATED_AT },
      }),
    seen: anObservation(),
    thus: { ready: 'Unknown Updating', steps: ['Update'] },
  },
  {
    name: 'takes care of the login of a cluster whose change came to nothing',
    given: changed({ storageSizeGB: 200 })
      .withCondition('Ready', 'Unknown', 'UpdateNotApplied')
      .withStatus({ lastError: { operation: 'Reconcile', message: 'It came to nothing', time: CREATED_AT } }),
    seen: anObservation().tried(FACTORY),
    thus: { ready: 'Unknown SecuringCredentials', steps: ['PreparePassword'] },
  },
  {
    name: 'takes care of the login of a cluster whose rename is not shown yet',
    given: changed({ clusterID: 'orders-eu' })
      .withCondition('Ready', 'Unknown', 'Updating')
      .withStatus({ lastError: { operation: 'Reconcile', message: 'It is not shown', time: CREATED_AT } }),
    seen: anObservation().tried(FACTORY),
    thus: { ready: 'Unknown SecuringCredentials', steps: ['PreparePassword'] },
  },
  {
    name: 'changes a cluster whose logins are all refused',
    given: changed({ storageSizeGB: 200 }),
    seen: anObservation().tried({ working: 'none' }),
    thus: { ready: 'Unknown Updating', steps: ['Update'] },
  },
  {
    name: 'changes a cluster whose server cannot be signed in to',
    given: changed({ machineType: 'c2d-highcpu-8' }),
    seen: anObservation().login({ ...UNREACHABLE, forMs: MINUTE }),
    thus: { ready: 'Unknown Updating', steps: ['Update'] },
  },
  {
    name: 'replaces a password that is due before it asks for a change, which the cloud may refuse',
    given: changed({ storageSizeGB: 200 }).withStatus({ lastRotation: CREATED_AT }).annotated('rotate-at', 'now'),
    seen: anObservation(),
    thus: { ready: 'as before', steps: ['PreparePassword'] },
  },
  {
    name: 'deletes the former Secret before it asks for a change, which the cloud may refuse',
    given: changed({ storageSizeGB: 200 }).withStatus({ unverifiedSecretName: 'former' }),
    seen: anObservation().tried({ retire: ['former'] }),
    thus: { ready: 'as before', steps: ['RetireSecret'] },
  },
  {
    name: 'does not shrink storage that an earlier spec enlarged',
    given: changed({ storageSizeGB: 50 }),
    seen: anObservation(),
    thus: { ready: 'False StorageCannotShrink', summary: 'Stalled', steps: [], comesBack: '600000 ms' },
  },
  {
    name: 'does not shrink storage that was enlarged elsewhere',
    given: healthy,
    seen: bigger,
    thus: { ready: 'False StorageCannotShrink', summary: 'Stalled', steps: [] },
  },
  {
    name: 'cannot change what a cluster was created with',
    given: healthy,
    seen: anObservation().cluster({ version: '3.12.0' }),
    thus: { ready: 'False ImmutableFieldDiffers', summary: 'Stalled', steps: [], comesBack: '600000 ms' },
  },
  {
    name: 'retires the factory login of a cluster that cannot become what the spec says',
    given: aCluster().owned(),
    seen: anObservation().cluster({ version: '3.12.0' }).tried(FACTORY),
    thus: { ready: 'False ImmutableFieldDiffers', summary: 'Stalled', steps: ['PreparePassword'] },
  },
  {
    name: 'replaces the password of a cluster that cannot shrink when that is asked for',
    given: changed({ storageSizeGB: 50 }).withStatus({ lastRotation: CREATED_AT }).annotated('rotate-at', 'now'),
    seen: anObservation(),
    thus: { ready: 'False StorageCannotShrink', summary: 'Stalled', steps: ['PreparePassword'] },
  },
  {
    name: 'reports even for a suspended cluster that it cannot shrink',
    given: changed({ state: 'Suspended', storageSizeGB: 50 }),
    seen: suspended,
    thus: { ready: 'False StorageCannotShrink', summary: 'Stalled', steps: [], comesBack: 'slowly' },
  },
  {
    name: 'never chases the version latest',
    given: aCluster().with({ version: 'latest' }).healthy(),
    seen: anObservation().cluster({ version: '3.12.0' }),
    thus: { ready: 'True Running', steps: [] },
  },
  {
    name: 'never compares the storage type',
    given: aCluster().with({ storageType: 'gp2-csi' }).healthy(),
    seen: anObservation().cluster({ storageType: 'gp2' }),
    thus: { ready: 'True Running', steps: [] },
  },
  {
    name: 'reverts drift',
    given: healthy,
    seen: anObservation().cluster({ machineType: 'c2d-highcpu-2' }),
    thus: { ready: 'Unknown Updating', steps: ['Update'] },
  },
  {
    name: 'only reports drift with driftPolicy Report',
    given: healthy.with({ driftPolicy: 'Report' }),
    seen: bigger,
    thus: { ready: 'False Drifted', summary: 'none', steps: [], comesBack: '600000 ms' },
  },
  {
    name: 'takes care of the login of a cluster that has drifted',
    given: healthy.with({ driftPolicy: 'Report' }),
    seen: bigger.tried({ working: 'factory' }),
    thus: { ready: 'Unknown SecuringCredentials', steps: ['PreparePassword'] },
  },
  {
    name: 'carries out a changed spec with driftPolicy Report',
    given: changed({ driftPolicy: 'Report', storageSizeGB: 200 }),
    seen: anObservation(),
    thus: { steps: ['Update'] },
  },
  {
    name: 'goes on carrying out a changed spec with driftPolicy Report after a failure',
    given: changed({ driftPolicy: 'Report', storageSizeGB: 200 }).withCondition('Synced', 'False', 'Differs'),
    seen: anObservation(),
    thus: { steps: ['Update'] },
  },
  {
    name: 'changes nothing with managementPolicy Observe',
    given: changed({ managementPolicy: 'Observe', storageSizeGB: 200, machineType: 'c2d-highcpu-8' }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { ready: 'False Drifted', summary: 'none', steps: [] },
  },
];

describe('changeOf()', () => {
  it.each(cases)('$name', ({ given, seen, thus }) => {
    expect(outline(decideCluster(given.subject, seen.seen, NOW_MS))).toMatchObject(thus);
  });

  it('asks for no more than what differs', () => {
    const { subject } = changed({ storageSizeGB: 200 });
    const decision = decideCluster(subject, anObservation().seen, NOW_MS);
    expect(decision.steps).toEqual([{ do: 'Update', id: 'orders', changes: { storageSizeGB: 200 } }]);
  });

  it('records the login that it found to work at a new address, even if the cloud may refuse the change', () => {
    const endpoint = 'https://elsewhere.test:443';
    const seen = anObservation().with({ endpoint }).tried({});
    const decision = decideCluster(changed({ storageSizeGB: 200 }).subject, seen.seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready: 'Unknown Updating', steps: ['Update'] });
    expect(decision.status?.credentials).toMatchObject({ secretName: 'orders-admin', endpoint });
    expect(conditionOf(decision, 'Available')).toMatchObject({ status: 'True', reason: 'LoginWorks' });
  });

  it('reports a login that is refused, even if there is something to change', () => {
    const seen = anObservation().tried({ working: 'none' });
    const decision = decideCluster(changed({ storageSizeGB: 200 }).subject, seen.seen, NOW_MS);
    expect(conditionOf(decision, 'Available')).toMatchObject({ status: 'False', reason: 'AdminLoginRefused' });
  });

  it('says what changes from what to what', () => {
    const decision = decideCluster(changed({ storageSizeGB: 200 }).subject, anObservation().seen, NOW_MS);
    expect(conditionOf(decision, 'Ready')?.message).toContain('storageSizeGB from 100 to 200');
  });

  it.each([
    [
      'storage that would shrink',
      changed({ storageSizeGB: 50, machineType: 'c2d-highcpu-8', clusterID: 'orders-eu' }),
      anObservation(),
      'Set storageSizeGB: 100. Until then, these changes wait: clusterID from orders to orders-eu, machineType from c2d-highcpu-4 to c2d-highcpu-8',
    ],
    ['storage that would shrink, alone', changed({ storageSizeGB: 50 }), anObservation(), 'Set storageSizeGB: 100'],
    [
      'storage that would shrink before the cluster is suspended',
      changed({ storageSizeGB: 50, state: 'Suspended' }),
      suspended,
      'Set storageSizeGB: 100',
    ],
    [
      'an id that is taken',
      changed({ storageSizeGB: 200, clusterID: 'orders-eu' }),
      anObservation().with({ renameTaken: true }),
      'Choose another clusterID. Until then, these changes wait: storageSizeGB from 100 to 200',
    ],
    [
      'a property that cannot change',
      changed({ storageSizeGB: 50, machineType: 'c2d-highcpu-8' }),
      anObservation().cluster({ version: '3.12.0' }),
      'and create it again with adoptionPolicy: IfExists. Until then, these changes wait: machineType from c2d-highcpu-4 to c2d-highcpu-8',
    ],
  ])('says which other changes wait for a person because of %s', (_, given, seen, end) => {
    const message = conditionOf(decideCluster(given.subject, seen.seen, NOW_MS), 'Ready')?.message;
    expect(message?.slice(-end.length)).toBe(end);
  });

  it('says what to do about a difference that is only reported, and what happens once the spec changes', () => {
    const smaller = anObservation().cluster({ storageSizeGB: 50 });
    const messageOf = (given: typeof healthy) =>
      conditionOf(decideCluster(given.subject, smaller.seen, NOW_MS), 'Ready')?.message;
    const report = healthy.with({ driftPolicy: 'Report' });
    expect(messageOf(report)).toMatch(
      /until any change of the spec asks for all of this: set the spec .*driftPolicy: Revert$/,
    );
    // As it says: the change may be about something else.
    const next = decideCluster(
      report.with({ deletionPolicy: 'Delete', storageSizeGB: 300 }).generation(2).subject,
      smaller.seen,
      NOW_MS,
    );
    expect(outline(next).steps).toEqual(['Update']);
    expect(messageOf(healthy.with({ managementPolicy: 'Observe' }))).toMatch(
      /nothing is changed: set the spec to what the cluster is, or change the cluster$/,
    );
  });

  it('does not advise to undo a difference that is only reported if that is impossible', () => {
    const messageOf = (spec: Readonly<Record<string, unknown>>, seen: typeof bigger) =>
      conditionOf(decideCluster(healthy.with(spec).subject, seen.seen, NOW_MS), 'Ready')?.message;
    const upgraded = anObservation().cluster({ version: '3.12.0' });
    expect(messageOf({ driftPolicy: 'Report', machineType: 'c2d-highcpu-8' }, bigger)).toMatch(
      /nothing is changed, and not all of it can be: .* Set storageSizeGB: 200. Until then, these changes wait: machineType /,
    );
    for (const policy of [{ driftPolicy: 'Report' }, { managementPolicy: 'Observe' }])
      expect(messageOf(policy, upgraded)).toMatch(
        /nothing is changed, and not all of it can be: .*delete this object with deletionPolicy: Retain, and create it again with adoptionPolicy: IfExists$/,
      );
  });

  it('shows drift whenever Synced is False because of it, and takes it away afterwards', () => {
    for (const given of [healthy, healthy.with({ driftPolicy: 'Report' })]) {
      const decision = decideCluster(given.subject, bigger.seen, NOW_MS);
      expect(conditionOf(decision, 'Synced')).toMatchObject({ status: 'False', reason: 'Drifted' });
      expect(decision.status?.drift).toEqual([{ field: 'storageSizeGB', desired: '100', observed: '200' }]);
      expect(decideCluster(given.subject, anObservation().seen, NOW_MS).status?.drift).toBeNull();
    }
  });

  it('remembers that a change came from elsewhere while the cluster is changing state', () => {
    const decision = decideCluster(healthy.subject, anObservation().status('suspending').seen, NOW_MS);
    expect(conditionOf(decision, 'Synced')?.reason).toBe('Drifted');
    const ours = decideCluster(changed({ state: 'Suspended' }).subject, anObservation().status('suspending').seen, 0);
    expect(conditionOf(ours, 'Synced')?.reason).toBe('Differs');
  });

  it('keeps a login available that was verified, whatever differs', () => {
    const decision = decideCluster(healthy.subject, bigger.seen, NOW_MS);
    expect(conditionOf(decision, 'Available')?.status).toBe('True');
  });
});
