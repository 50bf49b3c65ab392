import { describe, expect, it } from 'vitest';
import { CREATED_AT, conditionOf, NOW_MS, outline } from '../../../test/support/builders.ts';
import {
  aDatabase,
  aServer,
  type DatabaseBuilder,
  NOT_ALLOWED,
  noServer,
} from '../../../test/support/database-builders.ts';
import { decideDatabase } from './decide.ts';
import type { DatabaseObservation, DatabaseSeen } from './observation.ts';

const decide = ({ subject }: DatabaseBuilder, seen: DatabaseObservation) => decideDatabase(subject, seen, NOW_MS);
const goes = (...steps: readonly string[]) => ({
  ready: 'as before',
  summary: 'none',
  steps,
  comesBack: 'when something changes',
  released: true,
});
const stays = (ready: string, comesBack = 'when something changes') => ({
  ready,
  summary: 'Reconciling',
  steps: [],
  comesBack,
});

const ours = aDatabase().owned().deleting();
const begun = aDatabase().announced().deleting();
const anotherServer = (elsewhereForMs: number, more: Partial<DatabaseSeen> = {}) =>
  aServer({ identity: 'later', elsewhereForMs, ...more });
const deletes = { ...goes('DeleteDatabase'), ready: 'Unknown DeletingDatabase', summary: 'Reconciling' };

const ABSENCE = { since: CREATED_AT, forMs: 0, againInMs: 1_000 };

