import { expect, it } from 'vitest';
import { specFields, statusFields } from './fields.ts';

it('describes a status in words, without what only the operator needs', () => {
  const lines = statusFields({
    observedGeneration: 3,
    conditions: [],
    state: 'running',
    clusterID: 'orders',
    createdAt: '2026-11-21T10:00:00Z',
    place: { baseURL: 'https://cloud.example.com', teamID: 'acme', spaceID: 'production' },
    observed: { machineType: 'c2d-highcpu-4', storageSizeGB: 100 },
    servers: [
      { address: '10.0.0.1:8000', status: 'running' },
      { address: '10.0.0.2:8000', status: 'starting' },
    ],
    credentials: { secretName: 'orders-admin', secretResourceVersion: '283' },
    unmanagedClusters: [],
    backup: {},
    binding: { name: 'app-connection' },
    appliedSchema: [{ source: 'inline/0', hash: '3419', appliedAt: '2026-11-21T10:00:00Z' }],
    availableVersions: ['3.12.0', '3.5.0'],
  });
  expect(lines).toEqual([
    'state in the cloud  running',
    'cluster id          orders',
    'created at          2026-11-21T10:00:00Z',
    'cloud               base url https://cloud.example.com, team id acme, space id production',
    'made of             machine type c2d-highcpu-4, storage size GB 100',
    'servers             address 10.0.0.1:8000, status running',
    '                    address 10.0.0.2:8000, status starting',
    'connection Secret   app-connection',
    'schema from         source inline/0, applied at 2026-11-21T10:00:00Z',
    'available versions  3.12.0, 3.5.0',
  ]);
  expect(statusFields(undefined)).toEqual([]);
});

it('describes a spec with the names in a manifest, and shortens long values', () => {
  const lines = specFields({
    spaceRef: { name: 'production' },
    apiTokens: [{ level: 'write', secretRef: { name: 'cloud', clientIDKey: 'id' } }],
    cluster: 'shown, as a person wrote it',
    schema: [{ inline: 'define\n  entity a;\n' }],
    allowedNamespaces: { from: 'Same' },
    nothing: null,
  });
  expect(lines).toEqual([
    'spaceRef           production',
    'apiTokens          level write, secretRef (name cloud, clientIDKey id)',
    'cluster            shown, as a person wrote it',
    'schema             inline define … (2 lines)',
    'allowedNamespaces  from Same',
  ]);
});
