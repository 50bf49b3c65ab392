import { sleep } from '../../src/base/clock.ts';
import { type Fault, isWrongLogin } from './faults.ts';
import type { Deed, Passage } from './passages.ts';
import type { Plan } from './plan.ts';
import type { Process, When } from './process.ts';
import { Teller } from './story-run.ts';
import { World } from './world.ts';

/* Passes that are held in the middle of what they do, while something changes and everybody hears of it. */

/** Something that happens while a call is held. */
export interface Change {
  readonly name: string;
  /** Before each look or each effect arrives, or when an answer to any call has left. */
  readonly when: 'asked' | 'sent' | 'answered';
  /** What befalls the process that made the call. */
  readonly befalls?: (world: World, process: Process) => void;
  readonly deed?: Deed;
  /** Default: long enough for everything that follows from the change. */
  readonly heldMs?: number;
  /** One of the calls that follow from the change is held as well, until after the first or before it. */
  readonly alsoHeld?: 'longer' | 'shorter';
  /** What is answered instead: the calls take turns. A call that was not answered yet then has no effect. */
  readonly spoiltBy?: readonly Fault[];
}

/** Which call is held. Numbers begin at 1. */
interface Held {
  readonly change: Change;
  readonly at: number;
  /** The number of the other one, of those whose answers come after the change. */
  readonly otherAt: number;
}

const HELD_MS = 3_000;
const SETTLED_AFTER_MINUTES = 5;
const REST_MS = 60_000;
/** Tokens and Events matter to nobody else. */
const NO_MATTER = /^create events|\/auth$/;
const LOOK = /^get /i;
/** After these, a cluster that was made all the same looks like somebody else's: docs/limits.md says so. */
const SAYS_NOTHING_IS_DONE: ReadonlySet<Fault> = new Set<Fault>(['conflict', 'unauthorized', 'throttled']);
const MAKES = /\/(?:deploy|clone)$/;

/** Holds one call of a passage, or two, and notes all its calls. */
class Holder {
  readonly calls: string[] = [];
  /** Calls that were answered while one was held. */
  others = 0;
  isOver = false;
  readonly #world: World;
  readonly #held: Held | undefined;
  readonly #change: (process: Process) => Promise<void>;
  #isChanged = false;
  #heldUntil = 0;

