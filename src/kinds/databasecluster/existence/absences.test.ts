import { describe, expect, it } from 'vitest';
import { aCluster, CREATED_AT } from '../../../../test/support/builders.ts';
import { manualClock } from '../../../../test/support/clock.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import type { ClusterSubject } from '../observation.ts';
import { ClusterAbsences } from './absences.ts';

/** Looks for a cluster that does not exist. */
function aLook() {
  const clock = manualClock();
  const absences = new ClusterAbsences();
  const { subject } = aCluster().with({ recreatePolicy: 'Always' }).owned();
  return {
    clock,
    missed: (hasLookalikes = false) => absences.missed(subject, hasLookalikes, clock),
    missedOf: (createdAt: string, more: Partial<ClusterSubject> = {}) =>
      absences.missed({ ...subject, ...more, status: { ...subject.status, createdAt } }, false, clock)?.leftMs,
    noneRecorded: () => absences.present(subject, undefined),
    shown: (status: string) => absences.present(subject, { id: 'orders', status, servers: [] } as unknown as Cluster),
    /** After how many looks that was enough, of 20. */
    looksUntilGone(everyMs: number): number {
      for (let look = 1; look < 20; look++) {
        if (absences.missed(subject, false, clock) === undefined) return look;
        clock.advance(everyMs);
      }
      return 20;
    },
  };
}

describe('ClusterAbsences', () => {
  it.each([
    ['every five seconds', 5_000, 5],
    ['after twenty seconds', 20_000, 2],
    ['after a minute', 60_000, 2],
    // Of time in which nobody looked, ten seconds count: it takes longer, and comes to an end.
    ['each time a minute late', 65_000, 3],
    ['each time an hour late', 3_600_000, 3],
  ])('treats a cluster as gone that is looked for %s', (_, everyMs, looks) => {
    expect(aLook().looksUntilGone(everyMs)).toBe(looks);
  });

  it('says since when and until when a cluster is looked for, the same each time', () => {
    const { clock, missed } = aLook();
    const [since, until] = [0, 20_000].map((ms) => new Date(clock.now() + ms).toISOString());
    expect(missed()).toEqual({ since, until, leftMs: 20_000, hadLookalikes: false });
    clock.advance(15_000);
    expect(missed()).toEqual({ since, until, leftMs: 5_000, hadLookalikes: false });
  });

  it('begins anew each time that a cluster was seen, even one that does not run yet, and for another object of the name', () => {
    const { clock, missed, missedOf, shown } = aLook();
    missed(true);
    shown('starting');
    expect(missed()).toMatchObject({ leftMs: 20_000, hadLookalikes: false });
    clock.advance(15_000);
    shown('starting');
    clock.advance(5_000);
    expect(missed()).toMatchObject({ leftMs: 20_000, since: new Date(clock.now()).toISOString() });
    clock.advance(15_000);
    const { metadata } = aCluster().another().subject;
    expect([missedOf(CREATED_AT), missedOf(CREATED_AT, { metadata })]).toEqual([5_000, 20_000]);
  });

  it('says that a cluster is looked for since later if nobody looked for long', () => {
    const { clock, missed } = aLook();
    const beganMs = clock.now();
    missed();
    clock.advance(65_000);
    expect(missed()?.since).toBe(new Date(beganMs + 55_000).toISOString());
  });

  it('waits twice as long for each cluster that goes missing before one has run, up to half an hour', () => {
    const { missedOf, shown } = aLook();
    const waits = (count: number) =>
      Array.from({ length: count }, (_, index) => {
        const leftMs = missedOf(`created ${index}`);
        expect(missedOf(`created ${index}`)).toBe(leftMs);
        shown('pending');
        return leftMs;
      });
    expect(waits(9)).toEqual([20, 40, 80, 160, 320, 640, 1280, 1800, 1800].map((seconds) => seconds * 1_000));
    shown('running');
    expect(waits(2)).toEqual([20_000, 40_000]);
  });

  it('waits longer for a cluster of which the cloud says no creation time, too', () => {
    const { missedOf, noneRecorded } = aLook();
    const waits = Array.from({ length: 3 }, () => {
      const leftMs = missedOf('unknown');
      noneRecorded();
      noneRecorded();
      return leftMs;
    });
    expect(waits).toEqual([20_000, 40_000, 80_000]);
  });

  it('waits no longer than for the first one once no other would follow', () => {
    const { missedOf, shown } = aLook();
    for (let index = 0; index < 5; index++) {
      missedOf(`created ${index}`);
      shown('pending');
    }
    const { spec } = aCluster().with({ recreatePolicy: 'Never' }).subject;
    expect(missedOf('created 5')).toBe(640_000);
    expect(missedOf('created 5', { deleting: true })).toBe(20_000);
    expect(missedOf('created 5', { spec })).toBe(20_000);
  });

  it('begins when nothing is left that may be ours', () => {
    const { clock, missed } = aLook();
    missed();
    for (let look = 0; look < 10; look++) {
      expect(missed(true)).toBeUndefined();
      clock.advance(5_000);
    }
    expect(missed()).toMatchObject({ leftMs: 20_000, hadLookalikes: true });
    clock.advance(20_000);
    expect(missed()).toBeUndefined();
  });
});
