import { describe, expect, it } from 'vitest';
import { aDatabase, type DatabaseBuilder } from '../../../test/support/database-builders.ts';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import { firstClaimant } from './records.ts';

const objectOf = ({ subject }: DatabaseBuilder, metadata: Partial<ObjectMeta>): KubeObject => ({
  apiVersion: 'mooring.dev/v1alpha1',
  kind: 'Database',
  metadata: { ...subject.metadata, ...metadata },
  spec: subject.spec,
  status: subject.status,
});
const older = { name: 'older', uid: 'older', creationTimestamp: '2026-11-20T09:00:00Z' };
const younger = { name: 'younger', uid: 'younger', creationTimestamp: '2026-11-20T11:00:00Z' };
const refused = (database: DatabaseBuilder) => database.withReady('False', 'ClusterNotAllowed');

describe('which object stands for a database', () => {
  it.each([
    ['itself, if it is older', aDatabase(), objectOf(aDatabase(), younger), undefined],
    ['the older, if none has it', aDatabase(), objectOf(aDatabase(), older), 'shop/older'],
    ['the one that has it', aDatabase(), objectOf(aDatabase().owned(), younger), 'shop/younger'],
    ['the one that has begun', aDatabase(), objectOf(aDatabase().announced(), younger), 'shop/younger'],
    [
      'itself, against an older one that is not admitted',
      aDatabase(),
      objectOf(refused(aDatabase()), older),
      undefined,
    ],
    [
      'one that had it before it was no longer admitted',
      aDatabase(),
      objectOf(refused(aDatabase().owned()), younger),
      'shop/younger',
    ],
    [
      'one that began before it was no longer admitted',
      aDatabase(),
      objectOf(refused(aDatabase().announced()), younger),
      'shop/younger',
    ],
  ])('%s', (_what, database, other, expected) => {
    expect(firstClaimant(database.subject, [other])).toBe(expected);
  });
});