  constructor(world: World, held: Held | undefined, change: (process: Process) => Promise<void>) {
    this.#world = world;
    this.#held = held;
    this.#change = change;
    world.hold = (what, when, process) => (NO_MATTER.test(what) ? undefined : this.#hold(what, when, process));
  }

  #hold(what: string, when: When, process: Process): Promise<Fault | undefined> | undefined {
    if (this.isOver) return this.#isChanged && when === 'answered' ? this.#holdOther(what) : undefined;
    if (when === 'asked') this.calls.push(what);
    // Others may have been made since it was asked.
    const isIt = this.#held !== undefined && this.calls.lastIndexOf(what) + 1 === this.#held.at;
    if (!isIt || (when === 'answered') !== (this.#held.change.when === 'answered')) return undefined;
    this.isOver = true;
    return this.#holdFirst(this.#held.change, what, when, process);
  }

  async #holdFirst(change: Change, what: string, when: When, process: Process): Promise<Fault | undefined> {
    const { heldMs = HELD_MS, alsoHeld, spoiltBy = [] } = change;
    const { clock } = this.#world;
    this.#world.note(`held: ${what} (${when})`);
    // Answers from the same moment may not be told apart.
    await sleep(clock, 1);
    this.#heldUntil = clock.monotonic() + (alsoHeld === 'shorter' ? 2 : 1) * heldMs;
    this.#isChanged = true;
    await this.#change(process);
    await sleep(clock, this.#heldUntil - clock.monotonic());
    const fault = spoiltBy[(this.#held?.at ?? 0) % spoiltBy.length];
    this.#world.note(`goes on: ${what}${fault === undefined ? '' : `  <= ${fault}`}`);
    if (fault !== undefined && isWrongLogin({ what }, fault)) return 'serverError';
    const isUntrue = when === 'answered' && fault !== undefined && SAYS_NOTHING_IS_DONE.has(fault);
    return isUntrue && MAKES.test(what) ? 'lostAnswer' : fault;
  }

  #holdOther(what: string): Promise<undefined> | undefined {
    const { clock } = this.#world;
    const { alsoHeld } = this.#held?.change ?? {};
    const until = this.#heldUntil + (alsoHeld === 'longer' ? HELD_MS : -HELD_MS);
    const isWithin = clock.monotonic() < Math.min(this.#heldUntil, until);
    if (alsoHeld === undefined || !isWithin || ++this.others !== this.#held?.otherAt) return undefined;
    this.#world.note(`held as well: ${what}`);
    return sleep(clock, until - clock.monotonic()).then(() => undefined);
  }
}

/** Resolves with the calls of the passage, and with what is wrong in the end. */
async function play(passage: Passage, plan: Partial<Plan>, held?: Held) {
  const world = new World({ scenario: 'story', strikes: [], ...plan }, undefined, 'document');
  const teller = new Teller(world, SETTLED_AFTER_MINUTES, true);
  await teller.begin();
  for (const deed of passage.given) await teller.apply(deed);
  await world.until(() => passage.isGiven(world), `what ${passage.name} needs`);
  await world.clock.advance(REST_MS);
  const { befalls, deed, heldMs = 0 } = held?.change ?? {};
  const holder = new Holder(world, held, async (process) => {
    befalls?.(world, process);
    await teller.apply(deed ?? []);
  });
  await teller.apply(passage.asked);
  await world.until(() => holder.isOver || passage.ends(world), `the end of ${passage.name}`);
  holder.isOver = true;
  if (held !== undefined) await world.clock.advance(heldMs + REST_MS);
  let problem = held && (await teller.settle());
  const isElsewhere = held !== undefined && deed === undefined && !passage.ends(world);
  if (isElsewhere) problem ??= `It does not end as without this: ${world.view.summary()}`;
  world.invariants.check();
  world.stop();
  const [broken] = world.invariants.violations;
  if (broken !== undefined) problem = `${broken.invariant}: ${broken.message}`;
  return { calls: holder.calls, others: holder.others, problem, trace: world.trace };
}

/** What changes at each call: every change, or one after the other in turn. */
export type Choice = 'all' | 'in turn';

/** Plays the passage with the changes at each of its calls. Returns what is wrong, for people, and how many were played. */
export async function playHeld(
  passage: Passage,
  changes: readonly Change[],
  plan: Partial<Plan> = {},
  choice: Choice = 'all',
) {
  const { calls } = await play(passage, plan);
  const wrong: string[] = [];
  let count = 0;
  for (const { change, call, at } of heldIn(calls, changes, choice))
    for (let [otherAt, others] = [0, 1]; otherAt < others; ) {
      otherAt++;
      count++;
      const { problem, trace, ...seen } = await play(passage, plan, { change, at, otherAt });
      others = seen.others;
      if (problem === undefined) continue;
      const also = change.alsoHeld === undefined ? '' : `, and number ${otherAt} after it`;
      const what = `${change.name}, when ${call} was ${change.when}${also}: ${problem}`;
      wrong.push([what, ...trace.slice(-40)].join('\n  '));
    }
  return { wrong, count };
}

/** The calls to hold. A call that has no effect is held before it arrives or, unless its answer is spoilt, when it is answered. */
function heldIn(calls: readonly string[], changes: readonly Change[], choice: Choice) {
  const all = calls.map((call, index) => ({ call, at: index + 1 }));
  const isHeld = ({ when, spoiltBy }: Change, call: string) =>
    when === 'answered' ? spoiltBy === undefined || !LOOK.test(call) : LOOK.test(call) === (when === 'asked');
  if (choice === 'all')
    return changes.flatMap((change) =>
      all.filter(({ call }) => isHeld(change, call)).map((held) => ({ ...held, change })),
    );
  const turns = [...Map.groupBy(changes, ({ when }) => when).values()];
  return turns.flatMap((same) =>
    all.flatMap((held) => {
      const change = same[held.at % same.length];
      return change !== undefined && isHeld(change, held.call) ? [{ ...held, change }] : [];
    }),
  );
}
