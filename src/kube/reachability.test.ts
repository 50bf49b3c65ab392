import { expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { Reachability } from './reachability.ts';

/** `take` asks for a turn; `turns` says when each turn came, `probes` when one came without an answer before it. */
function aServer(random = noChance) {
  const clock = virtualClock();
  const reachability = new Reachability({ clock, random });
  const turns: number[] = [];
  const probes: number[] = [];
  const take = async (signal = new AbortController().signal) => {
    if (!(await reachability.turn(signal))) probes.push(clock.monotonic());
    turns.push(clock.monotonic());
  };
  return { clock, reachability, turns, probes, take };
}

test('Nobody waits for a server that is reachable', async () => {
  const { clock, turns, probes, take } = aServer();
  await Promise.all([take(), take()]);
  expect([turns, probes, clock.timers()]).toEqual([[0, 0], [], 0]);
});

test('While a server is not reachable each has its turn, in the order in which they asked', async () => {
  const { clock, reachability, turns, probes, take } = aServer();
  reachability.notReached();
  const all = [take(), take(), take()];
  await clock.advance(2_500);
  reachability.notReached();
  expect(turns).toEqual([1_000, 2_000]);
  await clock.advance(500);
  await Promise.all(all);
  expect(turns).toEqual([1_000, 2_000, 3_000]);
  // A late one waits for no turn that has passed.
  await clock.advance(60_000);
  void take();
  await clock.advance(1_000);
  expect(turns.at(-1)).toBe(64_000);
  expect(probes).toEqual(turns);
});

test('An answer lets all go on, each at its own moment within a second', async () => {
  const { clock, reachability, turns, probes, take } = aServer(createSeededRandom(1));
  reachability.notReached();
  const all = Array.from({ length: 50 }, () => take());
  await clock.advance(900);
  reachability.reached();
  await clock.advance(1_000);
  await Promise.all(all);
  expect(new Set(turns).size).toBe(50);
  expect(Math.min(...turns)).toBeGreaterThanOrEqual(900);
  expect([clock.timers(), turns.length, probes]).toEqual([0, 50, []]);
  await take();
  expect(turns.at(-1)).toBe(1_900);
});

test('The end of an outage is told once, with how long it lasted', async () => {
  const clock = virtualClock();
  const returns: number[] = [];
  const onReturn = (lastedMs: number) => returns.push(lastedMs);
  const reachability = new Reachability({ clock, random: noChance, onReturn });
  reachability.reached();
  reachability.notReached();
  await clock.advance(90_000);
  reachability.notReached();
  expect(returns).toEqual([]);
  reachability.reached();
  reachability.reached();
  expect(returns).toEqual([90_000]);
});

test('One that is told to stop waits no longer', async () => {
  const { clock, reachability, take } = aServer();
  reachability.notReached();
  const stop = new AbortController();
  const waiting = take(stop.signal);
  stop.abort();
  await waiting;
  expect([clock.monotonic(), clock.timers()]).toEqual([0, 0]);
});
