import { API_VERSION, GROUP, VERSION } from '../../src/base/group.ts';
import type { Resource } from '../../src/kube/api.ts';

export const SPACES: Resource = { group: GROUP, version: VERSION, plural: 'databasespaces', kind: 'DatabaseSpace' };

export const FINALIZER = `${GROUP}/contract`;

export const aSecret = (name: string, data: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, labels: { app: 'contract' } },
  data,
});

export const aSpace = (name: string, metadata: object = {}) => ({
  apiVersion: API_VERSION,
  kind: 'DatabaseSpace',
  metadata: { name, ...metadata },
  spec: {
    baseURL: 'https://cloud.example.com',
    teamID: 'acme',
    spaceID: 'production',
    apiTokens: [{ level: 'admin', secretRef: { name: 'cloud' } }],
    defaultCredentialsSecretRef: { name: 'factory' },
  },
});

export const anEvent = (name: string, namespace: string) => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name },
  eventTime: '2026-11-20T12:00:00.000000Z',
  reportingController: `${GROUP}/contract`,
  reportingInstance: 'contract',
  action: 'Test',
  reason: 'Test',
  type: 'Normal',
  note: 'A test',
  regarding: { apiVersion: 'v1', kind: 'Secret', namespace, name },
});
