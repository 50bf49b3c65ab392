import { z } from 'zod';

/*
 * Requests to the Cluster Management API, checked against the document's rules before they leave. Providers, regions, machine
 * types, storage types and versions are open: the cloud may have new ones, and says so itself.
 */

/** "only lowercase alphanumeric characters, optionally separated by underscores and hyphens" (Deploy request fields). */
const ID_PATTERN = /^[a-z0-9]+(?:[_-]+[a-z0-9]+)*$/;

const idSchema = z
  .string()
  .regex(ID_PATTERN, 'only lowercase letters and digits, optionally separated by underscores and hyphens');

const backupConfigurationSchema = z.strictObject({
  frequency: z.enum(['disabled', 'hourly', 'daily']).optional(),
  retentionDays: z
    .int()
    .refine((days) => days === 7 || days === 30, 'must be 7 or 30')
    .optional(),
});

const storageSizeGB = z.int().min(10).max(1000);

/** Deploy request fields. */
export const deployRequestSchema = z
  .strictObject({
    id: idSchema,
    serverCount: z.int().min(1).max(9).refine(isOdd, 'must be odd'),
    storageSizeGB,
    provider: z.string().min(1),
    isFree: z.boolean(),
    region: z.string().min(1),
    machineType: z.string().min(1),
    storageType: z.string().min(1),
    version: z.string().min(1),
    backupConfiguration: backupConfigurationSchema.optional(),
  })
  .superRefine((request, context) => {
    const problem = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (majorVersion(request.version) >= 3 && request.serverCount !== 1) {
      problem(['serverCount'], 'must be 1 from version 3.0 onwards');
    }
    if (!request.isFree) return;
    if (request.serverCount > 1) problem(['serverCount'], 'must be 1 for a free cluster');
    if (request.storageSizeGB > 10) problem(['storageSizeGB'], 'must be 10 for a free cluster');
    const frequency = request.backupConfiguration?.frequency;
    if (frequency !== undefined && frequency !== 'disabled') {
      problem(['backupConfiguration', 'frequency'], 'must be disabled for a free cluster');
    }
  });

/** Update: all fields optional, at least one set. */
export const updateRequestSchema = z
  .strictObject({
    id: idSchema.optional(),
    storageSizeGB: storageSizeGB.optional(),
    machineType: z.string().min(1).optional(),
    backupConfiguration: backupConfigurationSchema.optional(),
  })
  .refine((request) => Object.values(request).some((value) => value !== undefined), 'at least one field must be set');

/** Clone: the id of the new cluster. */
export const cloneRequestSchema = z.strictObject({ id: idSchema });

export type DeployRequest = Readonly<z.input<typeof deployRequestSchema>>;
export type UpdateRequest = Readonly<z.input<typeof updateRequestSchema>>;

function isOdd(value: number): boolean {
  return value % 2 === 1;
}

/** 0 if the version does not begin with a number, such as `latest`. */
function majorVersion(version: string): number {
  return Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);
}
