import { type Effect, isLogin } from './faults.ts';
import type { Invariant } from './invariants.ts';
import { MINUTE_MS } from './people.ts';
import { isStruck, type Plan, textOf } from './plan.ts';
import type { Read } from './reads.ts';
import type { Scenario } from './scenario.ts';
import { scenarioNamed } from './scenarios.ts';
import { KINDS, readyOf, statusOf } from './view.ts';
import { World } from './world.ts';

export interface Run {
  readonly plan: Plan;
  /** The broken invariants, each with a message. */
  readonly violations: readonly { readonly invariant: Invariant; readonly message: string }[];
  /** What led to them, for people: the last effects, log lines and conditions. Empty if nothing is wrong. */
  readonly report: string;
  /** The effects until everything was at rest, which faults may strike. */
  readonly effects: readonly Effect[];
  /** The looks until then. */
  readonly reads: readonly Read[];
  /** How many of both came before the scenario ended. What follows is done for everything that is at rest. */
  readonly ended: { readonly effects: number; readonly reads: number };
  readonly end: string;
}

/** A bound for everything that follows from the faults. It includes the longest pause between two tries. */
const BOUND_MINUTES = 35;
/** Faults strike until the scenario has ended and each login has been verified once. */
const STRUCK_MINUTES = 11;
/** Long enough for each login to be verified once. */
const QUIET_MINUTES = 12;
/** Several processes verify as one does, and renew their Leases all the time: a third of the work of such a run. */
const QUIET_MINUTES_OF_SEVERAL = 5;
const QUIET_MINUTES_CLEAN = 60;
/** The longest pause between two tries of something that time may mend. */
const BACKOFF_MINUTES = 5.5;
const TRACE_LINES = 30;
/** Without faults and slow calls each scenario ends within this time: enough for a List, and for making a cluster. */
const SOON_MS = 1.5 * MINUTE_MS;
/** A pollInterval of one minute may be a tenth shorter by chance. */
const SHORTEST_POLL_MINUTES = 0.9;
/** Looks for each object and minute. Nearly twice as many as were ever seen: two sign-ins in ten minutes, and new tokens. */
const MOST_LOOKS = 0.25;
const LIST = /^GET \S+\/spaces\/[^/]+\/clusters$/;

/** Plays a scenario once. `expectedEnd`: the end of the run without faults; absent if others are possible. */
export async function play(plan: Plan, expectedEnd?: string): Promise<Run> {
  const scenario = scenarioNamed(plan.scenario);
  const world = new World(plan, scenario.subject, scenario.dialect);
  const { invariants } = world;
  let effects: readonly Effect[] = [];
  let reads: readonly Read[] = [];
  let ended = { effects: 0, reads: 0 };
  try {
    await world.start();
    await scenario.prepare?.(world);
    await world.clock.advance(MINUTE_MS);
    world.beginCounting();
    await scenario.act(world);
    // A Secret that is not watched is noticed only when its object is next looked at.
    const isSlow = scenario.isSlow || plan.seed !== undefined || plan.secrets === 'get';
    const soonMs = isSlow ? undefined : SOON_MS;
    if (!world.isTurned) await world.wait(() => scenario.ends(world), `the end of ${scenario.name}`, soonMs);
    ended = { effects: world.effects.length, reads: world.reads.length };
    effects = await aftermath(world, scenario, plan, expectedEnd);
    reads = [...world.reads];
    if (invariants.violations.length === 0) await quiet(world, plan);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (invariants.violations.length === 0) invariants.failInTheEnd('it comes to an end', why);
  }
  const { never } = scenario;
  const isExcused = world.isTurned || world.haveTwoActed;
  const needless = world.effects.find(({ what }) => never?.test(what) && !isExcused);
  if (needless !== undefined) invariants.failInTheEnd('nothing needless', `There was no need to ${needless.what}`);
  const repeated = world.haveTwoActed ? undefined : world.needless.problem(plan.strikes, plan.reads);
  if (repeated !== undefined) invariants.failInTheEnd('nothing needless', repeated);
  invariants.check();
  if (!isStruck(plan)) invariants.checkTold();
  invariants.checkSecrecy(world.shown());
  const end = world.view.summary();
  world.stop();
  const { violations } = invariants;
  return {
    plan,
    violations,
    effects,
    reads,
    ended,
    end,
    report: violations.length === 0 ? '' : reportOf(plan, world, end),
  };
}

/** Waits until everything is as it should be in the end. Returns the effects that a fault may strike. */
async function aftermath(
  world: World,
  scenario: Scenario,
  { strikes, reads = [] }: Plan,
  givenEnd: string | undefined,
): Promise<readonly Effect[]> {
  const expectedEnd = reads.some(({ fault }) => scenario.leavesTraces?.includes(fault)) ? undefined : givenEnd;
  const begin = world.clock.monotonic();
  const maybeStruck = () => world.clock.monotonic() < begin + STRUCK_MINUTES * MINUTE_MS;
  const isFree = () => world.isTurned || scenario.mayEndElsewhere?.(world) === true;
  const wrong = () => (isFree() ? restless(world) : unlike(world, scenario, expectedEnd));
  const last = Math.max(0, ...strikes.map(({ at }) => at));
  const lastRead = Math.max(0, ...reads.map(({ at }) => at));
  const isClean = strikes.length + reads.length === 0;
  const mayStrike = () => maybeStruck() && (isClean || world.effects.length < last || world.reads.length < lastRead);
  const bound = () => Math.max(begin, world.troubledUntil) + BOUND_MINUTES * MINUTE_MS;
  while (world.clock.monotonic() < bound()) {
    await world.clock.advance(MINUTE_MS);
    const isOver = world.clock.monotonic() > world.troubledUntil + BACKOFF_MINUTES * MINUTE_MS && !mayStrike();
    if (world.invariants.violations.length > 0) return world.effects;
    if (isOver && wrong() === undefined) break;
  }
  const problem = wrong();
  if (problem !== undefined) world.invariants.failInTheEnd(isFree() ? 'it comes to an end' : 'the same end', problem);
  return [...world.effects];
}

