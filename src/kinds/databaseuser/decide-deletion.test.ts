import { describe, expect, it } from 'vitest';
import { conditionOf, NOW_MS, outline } from '../../../test/support/builders.ts';
import { aServerSeen, aUser } from '../../../test/support/user-builders.ts';
import { decideUser } from './decide.ts';
import type { UserObservation, UserStep } from './observation.ts';

const fresh = aUser().deleting();
const owned = aUser().owned().deleting();
const retained = owned.with({ deletionPolicy: 'Retain' });
const waiting = (
  why: 'missing' | 'leaving' | 'shared' | 'suspended' | 'notReady',
  destroyed = false,
): Extract<UserObservation, { readonly server: 'waiting' }> => ({
  server: 'waiting',
  why,
  reason: 'WaitingForCluster',
  message: 'Why',
  starting: false,
  destroyed,
  rests: false,
});
const refused: UserObservation = { server: 'refused', reason: 'ClusterNotAllowed', message: 'Not admitted' };
const deleteUser: UserStep = { do: 'DeleteUser', username: 'app', identity: '2026-11-20T10:00:00.000Z' };
const tellLeft = (cause: string): UserStep => ({
  do: 'TellLeft',
  message: `User "app" was not deleted on the server, as ${cause}. If the cluster was destroyed, the user went with it; if it still exists, delete the user there, unless another DatabaseUser or an application uses it`,
});
const tellNone = tellLeft('Mooring sees no DatabaseCluster "orders" in namespace "shop"');

const rows: readonly {
  name: string;
  user?: typeof owned;
  seen: UserObservation;
  steps: readonly UserStep[];
  goes: boolean;
}[] = [
  {
    name: 'a user of ours is deleted',
    seen: aServerSeen({ login: 'ending', whose: 'ours' }),
    steps: [deleteUser],
    goes: true,
  },
  { name: "somebody else's stays", seen: aServerSeen({ login: 'ending', whose: 'others' }), steps: [], goes: true },
  {
    name: 'one that may be ours is reported to people',
    user: fresh,
    seen: aServerSeen({ login: 'ending', whose: 'unknown' }),
    steps: [
      {
        do: 'TellLeft',
        message:
          'User "app" is on the server of DatabaseCluster "orders", and Mooring can no longer tell whether it was created for this object, as its Secret "app-connection" went first, or had another name: delete it there, unless it is somebody else\'s',
      },
    ],
    goes: true,
  },
  {
    name: "one that may be anybody's, as any password signs in, is left and waited for",
    user: fresh,
    seen: aServerSeen({ login: 'anyAccepted' }),
    steps: [],
    goes: false,
  },
  { name: "the cluster's own stays", seen: aServerSeen({ login: 'reserved' }), steps: [], goes: true },
  { name: "another object's stays", seen: aServerSeen({ login: 'notTried' }, 'shop/other'), steps: [], goes: true },
  { name: 'with Retain nothing is asked', user: retained, seen: { server: 'notNeeded' }, steps: [], goes: true },
  { name: 'without a cluster people are told', seen: waiting('missing'), steps: [tellNone], goes: true },
  {
    name: 'if the cluster is being deleted people are told',
    seen: waiting('leaving'),
    steps: [tellLeft('Why')],
    goes: true,
  },
  {
    name: 'if the cluster is another object’s people are told',
    seen: { ...waiting('shared'), owner: 'old/orders' },
    steps: [
      {
        do: 'TellLeft',
        message:
          'User "app" was not deleted on the server, as the cluster belongs to DatabaseCluster "old/orders". A DatabaseUser there may use it: leave the user as it is, unless you are sure that nobody does',
      },
    ],
    goes: true,
  },
  { name: 'a destroyed cluster leaves nothing to report', seen: waiting('leaving', true), steps: [], goes: true },
  {
    name: 'one that had begun is reported to people too',
    user: fresh,
    seen: waiting('missing'),
    steps: [tellNone],
    goes: true,
  },
  { name: 'a suspended cluster is waited for', seen: waiting('suspended'), steps: [], goes: false },
  { name: 'a cluster with trouble is waited for', seen: waiting('notReady'), steps: [], goes: false },
  { name: 'a cluster that does not admit it blocks', seen: refused, steps: [], goes: false },
];

describe('deletion', () => {
  it.each([
    [1_000, false],
    [59_000, false],
    [60_000, true],
    // The clocks differ a little, or by too much.
    [-2_000, false],
    [-61_000, true],
  ])('of a user that may have been asked for ends %i ms after it began: %s', (afterMs, goes) => {
    const began = Date.parse(fresh.subject.metadata.deletionTimestamp ?? '');
    const decision = decideUser(fresh.subject, aServerSeen({ login: 'ending', whose: 'coming' }), began + afterMs);
    expect([decision.release ?? false, decision.requeueAfterMs]).toEqual([goes, goes ? undefined : 60_000 - afterMs]);
  });

  it.each(rows)('$name', ({ user = owned, seen, steps, goes }) => {
    const decision = decideUser(user.subject, seen, NOW_MS);
    expect(decision.steps ?? []).toEqual(steps);
    expect(decision.release ?? false).toBe(goes);
  });

  it('is as before while this process has just begun', () => {
    const starting = { ...waiting('notReady'), starting: true } as UserObservation;
    expect(decideUser(owned.subject, starting, NOW_MS)).toEqual({ conditions: 'keep' });
  });

  it('says how to let it go while it waits', () => {
    const any = decideUser(fresh.subject, aServerSeen({ login: 'anyAccepted' }), NOW_MS);
    expect(outline(any)).toMatchObject({ ready: 'False AnyPasswordAccepted', comesBack: 'slowly' });
    const wait = decideUser(owned.subject, waiting('suspended'), NOW_MS);
    expect(outline(wait)).toMatchObject({ ready: 'Unknown WaitingForCluster', comesBack: 'when something changes' });
    const blocked = decideUser(owned.subject, refused, NOW_MS);
    expect(outline(blocked)).toMatchObject({ ready: 'False DeletionBlocked', comesBack: 'slowly' });
    for (const decision of [wait, blocked, any])
      expect(conditionOf(decision, 'Ready')?.message).toMatch(/annotate mooring\.dev\/abandon=true$/);
  });
});
