import { expect, test } from 'vitest';
import { setConditions } from '../../kube/condition.ts';
import { parseSpec, parseStatus } from '../../kube/definition.ts';
import { type DatabaseClusterStatus, databaseClusterDefinition } from './schema.ts';

test('parseSpec() of a cluster needs no more than a space, since an adopted cluster is what it is', () => {
  const parsed = parseSpec(databaseClusterDefinition, { spaceRef: { name: 'production' } });
  expect(parsed).toMatchObject({ ok: true, spec: { serverCount: 1, state: 'Running', deletionPolicy: 'Retain' } });
});

test('parseSpec() of a cluster says what is wrong with an object that is older than a rule', () => {
  const parsed = parseSpec(databaseClusterDefinition, { spaceRef: { name: 'production' }, storageSizeGB: 5 });
  expect(parsed).toEqual({
    ok: false,
    message: 'spec.storageSizeGB cannot be 5: Too small: expected number to be >=10',
  });
});

test('parseStatus() of a cluster reads words that the cloud learned since', () => {
  const status: DatabaseClusterStatus = {
    observedGeneration: 3,
    state: 'hibernating',
    operation: { type: 'Teleport', target: 'orders', startedAt: '2026-11-20T10:00:00Z' },
    conditions: setConditions([], [{ type: 'Ready', status: 'Unknown', reason: 'New', message: '' }], 3, 0),
  };
  expect(parseStatus(databaseClusterDefinition, status)).toEqual(status);
});

test('parseStatus() of a cluster keeps its identity when another field is unreadable', () => {
  const status = parseStatus(databaseClusterDefinition, { observedGeneration: 3, createdAt: '1', observed: 'nothing' });
  expect(status).toEqual({ observedGeneration: 3, createdAt: '1' });
});
