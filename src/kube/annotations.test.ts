import { expect, test } from 'vitest';
import { mistakesIn } from './annotations.ts';

test.each([
  ['mooring.dev/paused', 'true'],
  ['mooring.dev/paused', 'false'],
  ['mooring.dev/paused', ''],
  ['mooring.dev/abandon', 'false'],
  ['mooring.dev/reconcile-at', 'now'],
  ['mooring.dev/rotate-at', '1'],
  ['mooring.dev/accept-identity', '2026-11-20T10:00:00.000Z'],
  ['mooring.dev/accept-identity', '2026-11-20T10:00:00Z'],
  ['mooring.dev/accept-identity', '2026-11-20T11:00:00+01:00'],
  ['mooring.dev/accept-identity', '+057857-11-20T10:00:00.000Z'],
  ['mooring.dev/accept-identity', '1763632800000000000'],
  ['mooring.dev/accept-identity', ''],
  ['example.com/paused', 'True'],
])('mistakesIn() finds none in %s: "%s"', (name, value) => {
  expect(mistakesIn('DatabaseCluster', { annotations: { [name]: value } })).toBeUndefined();
});

function noCreationTime(value: string): string {
  return `Annotation mooring.dev/accept-identity is "${value}", which means nothing: write the creation time of the cluster, such as 2026-11-20T10:00:00.000Z, as this object's message names it`;
}

test.each([
  ['mooring.dev/paused', 'True', 'Annotation mooring.dev/paused is "True", which means nothing: write "true"'],
  ['mooring.dev/paused', ' true', 'Annotation mooring.dev/paused is " true", which means nothing: write "true"'],
  ['mooring.dev/abandon', 'yes', 'Annotation mooring.dev/abandon is "yes", which means nothing: write "true"'],
  ['mooring.dev/accept-identity', 'nonsense', noCreationTime('nonsense')],
  ['mooring.dev/accept-identity', 'unknown', noCreationTime('unknown')],
  ['mooring.dev/accept-identity', '2026-02-30T10:00:00Z', noCreationTime('2026-02-30T10:00:00Z')],
  ['mooring.dev/accept-identity', '2026-11-20', noCreationTime('2026-11-20')],
  ['mooring.dev/accept-identity', 'cluster 1', noCreationTime('cluster 1')],
  [
    'mooring.dev/pause',
    'true',
    'Annotation mooring.dev/pause means nothing: write mooring.dev/paused if that is meant',
  ],
  [
    'mooring.dev/rotateAt',
    '1',
    'Annotation mooring.dev/rotateAt means nothing: write mooring.dev/rotate-at if that is meant',
  ],
  [
    'mooring.dev/colour',
    'true',
    'Annotation mooring.dev/colour means nothing: the names are mooring.dev/paused, mooring.dev/reconcile-at, mooring.dev/abandon, mooring.dev/rotate-at, mooring.dev/accept-identity',
  ],
])('mistakesIn() names %s: "%s"', (name, value, says) => {
  expect(mistakesIn('DatabaseCluster', { annotations: { [name]: value, a: 'b' } })).toBe(says);
});

test.each([
  [
    'DatabaseSpace',
    'rotate-at',
    'Annotation mooring.dev/rotate-at means nothing to a DatabaseSpace, only to a DatabaseCluster and a DatabaseUser',
  ],
  ['DatabaseUser', 'rotate-at', undefined],
  [
    'DatabaseUser',
    'accept-identity',
    'Annotation mooring.dev/accept-identity means nothing to a DatabaseUser, only to a DatabaseCluster',
  ],
  [
    'Database',
    'colour',
    'Annotation mooring.dev/colour means nothing: the names are mooring.dev/paused, mooring.dev/reconcile-at, mooring.dev/abandon',
  ],
])('mistakesIn() names for a %s what it does not heed: %s', (kind, name, says) => {
  expect(mistakesIn(kind, { annotations: { [`mooring.dev/${name}`]: '1' } })).toBe(says);
});

test('mistakesIn() reports several, one after the other', () => {
  const annotations = { 'mooring.dev/pause': '', 'mooring.dev/abandon': 'yes', 'mooring.dev/abandn': '' };
  expect(mistakesIn('Database', { annotations })).toBe(
    'Annotation mooring.dev/abandon is "yes", which means nothing: write "true". Annotation mooring.dev/pause means nothing: write mooring.dev/paused if that is meant. Annotation mooring.dev/abandn means nothing: write mooring.dev/abandon if that is meant',
  );
});

const AHEAD =
  'Annotation mooring.dev/abandon is "true", so deleting this object removes only the object, and leaves everything in the cloud and on servers as it is, whatever the spec says about deletion. Unless that is meant, remove the annotation: kubectl annotate databaseuser.mooring.dev app --namespace=shop mooring.dev/abandon-';

test.each([
  ['is not being deleted', undefined, AHEAD],
  ['is being deleted', '2026-11-20T10:00:00Z', undefined],
])('mistakesIn() says what abandoning does to an object that %s', (_, deletionTimestamp, says) => {
  const metadata = { name: 'app', namespace: 'shop', annotations: { 'mooring.dev/abandon': 'true' } };
  const deletion = deletionTimestamp === undefined ? {} : { deletionTimestamp };
  expect(mistakesIn('DatabaseUser', { ...metadata, ...deletion })).toBe(says);
});
