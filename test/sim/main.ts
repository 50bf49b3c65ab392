// npm run sim: plays the whole operator against faults until it breaks; see docs/reliability.md.
import { parseArgs } from 'node:util';
import { playEvery, playEveryRead } from './every.ts';
import { FAULTS, FOR_REPLICAS, OF_SHARDS } from './faults.ts';
import { huntHeld } from './held-hunt.ts';
import { huntMutations, playerWith } from './mutations-main.ts';
import { type Plan, parsePlan, textOf } from './plan.ts';
import { playPlanned } from './planned.ts';
import { READ_FAULTS } from './reads.ts';
import type { Run } from './run.ts';
import { SCENARIOS, scenarioNamed } from './scenarios.ts';
import * as asItIs from './seeds.ts';
import { storyOf } from './story.ts';
import { playStory, smallestReport } from './story-run.ts';

const USAGE = `Usage: npm run sim -- [options]

  --minutes N         random seeds for N minutes (default 1)
  --seed S            the first seed (default: one made from the time); alone: only this one
  --stories           with --minutes or --seed: what people may do with several objects, in any order, instead of scenarios
  --plans             with --minutes or --seed: whether \`mooring plan\` says what then happens, in the middle of stories
  --play 'PLAN'       one run, as a failure prints it
  --with MUTATION     any of these with a deliberate mistake in the operator
  --every [SCENARIO…] every fault at every step, of all scenarios or these
  --replicas N        with --every: N processes, of which one acts, and faults of their Lease
  --shards            with --every: two processes, or N, that share the spaces, and faults of processes and watches
  --held [PASSAGE…]   every deed, and every way to end, while a call of these passages or all is held
  --mutations [NAME…] deliberate mistakes, each of which must be found; --update writes into the document by what
  --list              scenarios and faults
`;
const MINUTE_MS = 60_000;

type Player = typeof asItIs;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    stories: { type: 'boolean' },
    plans: { type: 'boolean' },
    play: { type: 'string' },
    with: { type: 'string' },
    every: { type: 'boolean' },
    replicas: { type: 'string' },
    shards: { type: 'boolean' },
    held: { type: 'boolean' },
    mutations: { type: 'boolean' },
    update: { type: 'boolean' },
    list: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

/** A seed alone means that one. */
const isOne = values.seed !== undefined && values.minutes === undefined;

if (values.help === true) console.log(USAGE);
else process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  if (values.list === true) return list();
  if (values.mutations === true) return huntMutations(positionals, values.update === true);
  if (values.every === true) return every();
  if (values.held === true) return held();
  const first = Number(values.seed ?? asItIs.seedOf(Date.now()));
  if (values.stories === true) return stories(first);
  if (values.plans === true) return plans(first);
  const player: Player = values.with === undefined ? asItIs : await playerWith(values.with);
  if (values.play !== undefined) return told(await player.playPlan(parsePlan(values.play)));
  if (isOne) return told(await player.playSeed(first));
  return seeds(first, player);
}

function stories(first: number): Promise<boolean> {
  return untilBroken('Stories', first, async (seed) => {
    const { problem } = await playStory(storyOf(seed));
    return problem && (await smallestReport(seed, problem));
  });
}

function plans(first: number): Promise<boolean> {
  return untilBroken('Plans', first, async (seed) => {
    const { differences, trace } = await playPlanned(seed);
    return differences.length === 0 ? undefined : [...trace, ...differences].join('\n');
  });
}

function list(): boolean {
  console.log(`Scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}\n`);
  for (const [name, about] of [...Object.entries(FAULTS), ...Object.entries(READ_FAULTS)])
    console.log(`${name.padEnd(16)}${about}`);
  return true;
}

function told(run: Run): boolean {
  console.log(run.report || `${textOf(run.plan)}: nothing is wrong`);
  return run.violations.length === 0;
}

async function every(): Promise<boolean> {
  const shards = values.shards === true;
  const replicas = Number(values.replicas ?? (shards ? 2 : 1));
  let [total, failures] = [0, 0];
  for (const scenario of positionals.length > 0 ? positionals.map(scenarioNamed) : SCENARIOS) {
    const begin = process.cpuUsage();
    let runs = 0;
    const plan: Plan = { scenario: scenario.name, replicas, strikes: [], ...(shards ? { shards } : {}) };
    const faults = shards ? OF_SHARDS : FOR_REPLICAS;
    const all = replicas > 1 ? [playEvery(plan, () => faults)] : [playEvery(plan), playEveryRead(plan)];
    for (const each of all) {
      for await (const run of each) {
        runs++;
        if (run.violations.length === 0) continue;
        failures++;
        console.log(run.report);
      }
    }
    const { user, system } = process.cpuUsage(begin);
    console.log(`${scenario.name}: ${runs} runs, ${((user + system) / 1e6).toFixed(1)} s`);
    total += runs;
  }
  console.log(`${total} runs, ${failures} failed`);
  return failures === 0;
}

async function held(): Promise<boolean> {
  let failures = 0;
  for await (const { name, what, wrong, count } of huntHeld(positionals)) {
    for (const each of wrong) console.log(each);
    console.log(`${name}, ${what}: ${count} runs, ${wrong.length} failed`);
    failures += wrong.length;
  }
  return failures === 0;
}

function seeds(first: number, { playSeed, shrunk }: Player): Promise<boolean> {
  return untilBroken('Seeds', first, async (seed) => {
    const run = await playSeed(seed);
    if (run.violations.length === 0) return undefined;
    console.log(`Seed ${seed} fails. The smallest plan that still fails:`);
    return (await shrunk(run)).report;
  });
}

/** Plays one seed after the other while there is time, up to the first that `reportOf` says something about. */
async function untilBroken(
  what: string,
  first: number,
  reportOf: (seed: number) => Promise<string | undefined>,
): Promise<boolean> {
  const end = performance.now() + (isOne ? 0 : Number(values.minutes ?? 1)) * MINUTE_MS;
  console.log(`${what} from ${first}`);
  let seed = first;
  do {
    const report = await reportOf(seed);
    if (report !== undefined) {
      console.log(report);
      return false;
    }
    seed++;
  } while (performance.now() < end);
  console.log(`${what} ${first} to ${seed - 1}: nothing is wrong`);
  return true;
}
