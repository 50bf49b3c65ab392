import { expect, test } from 'vitest';
import { isNews, isNewsToOthers } from './predicate.ts';

const seen = (changes: object = {}) => ({
  metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1', generation: 1, ...changes },
});

test.each([
  [undefined, seen(), true],
  [seen(), undefined, true],
  [seen(), seen({ resourceVersion: '2' }), false],
  [seen(), seen({ resourceVersion: '2', managedFields: [] }), false],
  [seen(), seen({ generation: 2 }), true],
  [seen(), seen({ uid: 'v' }), true],
  [seen(), seen({ deletionTimestamp: 't' }), true],
  [seen(), seen({ finalizers: ['x'] }), true],
  [seen(), seen({ annotations: { a: 'b' } }), true],
  [seen(), seen({ labels: { a: 'b' } }), true],
])('isNews() of %j and %j is %s', (before, after, news) => {
  expect(isNews(before, after)).toBe(news);
});

test.each([
  ['it was added', seen(), seen({ finalizers: ['own'] }), false],
  ['it is there, and another one was added', seen({ finalizers: ['own'] }), seen({ finalizers: ['own', 'x'] }), false],
  ['it went', seen({ finalizers: ['own', 'x'] }), seen({ finalizers: ['x'] }), true],
  ['it is there, and the spec changed', seen(), seen({ finalizers: ['own'], generation: 2 }), true],
])('isNews() if the own finalizer is known: %s', (_what, before, after, news) => {
  expect(isNews(before, after, 'own')).toBe(news);
});

test.each([
  ['a finalizer was added', seen(), seen({ finalizers: ['x'] }), false],
  ['a finalizer went', seen({ finalizers: ['x', 'y'] }), seen({ finalizers: ['x'] }), false],
  ['the spec changed, too', seen(), seen({ finalizers: ['x'], generation: 2 }), true],
  ['it is being deleted', seen({ finalizers: ['x'] }), seen({ finalizers: ['x'], deletionTimestamp: 't' }), true],
  [
    'a finalizer went while it is being deleted',
    seen({ finalizers: ['x', 'y'], deletionTimestamp: 't' }),
    seen({ finalizers: ['x'], deletionTimestamp: 't' }),
    true,
  ],
  ['it is gone', seen(), undefined, true],
])('isNewsToOthers(): %s', (_what, before, after, news) => {
  expect(isNewsToOthers(before, after)).toBe(news);
});
