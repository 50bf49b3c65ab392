import { expect, test } from 'vitest';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import { heldRecordReader, recordReader } from './record.ts';

const object = {
  apiVersion: 'mooring.dev/v1alpha1',
  kind: 'DatabaseUser',
  metadata: { namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '1' },
  spec: { clusterRef: { name: 'orders' } },
};

test('recordReader() reads spec and status, with what the spec leaves out', () => {
  const recordOf = recordReader(databaseUserDefinition);
  expect(recordOf(object)).toMatchObject({
    spec: { clusterRef: { name: 'orders' }, deletionPolicy: 'Delete' },
    status: {},
  });
});

test('recordReader() has nothing for an object that does not exist, or whose spec cannot be read', () => {
  const recordOf = recordReader(databaseUserDefinition);
  expect(recordOf(undefined)).toBeUndefined();
  expect(recordOf({ ...object, spec: { clusterRef: 7 } })).toBeUndefined();
});

test('heldRecordReader() reads what can be read of a spec if the status says that something belongs to the object', () => {
  const recordOf = heldRecordReader(databaseUserDefinition, {
    holds: ({ username }) => username !== undefined,
    named: ({ spec, status }) => ({ ...spec, username: status.username }),
  });
  const spec = { clusterRef: { name: 'orders' }, username: 'wanted', deletionPolicy: 'Sometimes' };
  const held = recordOf({ ...object, spec, status: { username: 'app' } });
  expect(held).toMatchObject({
    spec: { clusterRef: { name: 'orders' }, username: 'app' },
    status: { username: 'app' },
  });
  expect(held?.unread).toEqual(new Set(['deletionPolicy']));
  expect(recordOf({ ...object, spec, status: {} })).toBeUndefined();
  expect(recordOf({ ...object, spec: { clusterRef: 7 }, status: { username: 'app' } })).toBeUndefined();
  expect(recordOf({ ...object, status: { username: 'app' } })?.spec.username).toBeUndefined();
  expect(recordOf(undefined)).toBeUndefined();
});
