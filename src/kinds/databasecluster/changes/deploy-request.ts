import { TerminalError } from '../../../base/errors.ts';
import type { DeployRequest } from '../../../cloud/request.ts';
import type { ClusterSubject } from '../observation.ts';
import { defaultStorageType } from '../offerings.ts';
import { backupToDeploy } from './differences.ts';

/** The spec in the cloud's words ("Deploy request fields"). Throws TerminalError if an object predates a rule and lacks a field. */
export function deployRequest({ spec }: ClusterSubject, id: string): DeployRequest {
  const given = (field: 'provider' | 'region' | 'machineType' | 'version' | 'storageSizeGB') => {
    const value = spec[field];
    if (value === undefined)
      throw new TerminalError('InvalidSpec', `spec.${field} is missing: set it to deploy cluster "${id}"`);
    return value;
  };
  const provider = String(given('provider'));
  const storageType = spec.storageType ?? defaultStorageType(provider);
  if (storageType === undefined) {
    throw new TerminalError(
      'InvalidSpec',
      `spec.storageType is missing: Mooring knows no default for provider "${provider}"`,
    );
  }
  return {
    id,
    serverCount: spec.serverCount,
    storageSizeGB: Number(given('storageSizeGB')),
    provider,
    region: String(given('region')),
    isFree: spec.isFree,
    machineType: String(given('machineType')),
    storageType,
    version: String(given('version')),
    backupConfiguration: backupToDeploy(spec),
  };
}
