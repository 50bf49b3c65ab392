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

/** Confirms what was decided on for `decided`, while the API server has this. */
function confirmed(live: Partial<ObjectMeta> | undefined, deleting = false): Promise<void> {
  const api = { get: async () => live && { metadata: { ...decided, ...live } } };
  // Nothing else is asked of it.
  return confirm(api as unknown as KubeApi, TOYS, { metadata: decided, deleting }, signal, [ORDER]);
}

describe('confirm()', () => {
  it.each([
    ['that was written since', { resourceVersion: '8' }],
    ['with other annotations of anybody', { annotations: { [ORDER]: 'this', other: 'x' } }],
    ['with finalizers of others', { finalizers: ['example.com/other', TOY_FINALIZER] }],
  ])('lets a step be made for an object %s', async (_which, live) => {
    await expect(confirmed(live)).resolves.toBeUndefined();
  });

  it.each([
    ['that is gone', undefined],
    ['in whose place another one has come', { uid: 'second' }],
    ['of which a person wants something else', { generation: 3 }],
    ['that is being deleted', { deletionTimestamp: '2026-11-20T10:00:00Z' }],
    ['that nothing of ours holds any more', { finalizers: ['example.com/other'] }],
    ['that was paused', { annotations: { [ORDER]: 'this', 'mooring.dev/paused': 'true' } }],
    ['that was abandoned', { annotations: { [ORDER]: 'this', 'mooring.dev/abandon': 'true' } }],
    ['for which another order stands', { annotations: { [ORDER]: 'that' } }],
  ])('refuses a step for an object %s', async (_which, live) => {
    await expect(confirmed(live)).rejects.toMatchObject({ reason: 'ObjectChanged' });
  });

  it('refuses the end of what an object stood for that is not being deleted, as another one has its name', async () => {
    await expect(confirmed({ deletionTimestamp: '2026-11-20T10:00:00Z' }, true)).resolves.toBeUndefined();
    await expect(confirmed({}, true)).rejects.toMatchObject({ reason: 'ObjectChanged' });
  });
});
