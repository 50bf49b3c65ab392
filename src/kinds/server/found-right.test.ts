import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorKind } from '../../http/api-error.ts';
import { FoundRight } from './found-right.ts';

const KEY = 'shop/app';

type Ready = 'True' | 'False' | 'Unknown';

function anObject(ready: Ready, { generation = 1, observedGeneration = 0, uid = 'one' } = {}) {
  const condition = { type: 'Ready', status: ready, reason: '', message: '', lastTransitionTime: '' } as const;
  const metadata = { namespace: 'shop', name: 'app', uid, generation, resourceVersion: '1' };
  return {
    key: KEY,
    metadata,
    status: { observedGeneration: observedGeneration || generation, conditions: [condition] },
  } as const;
}

const failure = (kind: ApiErrorKind) =>
  new ApiError({ api: 'server', operation: 'signIn', phrase: 'sign in', kind, what: 'no', idempotent: true });

describe('An object', () => {
  it('was right if it was Ready before it had to wait', () => {
    const found = new FoundRight();
    expect(found.note(anObject('Unknown'))).toBe(false);
    expect(found.note(anObject('True'))).toBe(true);
    expect(found.note(anObject('Unknown'))).toBe(true);
    found.forget(KEY);
    expect(found.note(anObject('Unknown'))).toBe(false);
  });

  it.each([
    ['its spec has changed since', anObject('Unknown', { generation: 2 })],
    ['it is another one', anObject('Unknown', { uid: 'two' })],
    ['it was Ready with an earlier spec', anObject('True', { generation: 2, observedGeneration: 1 })],
  ])('was not if %s', (_, object) => {
    const found = new FoundRight();
    found.note(anObject('True'));
    expect(found.note(object)).toBe(false);
  });

  it('is what the last look at its server found', async () => {
    const found = new FoundRight();
    found.note(anObject('True'));
    await found.looking(KEY, () => Promise.resolve());
    expect(found.note(anObject('False'))).toBe(false);
  });

  it.each([
    ['unreachable', true],
    ['throttled', true],
    ['unauthorized', false],
    ['invalid', false],
  ] as const)('is as it was after a look that ends with %s: %s', async (kind, isStill) => {
    const found = new FoundRight();
    found.note(anObject('True'));
    await expect(found.looking(KEY, () => Promise.reject(failure(kind)))).rejects.toThrow();
    expect(found.note(anObject('Unknown'))).toBe(isStill);
  });
});
