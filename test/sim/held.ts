import { sleep } from '../../src/base/clock.ts';
import type { Step } from './story.ts';
import { Teller } from './story-run.ts';
import { World } from './world.ts';

/* Passes that are held in the middle of what they do, while something changes and everybody hears of it. */

/** What the operator is about to do. */
export interface Passage {
  readonly name: string;
  /** What is there before. */
  readonly given: readonly Deed[];
  readonly isGiven: (world: World) => boolean;
  readonly asked: Deed;
  readonly ends: (world: World) => boolean;
}

/** Does all at once. */
export type Deed = readonly Step[];

/** When: before each look arrives, or when an answer to any call has left. */
export interface Change {
  readonly name: string;
  readonly when: 'asked' | 'answered';
  readonly deed: Deed;
}

/** Long enough for everything that follows from the change. */
const HELD_MS = 3_000;
const SETTLED_AFTER_MINUTES = 5;
const REST_MS = 60_000;
/** Tokens and Events matter to nobody else. */
const NO_MATTER = /^create events|\/auth$/;
const LOOK = /^get /i;

/** Resolves with the calls of the passage, and with what is wrong in the end. `at`: the number of the call that is held. */
async function play(passage: Passage, change?: Change, at?: number) {
  const world = new World({ scenario: 'story', strikes: [] }, undefined, 'document');
  const teller = new Teller(world, SETTLED_AFTER_MINUTES, true);
  const calls: string[] = [];
  const changed = async (deed: Deed) => {
    // Answers from the same moment may not be told apart.
    await sleep(world.clock, 1);
    await teller.apply(deed);
    await sleep(world.clock, HELD_MS);
  };
  await teller.begin();
  for (const deed of passage.given) await teller.apply(deed);
  await world.until(() => passage.isGiven(world), `what ${passage.name} needs`);
  await world.clock.advance(REST_MS);
  let isOver = false;
  world.hold = (what, when) => {
    if (isOver || NO_MATTER.test(what)) return undefined;
    if (when === 'asked') calls.push(what);
    // Others may have been made since it was asked.
    if (change === undefined || calls.lastIndexOf(what) + 1 !== at || when !== change.when) return undefined;
    isOver = true;
    world.note(`held: ${what} (${when})`);
    return changed(change.deed);
  };
  await teller.apply(passage.asked);
  await world.until(() => isOver || passage.ends(world), `the end of ${passage.name}`);
  isOver = true;
  if (change !== undefined) await world.clock.advance(REST_MS);
  const restless = change && (await teller.settle());
  world.invariants.check();
  world.stop();
  const [broken] = world.invariants.violations;
  const problem = broken === undefined ? restless : `${broken.invariant}: ${broken.message}`;
  return { calls, problem, trace: world.trace };
}

/** Plays the passage with each change at each of its calls. Returns what is wrong, for people, and how many were played. */
export async function playHeld(passage: Passage, changes: readonly Change[]) {
  const { calls } = await play(passage);
  const wrong: string[] = [];
  let count = 0;
  for (const change of changes)
    for (const [index, call] of calls.entries()) {
      if (change.when === 'asked' && !LOOK.test(call)) continue;
      count++;
      const { problem, trace } = await play(passage, change, index + 1);
      if (problem === undefined) continue;
      wrong.push([`${change.name}, when ${call} was ${change.when}: ${problem}`, ...trace.slice(-40)].join('\n  '));
    }
  return { wrong, count };
}
