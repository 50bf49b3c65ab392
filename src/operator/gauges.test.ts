import { expect, test } from 'vitest';
import type { KubeObject } from '../kube/object.ts';
import { rotationOverdueMs, tellOf, unsecuredClusters } from './gauges.ts';

const NOW_MS = Date.parse('2026-11-20T10:00:00Z');
const HOUR_MS = 3_600_000;

function object(spec: object, status: object, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  const metadata = { name: 'orders', namespace: 'shop', uid: 'u', resourceVersion: '1', generation: 1, annotations };
  return { apiVersion: 'mooring.dev/v1alpha1', kind: 'DatabaseCluster', metadata, spec, status };
}

function condition(type: string, status: string, reason: string) {
  return { type, status, reason, message: '', observedGeneration: 1, lastTransitionTime: '2026-11-20T09:00:00Z' };
}

test.each([
  ['running', 'False', 'NotYet', 1],
  ['running', 'False', 'SecuringCredentials', 1],
  ['running', 'True', 'FactoryLoginRetired', 0],
  ['running', 'Unknown', 'ObservedOnly', 0],
  ['running', 'False', 'AdminLoginRefused', 0],
  ['starting', 'False', 'NotYet', 0],
  ['suspended', 'False', 'NotYet', 0],
])(
  'unsecuredClusters(): a cluster that is %s, CredentialsSecured %s with %s, counts %d',
  (state, status, reason, count) => {
    const conditions = [condition('CredentialsSecured', status, reason)];
    expect(unsecuredClusters([object({}, { state, conditions })])).toBe(count);
  },
);

test('unsecuredClusters(): what was not looked at yet does not count', () => {
  expect(unsecuredClusters([object({}, { observedGeneration: -1 })])).toBe(0);
});

const lastRotation = '2026-11-20T05:00:00.000Z';

test.each([
  ['of a cluster', { adminCredentials: { rotateEvery: '3h' } }, {}, 2 * HOUR_MS],
  ['of a user', { rotateEvery: '4h' }, {}, HOUR_MS],
  ['that is not due yet', { rotateEvery: '6h' }, {}, 0],
  ['that is never replaced', {}, {}, 0],
  ['that cannot be read', { rotateEvery: 'soon' }, {}, 0],
  [
    'of a cluster that is suspended',
    { rotateEvery: '3h' },
    { conditions: [condition('Ready', 'True', 'Suspended')] },
    0,
  ],
])('rotationOverdueMs(): a password %s', (_, spec, status, expected) => {
  expect(rotationOverdueMs([object(spec, { lastRotation, ...status })], NOW_MS)).toBe(expected);
});

test('rotationOverdueMs(): the longest of all, and none without a first password', () => {
  const all = ['3h', '2h', '4h'].map((rotateEvery) => object({ rotateEvery }, { lastRotation }));
  expect(rotationOverdueMs(all, NOW_MS)).toBe(3 * HOUR_MS);
  expect(rotationOverdueMs([object({ rotateEvery: '1h' }, {})], NOW_MS)).toBe(0);
});

test('tellOf() counts the conditions of thousands of objects, and lets others have their turn meanwhile', async () => {
  const conditions = [condition('Ready', 'True', 'Running'), condition('CredentialsSecured', 'False', 'NotYet')];
  const clusters = Array.from({ length: 1_200 }, () =>
    object({ adminCredentials: { rotateEvery: '3h' } }, { state: 'running', lastRotation, conditions }),
  );
  let turns = 0;
  const telling = tellOf(
    [
      { kind: 'DatabaseCluster', store: { values: () => clusters } },
      { kind: 'Database', store: { values: () => [object({}, {})] } },
    ],
    NOW_MS,
  ).finally(() => {
    turns = -turns;
  });
  while (turns >= 0) {
    turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(-turns).toBeGreaterThanOrEqual(3);
  const { resources, ...rest } = await telling;
  expect([...resources]).toEqual([
    { kind: 'DatabaseCluster', condition: 'Ready', status: 'True', reason: 'Running', count: 1_200 },
    { kind: 'DatabaseCluster', condition: 'CredentialsSecured', status: 'False', reason: 'NotYet', count: 1_200 },
  ]);
  expect(rest).toEqual({ unsecuredClusters: 1_200, rotationOverdueMs: { DatabaseCluster: 2 * HOUR_MS } });
});
