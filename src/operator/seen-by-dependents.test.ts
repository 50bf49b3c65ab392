import { expect, test } from 'vitest';
import { aCluster } from '../../test/support/builders.ts';
import type { KubeObject } from '../kube/object.ts';
import { seenByDependents } from './seen-by-dependents.ts';

const CONDITIONS = [
  { type: 'Ready', status: 'False', reason: 'Drifted', message: 'm', lastTransitionTime: '2026-11-20T12:00:00Z' },
];
const LOGIN = { secretName: 'orders-admin', secretResourceVersion: '5', endpoint: 'https://one:8000' };
const RUNNING = {
  state: 'running',
  clusterID: 'orders',
  createdAt: '2026-11-20T10:00:00.000Z',
  endpoint: 'https://one:8000',
  servers: [{ address: 'one:8000', status: 'running' }],
  credentials: LOGIN,
  conditions: CONDITIONS,
};
// The cast is the parse border.
const clusterWith = (status: object): KubeObject =>
  ({ ...aCluster().subject, status: { ...RUNNING, ...status } }) as unknown as KubeObject;

test.each([
  { state: 'suspending' },
  { clusterID: 'bills' },
  { createdAt: '2026-11-20T11:00:00.000Z' },
  { endpoint: 'https://two:8000' },
  { servers: [] },
  { conditions: [{ ...CONDITIONS[0], reason: 'Suspended' }] },
  { conditions: [{ ...CONDITIONS[0], status: 'Unknown' }] },
  // Whether the server answers.
  { conditions: [...CONDITIONS, { ...CONDITIONS[0], type: 'Available', status: 'True' }] },
  { credentials: { ...LOGIN, endpoint: 'https://two:8000' } },
  { credentials: { ...LOGIN, secretName: 'renamed' } },
  // A clone waits for it.
  { conditions: [...CONDITIONS, { ...CONDITIONS[0], type: 'CredentialsSecured', status: 'True' }] },
])('Objects on a cluster hear of a change to what they say of it: %o', (status) => {
  expect(seenByDependents(clusterWith(status))).not.toBe(seenByDependents(clusterWith({})));
});

test.each([{ version: '3.5.0' }, { conditions: [{ ...CONDITIONS[0], message: 'Another' }] }])(
  'Objects on a cluster hear of nothing else: %o',
  (status) => {
    expect(seenByDependents(clusterWith(status))).toBe(seenByDependents(clusterWith({})));
  },
);
