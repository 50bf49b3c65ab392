import { expect, test } from 'vitest';
import { withoutBallast } from './informers.ts';

const METADATA = { name: 'orders', namespace: 'shop', uid: 'u', resourceVersion: '7' };

test('Objects are kept without managedFields and without what kubectl apply keeps, and with all else', () => {
  const annotations = { 'example.com/team': 'shop' };
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}' };
  const managedFields = [{ manager: 'kubectl' }];
  const object = {
    spec: { a: 1 },
    metadata: { ...METADATA, annotations: { ...annotations, ...applied }, managedFields },
  };
  expect(withoutBallast(object)).toEqual({ spec: { a: 1 }, metadata: { ...METADATA, annotations } });
  const plain = { spec: { a: 1 }, metadata: METADATA };
  expect(withoutBallast(plain)).toEqual(plain);
});
