import type { Random } from '../../src/base/random.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { FAULT_NAMES, FAULTS, type Fault, OF_CHANCE } from './faults.ts';
import { READ_FAULT_NAMES, READ_FAULTS, type ReadFault, type ReadStrike } from './reads.ts';

/** A fault, and the effect that it strikes. Effects are counted from 1, over all processes. */
export interface Strike {
  readonly at: number;
  readonly fault: Fault;
}

/** Everything that decides what happens in a run. */
export interface Plan {
  readonly scenario: string;
  readonly strikes: readonly Strike[];
  /** What goes wrong at looks. */
  readonly reads?: readonly ReadStrike[];
  /** How many processes of the operator run at once; more than one share a Lease. Default 1. */
  readonly replicas?: number;
  /** The processes share the spaces, instead of one of them acting. */
  readonly shards?: true;
  /** `get`: the operator may neither list nor watch Secrets. Default: watch. */
  readonly secrets?: 'get';
  /** A field of a status that the CRD does not know, such as `databaseclusters.createdAt`: the API server drops it. */
  readonly without?: string;
  /** Seeds chance: how long calls take, and so the order of events. Absent: nothing takes time. */
  readonly seed?: number;
}

/** Returns the plan as `npm run sim -- --play` takes it, such as `deploy replicas=2 seed=7 3:crashAfter 9:freeze r4:hang`. */
export function textOf({ scenario, strikes, reads = [], replicas = 1, shards, secrets, without, seed }: Plan): string {
  return [
    scenario,
    ...(replicas === 1 ? [] : [`replicas=${replicas}`]),
    ...(shards === undefined ? [] : ['shards']),
    ...(secrets === undefined ? [] : [`secrets=${secrets}`]),
    ...(without === undefined ? [] : [`without=${without}`]),
    ...(seed === undefined ? [] : [`seed=${seed}`]),
    ...strikes.map(({ at, fault }) => `${at}:${fault}`),
    ...reads.map(({ at, fault }) => `r${at}:${fault}`),
  ].join(' ');
}

/** Reads what `textOf` returns. Throws an Error that says what is wrong with the text. */
export function parsePlan(text: string): Plan {
  const [scenario = '', ...words] = text.trim().split(/\s+/);
  const strikes: Strike[] = [];
  const reads: ReadStrike[] = [];
  const options: { replicas?: number; seed?: number; shards?: true; secrets?: 'get'; without?: string } = {};
  for (const word of words) {
    const option = /^(replicas|seed)=(\d+)$/.exec(word);
    const strike = /^(\d+):(\w+)$/.exec(word);
    const read = /^r(\d+):(\w+)$/.exec(word);
    if (option !== null) options[option[1] as 'replicas' | 'seed'] = Number(option[2]);
    else if (word === 'shards') options.shards = true;
    else if (word === 'secrets=get') options.secrets = 'get';
    else if (word.startsWith('without=')) options.without = word.slice('without='.length);
    else if (strike !== null && isFault(strike[2] ?? ''))
      strikes.push({ at: Number(strike[1]), fault: strike[2] as Fault });
    else if (read !== null && Object.hasOwn(READ_FAULTS, read[2] ?? ''))
      reads.push({ at: Number(read[1]), fault: read[2] as ReadFault });
    else
      throw new Error(
        `Cannot read "${word}": it must be replicas=N, shards, secrets=get, without=PLURAL.FIELD, seed=N, N:fault, of ${FAULT_NAMES.join()}, or rN:fault, of ${READ_FAULT_NAMES.join()}`,
      );
  }
  return { scenario, strikes, ...(reads.length === 0 ? {} : { reads }), ...options };
}

function isFault(name: string): name is Fault {
  return Object.hasOwn(FAULTS, name);
}

const MAX_STRIKES = 4;
/** Most scenarios end within this many effects. */
const REACH = 30;

/** Returns the plan that a seed stands for: a scenario, how many processes, and what goes wrong when. */
export function planOf(seed: number, scenarios: readonly string[]): Plan {
  const random = createSeededRandom(seed);
  const scenario = pick(scenarios, random);
  const replicas = random.float() < 0.6 ? 1 : 2 + Math.floor(random.float() * 2);
  const strikes = Array.from({ length: 1 + Math.floor(random.float() * MAX_STRIKES) }, () => ({
    at: 1 + Math.floor(random.float() ** 1.5 * REACH),
    fault: pick(OF_CHANCE, random),
  }));
  const shards = replicas > 1 && random.float() < 0.5;
  const reads =
    random.float() < 0.7 ? [] : [{ at: 1 + Math.floor(random.float() * REACH), fault: pick(READ_FAULT_NAMES, random) }];
  const once = new Map(strikes.map((strike) => [strike.at, strike]));
  return {
    scenario,
    ...(replicas === 1 ? {} : { replicas }),
    ...(shards ? { shards } : {}),
    seed,
    strikes: [...once.values()].toSorted((one, other) => one.at - other.at),
    ...(reads.length === 0 ? {} : { reads }),
  };
}

function pick<T>(choices: readonly T[], random: Random): T {
  const choice = choices[Math.floor(random.float() * choices.length)];
  if (choice === undefined) throw new Error('There is nothing to choose from');
  return choice;
}

/** Reports whether anything goes wrong in the plan. */
export function isStruck({ strikes, reads = [] }: Plan): boolean {
  return strikes.length + reads.length > 0;
}

/** Returns the smallest plan that still fails, by leaving out one thing after another. */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  for (const smaller of smallerThan(plan)) if (await fails(smaller)) return shrink(smaller, fails);
  return plan;
}

function* smallerThan(plan: Plan): Generator<Plan> {
  const { seed: _, ...timeless } = plan;
  if (plan.seed !== undefined) yield timeless;
  if ((plan.replicas ?? 1) > 1) yield { ...plan, replicas: (plan.replicas ?? 1) - 1 };
  for (const read of plan.reads ?? []) yield { ...plan, reads: plan.reads?.filter((other) => other !== read) ?? [] };
  for (const strike of plan.strikes) yield { ...plan, strikes: plan.strikes.filter((other) => other !== strike) };
}
