import { expect, test } from 'vitest';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import { recordReader } from './record.ts';

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

test('recordReader() has nothing for an object that is not there, or whose spec cannot be read', () => {
  const recordOf = recordReader(databaseUserDefinition);
  expect(recordOf(undefined)).toBeUndefined();
  expect(recordOf({ ...object, spec: { clusterRef: 7 } })).toBeUndefined();
});
