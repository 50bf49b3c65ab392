import { describe, expect, it } from 'vitest';
import { TOY_FINALIZER, TOYS } from '../../test/support/toy-kind.ts';
import type { KubeApi } from '../kube/api.ts';
import type { ObjectMeta } from '../kube/object.ts';
import { confirm } from './confirm.ts';

const ORDER = 'mooring.dev/accept-identity';
const decided: ObjectMeta = {
  namespace: 'ns',
  name: 'a',
  uid: 'first',
  resourceVersion: '7',
  generation: 2,
  finalizers: [TOY_FINALIZER],
  annotations: { [ORDER]: 'this' },
};
const { signal } = new AbortController();

/** Confirms what was decided for `decided`, while the API server has `live`. */
function confirmed(live: Partial<ObjectMeta> | undefined, deleting = false): Promise<void> {
  const api = { get: async () => live && { metadata: { ...decided, ...live } } };
  // Nothing else is asked of the API server.
  return confirm(api as unknown as KubeApi, TOYS, { metadata: decided, deleting }, signal, [ORDER]);
}

describe('confirm()', () => {
  it.each([
    ['that was written in the meantime', { resourceVersion: '8' }],
    ['with unrelated annotations', { annotations: { [ORDER]: 'this', other: 'x' } }],
    ['with finalizers of others', { finalizers: ['example.com/other', TOY_FINALIZER] }],
  ])('allows a step for an object %s', async (_which, live) => {
    await expect(confirmed(live)).resolves.toBeUndefined();
  });

  it.each([
    ['that is gone', undefined],
    ['that was replaced by another one', { uid: 'second' }],
    ['whose spec a person has changed', { generation: 3 }],
    ['that is being deleted', { deletionTimestamp: '2026-11-20T10:00:00Z' }],
    ['that no longer has a finalizer of ours', { finalizers: ['example.com/other'] }],
    ['that was paused', { annotations: { [ORDER]: 'this', 'mooring.dev/paused': 'true' } }],
    ['that was abandoned', { annotations: { [ORDER]: 'this', 'mooring.dev/abandon': 'true' } }],
    ['for which another order was given', { annotations: { [ORDER]: 'that' } }],
  ])('refuses a step for an object %s', async (_which, live) => {
    await expect(confirmed(live)).rejects.toMatchObject({ reason: 'ObjectChanged' });
  });

  it('refuses to end what an object stood for if the object is not being deleted, as another one has its name', async () => {
    await expect(confirmed({ deletionTimestamp: '2026-11-20T10:00:00Z' }, true)).resolves.toBeUndefined();
    await expect(confirmed({}, true)).rejects.toMatchObject({ reason: 'ObjectChanged' });
  });
});
