import { expect, test } from 'vitest';
import { aCluster, aController, READY } from '../../test/support/toy-controller.ts';
import { sleep } from '../base/clock.ts';
import { CircuitBreaker } from '../http/circuit-breaker.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { WORKERS_IN_ALL } from './workqueue.ts';

const CONCURRENCY = 10;
const TIMEOUT_MS = 20_000;
const WORK_MS = 50;
/** The time between two checks of a healthy toy. */
const CHECK_MS = 60_000;
/** Long enough for each of a hundred to have failed once. */
const KNOWN_MS = 10 * 60_000;

/** How many toys hang, and the group of each: `groupOf` its number. */
interface Setting {
  readonly hanging: number;
  readonly groupOf: (index: number) => string;
}

/**
 * Toys with a server each. Those of `hanging` are well until their servers accept connections but no longer answer. Each is looked
 * at again and again, like a cluster, when its circuit breaker allows it.
 */
async function aWorld({ hanging, groupOf }: Setting) {
  const world = { ...aCluster(), random: createSeededRandom(1) };
  const { clock, random } = world;
  const breakers = new Map<string, CircuitBreaker>();
  const began = new Map<string, number>();
  const healed = new Set<string>();
  const answered = new Set<string>();
  /** When each server was found to hang. */
  const foundAt = new Map<string, number>();
  let hangs = false;
  const answers = async (name: string): Promise<boolean> => {
    const breaker = breakers.get(name) ?? new CircuitBreaker({ clock, random });
    breakers.set(name, breaker);
    const admission = breaker.admit('signIn');
    if (!admission.admitted) return false;
    const isDown = hangs && name.startsWith('hangs') && !healed.has(name);
    await sleep(clock, isDown ? TIMEOUT_MS : WORK_MS, new AbortController().signal);
    admission.done(isDown ? 'unanswered' : 'success');
    if (healed.has(name) && !isDown) answered.add(name);
    if (isDown && !foundAt.has(name)) foundAt.set(name, clock.monotonic());
    return !isDown;
  };
  const failed = new Set<string>();
  const given = await aController(
    {
      observe: async ({ metadata: { name } }) => {
        began.set(name, clock.monotonic());
        failed[(await answers(name)) ? 'delete' : 'add'](name);
      },
      decide: ({ metadata: { name } }) =>
        failed.has(name) ? { conditions: READY, retry: 'soon' } : { conditions: READY, requeueAfterMs: CHECK_MS },
    },
    CONCURRENCY,
    world,
  );
  for (let index = 0; index < hanging; index++) await given.create(`hangs-${index}`, { friend: groupOf(index) });
  await clock.advance(60_000);
  hangs = true;
  const hungAt = clock.monotonic();
  await clock.advance(60_000);

  /** Returns how long the toy waits for a worker after `ask`. */
  const waited = async (name: string, ask: () => void | Promise<void>): Promise<number> => {
    const from = clock.monotonic();
    began.delete(name);
    await ask();
    await clock.runUntil(() => began.has(name), `a pass of ${name}`);
    const ms = (began.get(name) ?? Number.NaN) - from;
    await clock.advance(WORK_MS + 1_000);
    return ms;
  };
  /** Returns the longest waits of toys in the group during that time: edited, new, and going on. */
  const longestWaits = async (group: string, forMs: number) => {
    const waits = { edited: 0, isNew: 0, goesOn: 0 };
    const until = clock.monotonic() + forMs;
    for (let turn = 0; clock.monotonic() < until; turn++) {
      const name = `healthy-${until}-${turn}`;
      const { create, change, controller } = given;
      waits.isNew = Math.max(waits.isNew, await waited(name, () => create(name, { friend: group })));
      waits.edited = Math.max(waits.edited, await waited(name, () => change(name, { spec: { size: 2 } })));
      waits.goesOn = Math.max(waits.goesOn, await waited(name, () => controller.queue.add(`ns/${name}`)));
    }
    return waits;
  };
  /** Returns how long it takes to find that a server that hung is back. */
  const foundAfter = async (name: string): Promise<number> => {
    const from = clock.monotonic();
    healed.add(name);
    await clock.runUntil(() => answered.has(name), `${name} is found to be back`);
    return clock.monotonic() - from;
  };
  return { ...given, longestWaits, foundAfter, foundAt, hungAt };
}

const NONE = { edited: 0, isNew: 0, goesOn: 0 };

test.each([
  ['one group, with the one that waits in it', () => 'a', 'a'],
  ['one group, with the one that waits in another', () => 'a', 'b'],
  ['a group each', (index: number) => `a-${index}`, 'b'],
])(
  'Controller lets nobody wait for servers that hang, however many: %s',
  async (_, groupOf, group) => {
    for (const hanging of [10, 30, 100]) {
      const { clock, longestWaits, controller } = await aWorld({ hanging, groupOf });
      const first = await longestWaits(group, KNOWN_MS / 2);
      expect(Math.max(...Object.values(first)), `${hanging}, as soon as they hang`).toBeLessThanOrEqual(7_000);
      await clock.advance(KNOWN_MS);
      expect(await longestWaits(group, 60_000), `${hanging}, once they are known`).toEqual(NONE);
      expect(controller.queue.processing.size).toBeLessThanOrEqual(WORKERS_IN_ALL * CONCURRENCY);
    }
  },
  60_000,
);

/** A try that still hangs, a pause, a try before the breaker lets one through, and another pause. */
const FOUND_MS = TIMEOUT_MS + 15_000 + 30_000;

test.each([
  ['one group', () => 'a'],
  ['a group each', (index: number) => `a-${index}`],
])(
  'Controller finds that one of a hundred hanging servers (%s) is back as soon as if it were the only one',
  async (_, groupOf) => {
    const { clock, foundAfter } = await aWorld({ hanging: 100, groupOf });
    await clock.advance(KNOWN_MS);
    const took: number[] = [];
    for (let index = 0; index < 100; index += 10) took.push(await foundAfter(`hangs-${index}`));
    expect(Math.max(...took)).toBeLessThanOrEqual(FOUND_MS);
  },
  60_000,
);

/** Eight of ten workers at once, for seven seconds each, and the last calls hang for as long as they may. */
const ALL_FOUND_MS = CHECK_MS + Math.ceil(60 / 8) * 7_000 + TIMEOUT_MS;

test.each([
  ['one group', () => 'a'],
  ['a group each', (index: number) => `a-${index}`],
])('Controller finds that sixty healthy servers (%s) now hang, without one waiting for another', async (_, groupOf) => {
  const { clock, foundAt, hungAt, controller } = await aWorld({ hanging: 60, groupOf });
  const handedOut = () => [...controller.queue.processing.keys()].length;
  let most = 0;
  await clock.runUntil(() => {
    most = Math.max(most, handedOut());
    return foundAt.size === 60;
  }, 'all are found to hang');
  expect(Math.max(...foundAt.values()) - hungAt).toBeLessThanOrEqual(ALL_FOUND_MS);
  expect(most).toBeLessThanOrEqual(WORKERS_IN_ALL * CONCURRENCY);
});
