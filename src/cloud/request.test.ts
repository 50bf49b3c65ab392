import { expect, test } from 'vitest';
import { cloneRequestSchema, type DeployRequest, deployRequestSchema, updateRequestSchema } from './request.ts';

const request: DeployRequest = {
  id: 'orders',
  serverCount: 1,
  storageSizeGB: 100,
  provider: 'gcp',
  isFree: false,
  region: 'europe-west2',
  machineType: 'c2d-highcpu-4',
  storageType: 'standard-rwo',
  version: '3.5.0',
};
const free: DeployRequest = { ...request, isFree: true, storageSizeGB: 10 };

test.each([
  request,
  free,
  { ...request, id: 'a-b_c-1' },
  { ...request, serverCount: 9, version: '2.29.1' },
  { ...request, version: 'latest' },
  { ...request, provider: 'p', region: 'r', machineType: 'm', storageType: 's', version: '3' },
  { ...request, storageSizeGB: 10 },
  { ...request, storageSizeGB: 1000 },
  { ...request, region: 'moon-1', machineType: 'new.type', version: '99.0.0' },
  { ...request, backupConfiguration: { frequency: 'daily', retentionDays: 30 } },
  { ...free, backupConfiguration: { frequency: 'disabled', retentionDays: 7 } },
])('deployRequestSchema accepts %j', (valid) => {
  expect(deployRequestSchema.parse(valid)).toEqual(valid);
});

test.each([
  ['id', { id: '' }],
  ['id', { id: 'Orders' }],
  ['id', { id: '-orders' }],
  ['id', { id: 'orders-' }],
  ['id', { id: 'or ders' }],
  ['id', { id: 'orders\n' }],
  ['id', { id: '../x' }],
  ['serverCount', { serverCount: 0, version: '2.0.0' }],
  ['serverCount', { serverCount: 2, version: '2.0.0' }],
  ['serverCount', { serverCount: 11, version: '2.0.0' }],
  ['serverCount', { serverCount: 1.5 }],
  ['serverCount', { serverCount: 3 }],
  ['storageSizeGB', { storageSizeGB: 9 }],
  ['storageSizeGB', { storageSizeGB: 1001 }],
  ['storageSizeGB', { storageSizeGB: 10.5 }],
  ['storageSizeGB', { storageSizeGB: Number.NaN }],
  ['provider', { provider: '' }],
  ['region', { region: '' }],
  ['version', { version: '' }],
  ['machineType', { machineType: '' }],
  ['storageType', { storageType: '' }],
  ['backupConfiguration.retentionDays', { backupConfiguration: { retentionDays: 8 } }],
  ['backupConfiguration.frequency', { backupConfiguration: { frequency: 'weekly' } }],
  ['', { unknown: 1 }],
])('deployRequestSchema refuses a %s that breaks a rule of the document: %j', (field, change) => {
  const { error } = deployRequestSchema.safeParse({ ...request, ...change });
  expect(error?.issues.map((issue) => issue.path.join('.'))).toContain(field);
});

test.each([
  ['serverCount', { serverCount: 3, version: '2.0.0' }],
  ['storageSizeGB', { storageSizeGB: 11 }],
  ['backupConfiguration.frequency', { backupConfiguration: { frequency: 'daily' } }],
])('deployRequestSchema refuses a free cluster with %s: %j', (field, change) => {
  const { error } = deployRequestSchema.safeParse({ ...free, ...change });
  expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([field]);
});

test.each([
  { id: 'new' },
  { storageSizeGB: 200 },
  { machineType: 'c7g.large' },
  { backupConfiguration: { frequency: 'hourly' } },
])('updateRequestSchema accepts %j', (valid) => {
  expect(updateRequestSchema.parse(valid)).toEqual(valid);
});

test('cloneRequestSchema accepts the id of the new cluster, and nothing else', () => {
  const isTaken = (asked: object) => cloneRequestSchema.safeParse(asked).success;
  expect([{ id: 'copy' }, {}, { id: 'A' }, { id: 'copy', version: '3' }].map(isTaken)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('deployRequestSchema says why a free cluster cannot have three servers', () => {
  const { error } = deployRequestSchema.safeParse({ ...free, serverCount: 3, version: '2.0.0' });
  expect(error?.issues.map(({ message }) => message)).toEqual(['must be 1 for a free cluster']);
});

test.each([{}, { id: undefined }, { id: 'A' }, { storageSizeGB: 5 }, { machineType: '' }, { version: '3' }])(
  'updateRequestSchema refuses %j',
  (invalid) => {
    expect(updateRequestSchema.safeParse(invalid).success).toBe(false);
  },
);
