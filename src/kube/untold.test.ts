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

test.each<[object, string[], boolean]>([
  [{ colors: [] }, ['colors'], true],
  [{ colors: null }, ['colors'], true],
  [{ lid: { size: 0 } }, ['lid.size'], true],
  [{ lids: [{}, { size: 0 }] }, ['lids.size'], true],
  [{ lids: [{}, { lid: { size: 0 } }] }, ['lids.lid.size'], true],
  [{ shape: 1 }, ['size', 'shape'], true],
  [{ lid: {}, lids: [{}] }, ['size', 'lid.size', 'lids.size'], false],
  [{ lids: [] }, ['lids.size'], false],
  [{ lid: 1 }, ['lid.size'], false],
  [{ lid: null }, ['lid.size'], false],
  [{ lids: [{ lid: {} }] }, ['lids.lid.size'], false],
  [{ shape: 1 }, ['size', 'colors'], false],
  [{ shape: 1 }, ['lid.size'], true],
])('tells() says whether %j has one of %j, even if empty, or lacks what one is in: %s', (status, fields, told) => {
  expect(tells(answer(status), fields)).toBe(told);
});

test('tells() says no of an object without a status', () => {
  expect(tells({ metadata: { name: 'a', uid: 'u', resourceVersion: '1' } }, ['size'])).toBe(false);
});
