import { describe, expect, it } from 'vitest';
import { aCloudCluster, aCluster } from '../../../../test/support/builders.ts';
import type { ClusterWorld } from '../world.ts';
import type { Difference } from './differences.ts';
import { stateNotShown } from './not-shown.ts';
import { type Asked, answered, explains, isAwaited, UNSETTLED_MS, type Unseen } from './unseen-change.ts';
import { UnseenChanges } from './unseen-changes.ts';

const OF = { key: 'shop/orders', uid: 'u' } as const;
const BEFORE = aCloudCluster();
const AGAIN_MS = 60_000;
const IN_A_ROW_MS = 600_000;
const at = (ms: number) => ({ now: () => 1_000_000_000_000 + ms, monotonic: () => ms });
const asked = (changes: Asked, cluster = BEFORE) => ({ ...OF, changes, cluster });
const unseen = (changes: Asked, more: Partial<Unseen> = {}): Unseen => ({
  ...answered(asked(changes), 'accepted', undefined, at(0)),
  ...more,
});
const differs = (field: string, desired = ''): Difference => ({ field, desired, observed: '' });

describe('explains()', () => {
  const larger = { storageSizeGB: 200 };
  const suspended = { status: 'suspended' } as const;
  const running = { status: 'running' } as const;
  const gone = { shown: 'gone' } as const;

  it.each<[string, Unseen, Difference, object, number, boolean]>([
    ['it shows late', unseen(larger), differs('storageSizeGB'), larger, 0, true],
    ['it does not show yet', unseen(larger), differs('storageSizeGB'), {}, 0, true],
    ['it should have shown by now', unseen(larger), differs('storageSizeGB'), {}, AGAIN_MS + UNSETTLED_MS, false],
    ['it may show for a moment yet', unseen(larger), differs('storageSizeGB'), {}, AGAIN_MS + UNSETTLED_MS - 1, true],
    ['the cluster has neither', unseen(larger), differs('storageSizeGB'), { storageSizeGB: 150 }, 0, false],
    ['another field was asked for', unseen(larger), differs('machineType'), {}, 0, false],
    ['it was shown, and is gone', unseen(larger, gone), differs('storageSizeGB'), {}, 0, false],
    ['that has happened twice', unseen(larger, { ...gone, times: 2 }), differs('storageSizeGB'), {}, 0, true],
    ['it shows as suspended', unseen(suspended), differs('state', 'Running'), suspended, 0, true],
    ['it is being suspended', unseen(suspended), differs('state', 'Running'), { status: 'suspending' }, 0, true],
    ['it is resumed', unseen(suspended), differs('state', 'Suspended'), running, 0, false],
    ['it shows as running', unseen(running), differs('state', 'Suspended'), running, 0, true],
    ['it is being resumed', unseen(running), differs('state', 'Suspended'), { status: 'resuming' }, 0, true],
    ['it is suspended', unseen(running), differs('state', 'Running'), suspended, 0, false],
    ['it is renamed', unseen({ id: 'orders-eu' }), differs('clusterID'), { id: 'orders-eu' }, 0, true],
    ['it is renamed otherwise', unseen({ id: 'orders-eu' }), differs('clusterID'), { id: 'orders-us' }, 0, false],
    ['nobody can change it', unseen(larger), differs('version'), {}, 0, false],
  ])('says whether a change is why the cluster differs: %s', (_, last, difference, changes, nowMs, isWhy) => {
    expect(explains(last, difference, aCloudCluster(changes), nowMs, false)).toBe(isWhy);
  });

  it('takes what is gone again for our doing if what others change stays, as nothing would be done about it', () => {
    expect(explains(unseen(larger, gone), differs('storageSizeGB'), BEFORE, 0, true)).toBe(true);
  });
});

it('A change that was shown and is gone is asked for again at once the first time, and later only after a pause', () => {
  const awaited = (more: Partial<Unseen>) => isAwaited(unseen({ storageSizeGB: 200 }, more), AGAIN_MS - 1);
  expect(awaited({})).toBe(true);
  expect(awaited({ shown: 'gone' })).toBe(false);
  expect(awaited({ shown: 'gone', times: 2 })).toBe(true);
});

