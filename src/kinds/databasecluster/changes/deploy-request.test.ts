import { describe, expect, it } from 'vitest';
import { aCluster } from '../../../../test/support/builders.ts';
import { TerminalError } from '../../../base/errors.ts';
import { deployRequest } from './deploy-request.ts';

describe('deployRequest()', () => {
  it('asks for everything that the document lists', () => {
    expect(deployRequest(aCluster().subject, 'orders')).toEqual({
      id: 'orders',
      serverCount: 1,
      storageSizeGB: 100,
      provider: 'gcp',
      region: 'europe-west2',
      isFree: false,
      machineType: 'c2d-highcpu-4',
      storageType: 'standard-rwo',
      version: '3.5.0',
      backupConfiguration: { frequency: 'daily', retentionDays: 7 },
    });
  });

  it('asks for no backups of a free cluster', () => {
    const { backupConfiguration } = deployRequest(aCluster().with({ isFree: true }).subject, 'orders');
    expect(backupConfiguration).toEqual({ frequency: 'disabled', retentionDays: 7 });
  });

  it('asks for the backups of the spec', () => {
    const { subject } = aCluster().with({ backup: { frequency: 'hourly', retentionDays: 30 } });
    expect(deployRequest(subject, 'orders').backupConfiguration).toEqual({ frequency: 'hourly', retentionDays: 30 });
  });

  it('takes the storage type of the provider, or the one of the spec', () => {
    const aws = aCluster().with({ provider: 'aws' });
    expect(deployRequest(aws.subject, 'orders').storageType).toBe('gp2-csi');
    expect(deployRequest(aws.with({ storageType: 'io2' }).subject, 'orders').storageType).toBe('io2');
  });

  it.each(['provider', 'region', 'machineType', 'version', 'storageSizeGB'])('names %s if it is missing', (field) => {
    const { subject } = aCluster().with({ [field]: undefined });
    expect(() => deployRequest(subject, 'orders')).toThrow(TerminalError);
    expect(() => deployRequest(subject, 'orders')).toThrow(`spec.${field} is missing`);
  });

  it('knows no storage type of an unknown provider', () => {
    const { subject } = aCluster().with({ provider: 'azure' });
    expect(() => deployRequest(subject, 'orders')).toThrow('no default for provider "azure"');
  });
});
