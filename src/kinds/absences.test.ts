import { expect, test } from 'vitest';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { Absences } from './absences.ts';

const missing = { key: 'shop/orders', metadata: { uid: 'one' } };

test('A missing database is looked for at growing pauses, for 20 seconds', async () => {
  const clock = virtualClock();
  const absences = new Absences();
  const since = new Date(clock.now()).toISOString();
  const pauses: number[] = [];
  for (let look = absences.missed(missing, clock); look !== undefined; look = absences.missed(missing, clock)) {
    expect(look.since).toBe(since);
    pauses.push(look.againInMs);
    await clock.advance(look.againInMs);
  }
  expect(pauses).toEqual([1_000, 1_000, 2_000, 4_000, 5_000, 5_000, 2_000]);
  expect(absences.missed(missing, clock)).toBeUndefined();
});

test('Two looks that are far apart do not make an absence', async () => {
  const clock = virtualClock();
  const absences = new Absences();
  const forMs: (number | undefined)[] = [];
  for (let look = 0; look < 3; look++) {
    forMs.push(absences.missed(missing, clock)?.forMs);
    await clock.advance(3_600_000);
  }
  expect(forMs).toEqual([0, 10_000, undefined]);
});

test.each([
  ['was seen meanwhile', missing, (absences: Absences) => absences.forget(missing.key)],
  ['is that of an object that has replaced another', { ...missing, metadata: { uid: 'two' } }, () => {}],
])('The wait begins again if the database %s', async (_what, next, meanwhile) => {
  const clock = virtualClock();
  const absences = new Absences();
  absences.deleted(missing, clock);
  expect(absences.missed(missing, clock)).toBeUndefined();
  meanwhile(absences);
  expect(absences.missed(next, clock)).toMatchObject({ forMs: 0 });
});
