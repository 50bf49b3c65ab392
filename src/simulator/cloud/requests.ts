import type { ValueOf } from '../exchange/shape.ts';

/** Resources, Deploy request fields: "backupConfiguration with frequency and retentionDays". */
const BACKUP_SHAPE = {
  frequency: { type: 'string', required: true },
  retentionDays: { type: 'integer', required: true },
} as const;

/** Endpoints, Deploy. The document does not say which fields are required; a careful client sends them all. */
export const DEPLOY_SHAPE = {
  id: { type: 'string', required: true },
  serverCount: { type: 'integer', required: true },
  storageSizeGB: { type: 'integer', required: true },
  provider: { type: 'string', required: true },
  isFree: { type: 'boolean', required: true },
  region: { type: 'string', required: true },
  machineType: { type: 'string', required: true },
  storageType: { type: 'string', required: true },
  version: { type: 'string', required: true },
  backupConfiguration: { type: 'object', required: false, fields: BACKUP_SHAPE },
} as const;

/** Endpoints, Update: all optional, but at least one must be set. */
export const UPDATE_SHAPE = {
  id: { type: 'string', required: false },
  storageSizeGB: { type: 'integer', required: false },
  machineType: { type: 'string', required: false },
  backupConfiguration: { type: 'object', required: false, fields: BACKUP_SHAPE },
} as const;

/** Endpoints, Clone. */
export const CLONE_SHAPE = { id: { type: 'string', required: true } } as const;

export type DeployRequest = ValueOf<typeof DEPLOY_SHAPE>;
export type UpdateRequest = ValueOf<typeof UPDATE_SHAPE>;
export type CloneRequest = ValueOf<typeof CLONE_SHAPE>;
