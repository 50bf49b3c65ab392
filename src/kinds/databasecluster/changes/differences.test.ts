import { describe, expect, it } from 'vitest';
import { aCloudCluster, aCluster } from '../../../../test/support/builders.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import { backupPending, differences, UPDATABLE } from './differences.ts';

const owned = aCluster().owned();
const fieldsOf = (given: typeof owned, changes: Partial<Cluster>) =>
  differences(given.subject, aCloudCluster(changes)).map(({ field }) => field);

describe('differences()', () => {
  it('finds none if the cluster is as the spec says', () => {
    expect(fieldsOf(owned, {})).toEqual([]);
  });

  it.each<[string, Partial<Cluster>]>([
    ['clusterID', { id: 'orders-eu' }],
    ['state', { status: 'suspended' }],
    ['machineType', { machineType: 'c2d-highcpu-8' }],
    ['storageSizeGB', { storageSizeGB: 200 }],
    ['provider', { provider: 'aws' }],
    ['region', { region: 'us-east1' }],
    ['serverCount', { serverCount: 3 }],
    ['isFree', { isFree: true }],
    ['version', { version: '3.12.0' }],
  ])('finds %s', (field, changes) => {
    expect(fieldsOf(owned, changes)).toEqual([field]);
  });

  it('compares nothing that the spec leaves open or the cloud does not report', () => {
    const open = owned.with({ machineType: undefined, storageSizeGB: undefined, version: undefined });
    expect(fieldsOf(open, { machineType: 'x', storageSizeGB: 1, version: 'y' })).toEqual([]);
    expect(fieldsOf(owned, { machineType: undefined, region: undefined, version: undefined })).toEqual([]);
  });

  it('never compares the storage type, nor the version latest', () => {
    expect(fieldsOf(owned.with({ version: 'latest' }), { version: '3.12.0', storageType: 'gp2' })).toEqual([]);
  });

  it('gives both values as text', () => {
    expect(differences(owned.subject, aCloudCluster({ storageSizeGB: 200 }))).toEqual([
      { field: 'storageSizeGB', desired: '100', observed: '200' },
    ]);
  });

  it('reports backup settings that were not accepted yet', () => {
    const given = owned.with({ backup: { frequency: 'hourly' } });
    expect(differences(given.subject, aCloudCluster())).toEqual([
      { field: 'backup', desired: 'hourly, kept 7 days', observed: 'unknown' },
    ]);
    expect(UPDATABLE.has('backup')).toBe(true);
  });
});

describe('backupPending()', () => {
  const given = owned.with({ backup: { frequency: 'hourly', retentionDays: 30 } });

  it.each([
    [undefined, true],
    [{ frequency: 'hourly', retentionDays: 30 }, false],
    [{ frequency: 'daily', retentionDays: 30 }, true],
    [{ frequency: 'hourly', retentionDays: 7 }, true],
  ])('with %j accepted is %s', (backup, pending) => {
    expect(backupPending(given.withStatus({ backup }).subject)).toBe(pending);
  });

  it('is false if the spec leaves them open', () => {
    expect(backupPending(owned.subject)).toBe(false);
  });

  it('is false for a cluster that is only observed, unless it was managed before', () => {
    const observed = given.with({ managementPolicy: 'Observe' });
    expect(backupPending(observed.subject)).toBe(false);
    expect(backupPending(observed.withStatus({ backup: { frequency: 'daily', retentionDays: 7 } }).subject)).toBe(true);
  });

  it('is false for a free cluster, which has no others than those', () => {
    const free = { isFree: true, machineType: 'c2d-highcpu-2', storageSizeGB: 10 };
    expect(backupPending(owned.with({ ...free, backup: { frequency: 'disabled' } }).subject)).toBe(false);
    expect(backupPending(owned.with({ backup: { frequency: 'disabled' } }).subject)).toBe(true);
    const known = owned.withStatus({ backup: { frequency: 'disabled', retentionDays: 7 } });
    const changed = { ...free, backup: { frequency: 'disabled', retentionDays: 30 } };
    expect(backupPending(known.with(changed).subject)).toBe(true);
  });
});
