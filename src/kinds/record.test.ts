import { expect, test, vi } from 'vitest';
import { databaseUserDefinition } from './databaseuser/schema.ts';
import { recordReader } from './record.ts';

const object = {
  apiVersion: 'mooring.dev/v1alpha1',
  kind: 'DatabaseUser',
  metadata: { namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '1' },
  spec: { clusterRef: { name: 'orders' } },
};

test('recordReader() reads each version of an object once', () => {
  const parse = vi.spyOn(databaseUserDefinition.spec, 'safeParse');
  const recordOf = recordReader(databaseUserDefinition);
  const first = recordOf(object);
  expect(first).toMatchObject({ spec: { clusterRef: { name: 'orders' }, deletionPolicy: 'Delete' }, status: {} });
  expect(recordOf(object)).toBe(first);
  expect(parse).toHaveBeenCalledTimes(1);
  expect(recordOf({ ...object })).not.toBe(first);
});

test('recordReader() has nothing for an object that is not there, or whose spec cannot be read', () => {
  const recordOf = recordReader(databaseUserDefinition);
  expect(recordOf(undefined)).toBeUndefined();
  expect(recordOf({ ...object, spec: { clusterRef: 7 } })).toBeUndefined();
});
