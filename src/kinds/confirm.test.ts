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
  return confirm(api as unknown as KubeApi, TOYS, { metadata: decided, deleting, status: {} }, signal, [ORDER]);
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

  it.each([
    ['is written down', { operation: { startedAt: '2026-11-20T10:00:00Z' } }, 'goes on'],
    ['is written down as another one', { operation: { startedAt: '2026-11-20T09:00:00Z' } }, 'ObjectChanged'],
    ['is not written down any more', {}, 'ObjectChanged'],
    ['is not written down, as there is no status', undefined, 'ObjectChanged'],
  ])('looks whether a call %s', async (_which, status, becomes) => {
    const api = { get: async () => ({ metadata: decided, status }) };
    const subject = {
      metadata: decided,
      deleting: false,
      status: { operation: { startedAt: '2026-11-20T10:00:00Z' } },
    };
    const ended = confirm(api as unknown as KubeApi, TOYS, subject, signal, [ORDER]);
    expect(
      await ended.then(
        () => 'goes on',
        ({ reason }) => reason,
      ),
    ).toBe(becomes);
  });

  it('refuses to end what an object stood for if the object is not being deleted, as another one has its name', async () => {
    await expect(confirmed({ deletionTimestamp: '2026-11-20T10:00:00Z' }, true)).resolves.toBeUndefined();
    await expect(confirmed({}, true)).rejects.toMatchObject({ reason: 'ObjectChanged' });
  });
});