describe('An object that is being deleted', () => {
  it('waits while its database, though not to be seen, may still be there', () => {
    const seen = aServer({ existence: 'absent', absence: ABSENCE });
    expect(outline(decide(ours, seen))).toEqual(stays('Unknown NotFound', '1000 ms'));
    expect(conditionOf(decide(ours, seen), 'Ready')?.message).toContain('mooring.dev/abandon=true');
  });

  it.each([
    ['is released with deletionPolicy Retain', aDatabase().owned().deleting('Retain'), aServer()],
    [
      'is released with deletionPolicy Retain whatever its cluster is like',
      aDatabase().owned().deleting('Retain'),
      noServer('notReady'),
    ],
    ['is released if nothing was done for it', aDatabase().held().deleting(), aServer()],
    [
      'is released if nothing was done for it, whatever its cluster is like',
      aDatabase().held().deleting(),
      noServer('notReady'),
    ],
    ['is released if there is no need to look', ours, { server: 'notNeeded' } as const],
    ['is released when the database is gone', ours, aServer({ existence: 'absent' })],
    [
      'is released when a database whose creation was not answered does not appear',
      begun,
      aServer({ existence: 'absent' }),
    ],
    [
      'is not kept because the wall clock was set back',
      begun,
      aServer({ existence: 'absent', attemptedAtMs: NOW_MS + 3_600_000 }),
    ],
    [
      'is released if what was never asked for was meant for another cluster',
      begun,
      aServer({ identity: 'later', attemptedAtMs: undefined }),
    ],
    ['is released if another object stands for the database', ours, aServer({ claimedBy: 'shop/older' })],
    ['is released if the database existed before the call', begun, aServer({ attemptedAtMs: undefined })],
    ['is released if the cluster is destroyed with everything on it', ours, noServer('leaving', { destroyed: true })],
  ])('%s', (_what, database, seen) => {
    expect(outline(decide(database, seen))).toEqual(goes());
  });

  it.each([
    ['has its database deleted, and goes with it', ours, aServer(), deletes],
    ['has its database deleted while the cluster is going too', ours, aServer({ leaving: true }), deletes],
    ['has a database deleted whose creation was not answered', begun, aServer(), deletes],
    [
      'reports that it leaves a database that its edited status does not name',
      ours.withStatus({ name: 'edited' }),
      aServer(),
      goes('TellLeft'),
    ],
    [
      'reports that it leaves its database if the cluster is now another one',
      ours,
      anotherServer(120_000),
      goes('TellLeft'),
    ],
    [
      'reports that it leaves its database if the cluster is now another one, which has none',
      ours,
      anotherServer(120_000, { existence: 'absent' }),
      goes('TellLeft'),
    ],
    [
      'reports that it may leave what was asked for if the cluster is now another one',
      begun,
      anotherServer(120_000),
      goes('TellLeft'),
    ],
    [
      'waits to see whether the cluster is another one',
      ours,
      anotherServer(30_000, { existence: 'absent' }),
      { ...stays('Unknown WaitingForCluster'), comesBack: '90000 ms' },
    ],
    ['reports that it leaves its database when the cluster went first', ours, noServer('missing'), goes('TellLeft')],
    [
      'reports that it leaves its database when the cluster goes and is kept',
      ours,
      noServer('leaving'),
      goes('TellLeft'),
    ],
    [
      'waits for a database whose creation was not answered a moment ago',
      begun,
      aServer({ existence: 'absent', attemptedAtMs: NOW_MS - 1_000 }),
      { ...stays('Unknown CreatingDatabase'), comesBack: '59000 ms' },
    ],
    ['waits while the cluster is suspended', ours, noServer('suspended'), stays('Unknown ClusterSuspended')],
    ['waits while the cluster is not ready', ours, noServer('notReady'), stays('Unknown WaitingForCluster')],
    ['waits while the cluster does not admit it', ours, NOT_ALLOWED, stays('False DeletionBlocked', 'slowly')],
  ])('%s', (_what, database, seen, expected) => {
    expect(outline(decide(database, seen))).toEqual(expected);
  });

  it.each([noServer('suspended'), noServer('notReady'), NOT_ALLOWED])(
    'says, while it waits, how to let it go: %#',
    (seen) => {
      expect(conditionOf(decide(ours, seen), 'Ready')?.message).toContain('annotate mooring.dev/abandon=true');
    },
  );

  const known = [
    { type: 'Synced', status: 'True', reason: 'SchemaApplied', message: 'As before', lastTransitionTime: '' } as const,
  ];

  it.each([
    ['deletes', ours, aServer()],
    ['waits to see whether its cluster is another one', ours, anotherServer(30_000)],
    ['waits for what may still appear', begun, aServer({ existence: 'absent', attemptedAtMs: NOW_MS - 1_000 })],
    ['waits for its cluster', ours, noServer('notReady')],
    ['is not admitted', ours, NOT_ALLOWED],
  ])('keeps what is known of the schema while it %s', (_what, database, seen) => {
    expect(conditionOf(decide(database.withStatus({ conditions: known }), seen), 'Synced')).toMatchObject({
      message: 'As before',
    });
  });

  it('deletes the database by its name on the cluster where it is', () => {
    expect(decide(ours, aServer()).steps).toEqual([{ do: 'DeleteDatabase', name: 'orders', identity: CREATED_AT }]);
  });

  it.each([
    ['the cluster is another one now', ours, anotherServer(120_000), /now shows one that was created later: the/],
    [
      'the cluster is gone',
      ours,
      noServer('missing'),
      /, as Mooring sees no DatabaseCluster "orders" in namespace "shop": it is left/,
    ],
    [
      'the cluster is going',
      ours,
      noServer('leaving'),
      /was not deleted on the server, as Waiting for DatabaseCluster "orders": leaving: it is left/,
    ],
    [
      'the cluster is another object’s',
      ours,
      noServer('shared', { owner: 'old/orders' }),
      /was not deleted on the server, as the cluster belongs to DatabaseCluster "old\/orders": it is left/,
    ],
    ['its status was edited', ours.withStatus({ name: 'edited' }), aServer(), /status.name is "edited"/],
  ])('names the database that it leaves as %s, and says why', (_why, database, seen, message) => {
    const { steps } = decide(database, seen);
    const name = database.subject.status.name === 'edited' && seen.server === 'waiting' ? 'edited' : 'orders';
    expect(steps).toEqual([{ do: 'TellLeft', name, message: expect.stringMatching(message) }]);
  });

  it('has a database deleted that was created for it, even if its name was removed from the status', () => {
    const edited = ours.withStatus({ name: undefined, operation: begun.subject.status.operation });
    expect(outline(decide(edited, aServer()))).toEqual(deletes);
  });

  it('waits from the start to see whether the cluster is another one', () => {
    expect(decide(ours, aServer({ identity: 'later', elsewhereForMs: undefined })).requeueAfterMs).toBe(120_000);
  });

  it('is released if a call was made for a database other than the one its status names', () => {
    const other = aDatabase().held().withStatus({ cluster: CREATED_AT, name: 'orders' }).deleting();
    const seen = aServer({ existence: 'absent', attemptedAtMs: NOW_MS - 1_000 });
    expect(outline(decide(other, seen))).toEqual(goes());
  });

  it('stays as it is while this process has just begun', () => {
    expect(outline(decide(ours, noServer('notReady', { starting: true })))).toEqual({
      ...stays('as before'),
      summary: 'none',
    });
  });
});
