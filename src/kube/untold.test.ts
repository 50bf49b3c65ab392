import { expect, test } from 'vitest';
import { type AnyObject, KubeError } from './api.ts';
import { droppedFrom, refusedWith, tells } from './untold.ts';

const answer = (status: object): AnyObject & { status: object } => ({
  metadata: { name: 'a', uid: 'u', resourceVersion: '1' },
  status,
});

test.each([
  ['all stayed', { size: 1, color: 'red' }, { size: 1, color: 'red', other: 1 }, undefined],
  ['what was removed is not there', { size: null }, {}, undefined],
  ['a list is empty', { sizes: [] }, { sizes: [] }, undefined],
  ['one is not there', { size: 1, color: 'red' }, { size: 1 }, 'status.color was written'],
  ['none is there', { size: 1, color: 'red' }, {}, 'status.size, status.color was written'],
  ['all inside one stayed', { lid: { size: 1, color: null } }, { lid: { size: 1, other: 1 } }, undefined],
  ['one inside another is not there', { lid: { size: 1, color: 'red' } }, { lid: { size: 1 } }, 'status.lid.color was'],
  [
    'one inside a list is not there',
    { lids: [{ a: 1 }, { a: 1, b: 1 }] },
    { lids: [{}, { b: 1 }] },
    'status.lids.a was',
  ],
])('droppedFrom() reports fields that the API server dropped, if %s', (_, patch, status, told) => {
  const untold = droppedFrom(patch, answer(status));
  expect([untold?.reason, untold?.message.startsWith(told ?? '')]).toEqual(
    told === undefined ? [undefined, undefined] : ['StatusIncomplete', true],
  );
});

test.each([
  ['that is invalid', new KubeError('Too long', { status: 422, reason: 'Invalid' }), 'StatusRefused'],
  ['that may not be made', new KubeError('forbidden', { status: 403, reason: 'Forbidden' }), 'StatusRefused'],
  ['that came too late', new KubeError('modified', { status: 409, reason: 'Conflict' }), undefined],
  ['of an object that is gone', new KubeError('not found', { status: 404, reason: 'NotFound' }), undefined],
  ['that a busy server puts off', new KubeError('busy', { status: 429 }), undefined],
  ['that a server failed at', new KubeError('etcd', { status: 500 }), undefined],
  ['with a login that has ended', new KubeError('Unauthorized', { status: 401 }), undefined],
  ['that was not answered', new Error('Connection reset'), undefined],
])('refusedWith() reports a status %s, or does not', (_, error, reason) => {
  expect(refusedWith(error)?.reason).toBe(reason);
  if (reason !== undefined) expect(refusedWith(error)?.message).toContain(error.message);
});

test('tells() says whether a status has one of these fields, even if empty, or lacks what one is in', () => {
  const fields = ['size', 'colors', 'lid.size', 'lids.size'];
  expect(tells(answer({ colors: [] }), fields)).toBe(true);
  expect(tells(answer({ lid: { size: 0 } }), fields)).toBe(true);
  expect(tells(answer({ lids: [{}, { size: 0 }] }), fields)).toBe(true);
  expect(tells(answer({ lid: {}, lids: [{}] }), fields)).toBe(false);
  expect(tells(answer({ shape: 1 }), ['size', 'colors'])).toBe(false);
  expect(tells(answer({ shape: 1 }), ['lid.size'])).toBe(true);
  expect(tells({ metadata: { name: 'a', uid: 'u', resourceVersion: '1' } }, ['size'])).toBe(false);
});