function unlike(world: World, scenario: Scenario, expectedEnd: string | undefined): string | undefined {
  if (!scenario.ends(world)) return 'It reached its end, but did not stay there';
  const end = world.view.summary();
  if (expectedEnd === undefined || end === expectedEnd) return undefined;
  return `It ended as ${end}, but without faults as ${expectedEnd}`;
}

/** Ready while work is under way, which must not last for ever. */
const UNDER_WAY =
  /^Unknown (?:Deploying|Updating|Resuming|Suspending|Destroying|SecuringCredentials|WaitingForServer|UnderWay|undefined)$/;

/** Describes an object that neither is as it should be nor says why, or has yet to delete a Secret that might have had the login. */
export function restless(world: World): string | undefined {
  for (const resource of KINDS) {
    for (const object of world.view.objects(resource)) {
      const ready = readyOf(object);
      const message = statusOf(object).conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
      if (ready === 'stale' || UNDER_WAY.test(ready) || message === '')
        return `${resource.kind} ${object.metadata.name} is ${ready} for ever: ${message}`;
      if (ready === 'True Running' && statusOf(object).unverifiedSecretName !== undefined)
        return `${resource.kind} ${object.metadata.name} has another Secret for ever`;
    }
  }
  return undefined;
}

/** Checks that for some time nothing is written, and nothing requested except to look. */
async function quiet(world: World, plan: Plan): Promise<void> {
  const [before, looked] = [world.effects.length, world.reads.length];
  const clean = !isStruck(plan);
  const minutesStruck = (plan.replicas ?? 1) === 1 ? QUIET_MINUTES : QUIET_MINUTES_OF_SEVERAL;
  const minutes = clean ? QUIET_MINUTES_CLEAN : minutesStruck;
  world.endStrikes();
  await world.clock.advance(minutes * MINUTE_MS);
  for (const [space, lists] of listsIn(world.reads.slice(looked)))
    if (!isUnderWay(world) && lists > minutes / SHORTEST_POLL_MINUTES + 1)
      world.invariants.failInTheEnd('one List a space', `In ${minutes} quiet minutes ${lists} of ${space}`);
  const looks = [...world.effects.slice(before), ...world.reads.slice(looked)].filter(isOfOne).length;
  const most = MOST_LOOKS * minutes * KINDS.flatMap((resource) => world.view.objects(resource)).length;
  if (clean && looks > most)
    world.invariants.failInTheEnd(
      'quiet at rest',
      `In ${minutes} quiet minutes ${looks} looks, where ${most} are enough`,
    );
  const unfinished = unsettled(world);
  if (unfinished !== undefined) world.invariants.failInTheEnd('quiet at rest', unfinished);
  const noise = world.effects.slice(before).filter((effect) => !isLogin(effect));
  for (const { what } of noise) world.invariants.failInTheEnd('quiet at rest', `In a quiet time: ${what}`);
}

/** Reports whether the look is at a single thing, in the cloud or on a server, not at a whole space. */
function isOfOne({ to, what }: Pick<Read, 'to' | 'what'>): boolean {
  return to === 'http' && !LIST.test(what);
}

/** Describes an object that is Ready and yet reports that something is under way, wrong, or has failed. */
function unsettled({ view }: World): string | undefined {
  for (const resource of KINDS) {
    for (const object of view.objects(resource)) {
      const { conditions = [], lastError } = statusOf(object);
      const contrary = conditions.find(({ type, status }) => CONTRARY.has(type) && status === 'True')?.type;
      const what = contrary ?? (lastError === undefined ? undefined : 'lastError');
      if (readyOf(object).startsWith('True') && what !== undefined)
        return `${resource.kind} ${object.metadata.name} is Ready, and its status has ${what}`;
    }
  }
  return undefined;
}

const CONTRARY: ReadonlySet<string> = new Set(['Reconciling', 'Stalled']);

/** Reports whether a server is not up yet, for which the cloud is asked more often. */
function isUnderWay({ view }: World): boolean {
  return view.clusters().some(({ servers }) => servers.some(({ status }) => status === 'pending'));
}

/** Returns how often each space was listed. */
function listsIn(reads: readonly Read[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { what } of reads) if (LIST.test(what)) counts.set(what, (counts.get(what) ?? 0) + 1);
  return counts;
}

function reportOf(plan: Plan, world: World, end: string): string {
  const conditions = world.view
    .status()
    .conditions?.map(({ type, status, reason, message }) => `  ${type} ${status} ${reason}: ${message}`);
  return [
    `${textOf(plan)}:`,
    ...world.invariants.violations.map(({ invariant, message }) => `  ${invariant}: ${message}`),
    `  ends as ${end}`,
    ...(conditions ?? []),
    ...world.trace.slice(-TRACE_LINES).map((line) => `  ${line}`),
    ...world.logs.slice(-TRACE_LINES / 2).map((line) => `  ${line.slice(0, 400).trim()}`),
    `Play it again: npm run sim -- --play '${textOf(plan)}'`,
  ].join('\n');
}
