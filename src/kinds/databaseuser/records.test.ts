import { describe, expect, it } from 'vitest';
import { aUser, UserBuilder } from '../../../test/support/user-builders.ts';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import { claimOf, concerns, firstClaimant } from './records.ts';

const objectOf = ({ subject }: UserBuilder, metadata: Partial<ObjectMeta>): KubeObject => ({
  apiVersion: 'mooring.dev/v1alpha1',
  kind: 'DatabaseUser',
  metadata: { ...subject.metadata, ...metadata },
  spec: subject.spec,
  status: subject.status,
});
const older = { name: 'older', uid: 'older', creationTimestamp: '2026-11-20T09:00:00Z' };
const younger = { name: 'younger', uid: 'younger', creationTimestamp: '2026-11-20T11:00:00Z' };
const elsewhere = { ...older, namespace: 'elsewhere' };
const begun = { finalizers: ['mooring.dev/user'] };
const hasBegun = new UserBuilder({ ...aUser().subject, metadata: { ...aUser().subject.metadata, ...begun } });
const cannotHaveIt = aUser().withReady('False', 'UserExists');
const withBadLabel = { ...aUser().subject.spec, connectionSecret: { labels: { 'bad key': 'x' } } };
const fromElsewhere = aUser().with({ clusterRef: { name: 'orders', namespace: 'shop' } });

describe('which object stands for a user', () => {
  const cases: readonly (readonly [string, UserBuilder, KubeObject | undefined, string | undefined])[] = [
    ['itself, if there is no other', aUser(), undefined, undefined],
    ['itself, even if it is seen among the others', aUser(), objectOf(aUser(), {}), undefined],
    ['the older, if none has it', aUser(), objectOf(aUser(), older), 'shop/older'],
    ['itself, if it is older', aUser(), objectOf(aUser(), younger), undefined],
    ['the one that has it, even if it is younger', aUser(), objectOf(aUser().owned(), younger), 'shop/younger'],
    ['itself, if it has it', aUser().owned(), objectOf(aUser(), older), undefined],
    ['the one that has begun', aUser(), objectOf(aUser(), { ...younger, ...begun }), 'shop/younger'],
    ['the older, if both have begun', hasBegun, objectOf(aUser(), { ...older, ...begun }), 'shop/older'],
    [
      'itself, if the older has begun too, and found a user that it did not create',
      hasBegun,
      objectOf(cannotHaveIt, { ...older, ...begun }),
      undefined,
    ],
    [
      'itself, if the older found a user that it did not create, even before this one has begun, or without its finalizer',
      aUser(),
      objectOf(cannotHaveIt, { ...older, ...begun }),
      undefined,
    ],
    [
      'itself, if it found a user that it did not create, and the younger has not',
      new UserBuilder({ ...cannotHaveIt.subject, metadata: hasBegun.subject.metadata }),
      objectOf(aUser(), { ...younger, ...begun }),
      undefined,
    ],
    [
      'the older, if it may take over the user that it found, from now on',
      aUser(),
      objectOf(cannotHaveIt.with({ adoptionPolicy: 'IfExists' }), older),
      'shop/older',
    ],
    [
      'an older one from elsewhere that was admitted',
      aUser(),
      objectOf(fromElsewhere.withReady('Unknown', 'CreatingUser'), elsewhere),
      'elsewhere/older',
    ],
    ['itself, against one from elsewhere that was not handled', aUser(), objectOf(fromElsewhere, elsewhere), undefined],
    [
      'itself, against one from elsewhere that is not admitted, whatever its finalizer says',
      aUser(),
      objectOf(fromElsewhere.withReady('False', 'ClusterNotAllowed'), { ...elsewhere, ...begun }),
      undefined,
    ],
    [
      'itself, against a younger one from elsewhere that is admitted, whatever its finalizer says',
      aUser(),
      objectOf(fromElsewhere.withReady('Unknown', 'CreatingUser'), { ...younger, ...begun, namespace: 'elsewhere' }),
      undefined,
    ],
    [
      'one that had it before it was no longer admitted',
      aUser(),
      objectOf(fromElsewhere.owned().withReady('False', 'ClusterNotAllowed'), elsewhere),
      'elsewhere/older',
    ],
    [
      'one that has it, even if no Secret can be as its spec says',
      aUser(),
      { ...objectOf(aUser().owned(), younger), spec: withBadLabel },
      'shop/younger',
    ],
    [
      'itself, against one that has nothing, and whose Secret cannot be as its spec says',
      aUser(),
      { ...objectOf(aUser(), older), spec: withBadLabel },
      undefined,
    ],
    ['itself, against a spec that cannot be read', aUser(), { ...objectOf(aUser(), older), spec: {} }, undefined],
    [
      'one that has it, even if its spec cannot be read any more',
      aUser(),
      {
        ...objectOf(aUser().owned(), younger),
        spec: { ...aUser().subject.spec, username: 7, grants: 'of another time' },
      },
      'shop/younger',
    ],
  ];
  it.each(cases)('%s', (_what, user, other, expected) => {
    expect(firstClaimant(user.subject, [other])).toBe(expected);
  });

  it('is reported under the name of the user on its cluster', () => {
    expect(claimOf(aUser().subject)).toBe('users/shop/orders/app');
    expect(concerns(objectOf(aUser().with({ username: 'other' }), older))).toEqual(['users/shop/orders/other']);
    expect(concerns(objectOf(fromElsewhere, elsewhere))).toEqual(['users/shop/orders/older']);
    const unreadable = { ...aUser().subject.spec, username: 7 };
    expect(concerns({ ...objectOf(aUser().owned(), older), spec: unreadable })).toEqual(['users/shop/orders/app']);
    expect(concerns(undefined)).toEqual([]);
  });
});