describe('UnseenChanges', () => {
  const larger = asked({ storageSizeGB: 200 });
  const differing = [differs('storageSizeGB')];
  const isOurs = (changes: UnseenChanges, list = differing, of: object = {}, nowMs = 0) =>
    changes.explains({ ...OF, cluster: aCloudCluster({ storageSizeGB: 200 }), ...of }, list, nowMs, false);

  it('explain a difference only if each part of it is ours', () => {
    const changes = new UnseenChanges();
    changes.accepted(larger, at(0));
    expect(isOurs(changes)).toBe(true);
    expect(isOurs(changes, [...differing, differs('machineType')])).toBe(false);
    expect(isOurs(changes, [])).toBe(false);
  });

  it('explain nothing of another object or cluster, and nothing for ever', () => {
    const changes = new UnseenChanges();
    changes.accepted(larger, at(0));
    expect(isOurs(changes, differing, { uid: 'another' })).toBe(false);
    expect(isOurs(changes, differing, { cluster: aCloudCluster({ storageSizeGB: 200, createdAt: 1 }) })).toBe(false);
    expect(isOurs(changes, differing, {}, AGAIN_MS + IN_A_ROW_MS - 1)).toBe(true);
    expect(isOurs(changes, differing, {}, AGAIN_MS + IN_A_ROW_MS)).toBe(false);
    expect(changes.inARow(larger, AGAIN_MS + IN_A_ROW_MS)).toBeUndefined();
  });

  it('remember the last one of settings, state and id each', () => {
    const changes = new UnseenChanges();
    changes.accepted(larger, at(0));
    changes.accepted(asked({ status: 'suspended' }), at(0));
    changes.accepted(asked({ id: 'orders-eu' }), at(0));
    expect(isOurs(changes)).toBe(true);
    changes.accepted(asked({ storageSizeGB: 300 }), at(0));
    expect(isOurs(changes)).toBe(false);
  });

  it.each<[string, Asked, number]>([
    ['settings', { storageSizeGB: 200 }, 60_000],
    ['state', { status: 'suspended' }, 30_000],
    ['id', { id: 'orders-eu' }, 30_000],
  ])('put off asking for the same again, for up to five minutes: %s', (_, change, firstMs) => {
    const changes = new UnseenChanges();
    const pauses = Array.from({ length: 8 }, () => {
      changes.accepted(asked(change), at(0));
      return changes.inARow(asked(change), 0)?.untilMs;
    });
    expect([pauses[0], pauses[1], pauses.at(-1)]).toEqual([firstMs, firstMs * 2, 300_000]);
  });

  it('say since when a change is accepted in a row, and how often', () => {
    const changes = new UnseenChanges();
    for (const ms of [0, AGAIN_MS]) changes.accepted(larger, at(ms));
    expect(changes.inARow(larger, AGAIN_MS)).toMatchObject({ times: 2, at: new Date(at(0).now()).toISOString() });
  });

  it('do not hold up a change whose answer was lost, and forget no earlier answer for that', () => {
    const changes = new UnseenChanges();
    changes.mayLand(larger, at(0));
    expect([changes.awaited(larger, 0), changes.inARow(larger, 0)]).toEqual([undefined, undefined]);
    expect(isOurs(changes)).toBe(true);
    changes.accepted(larger, at(0));
    changes.mayLand(larger, at(1));
    expect(changes.awaited(larger, 1)).toMatchObject({ times: 1, answeredMs: 0 });
  });

  it('are over once the cluster has shown them for a while', () => {
    const changes = new UnseenChanges();
    changes.accepted(larger, at(0));
    const shows = (ms: number) => changes.shows(OF.key, aCloudCluster({ storageSizeGB: 200 }), ms);
    shows(UNSETTLED_MS - 1);
    expect(isOurs(changes)).toBe(true);
    shows(UNSETTLED_MS);
    expect(isOurs(changes)).toBe(false);
  });
});

describe('stateNotShown()', () => {
  const shown = (changes: UnseenChanges, status: string, ms: number, state: 'suspended' | 'gone' = 'suspended') => {
    const { subject } = aCluster();
    const given = { ...subject, metadata: { ...subject.metadata, uid: OF.uid } };
    const world = { clock: at(ms), memory: { unseenChanges: changes } } as unknown as ClusterWorld;
    return stateNotShown(world, given, aCloudCluster({ status }), state);
  };

  it('tells of a state that was accepted, until the cloud has shown for a while that the cluster is on its way', () => {
    const changes = new UnseenChanges();
    expect(shown(changes, 'running', 0)).toBeUndefined();
    changes.accepted(asked({ status: 'suspended' }), at(0));
    expect(shown(changes, 'running', UNSETTLED_MS)?.reason).toBe('Suspending');
    // Any answer may show that for a moment.
    expect(shown(changes, 'suspending', UNSETTLED_MS - 1)?.reason).toBe('Suspending');
    expect(shown(changes, 'suspending', UNSETTLED_MS)).toBeUndefined();
    expect(shown(changes, 'resuming', UNSETTLED_MS)?.reason).toBe('Suspending');
    changes.accepted(asked({ status: 'suspended' }), at(UNSETTLED_MS));
    expect(shown(changes, 'running', UNSETTLED_MS)?.reason).toBe('UpdateNotApplied');
    expect(shown(changes, 'running', 0, 'gone')).toBeUndefined();
  });

  it.each([
    ['accepted', 'accepted the deletion of'],
    ['missing', 'answered 404 to the deletion of'],
  ] as const)('tells what the cloud answered: %s', (answer, says) => {
    const changes = new UnseenChanges();
    changes.accepted(asked({ status: 'gone' }), at(0), answer);
    expect(shown(changes, 'running', 0, 'gone')?.message).toContain(`The cloud ${says} cluster "orders"`);
  });
});
