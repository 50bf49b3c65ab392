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
  /** What is wrong, each as invariant and message; empty: nothing. */
  readonly violations: readonly { readonly invariant: Invariant; readonly message: string }[];
  /** What led to it, for people: the last effects, log lines and conditions. Empty where nothing is wrong. */
  readonly report: string;
  /** Those until it came to rest: what a fault may strike. */
  readonly effects: readonly Effect[];
  /** Those until then as well. */
  readonly reads: readonly Read[];
  /** So many of both came until the scenario was at its end: what follows is done of all that is at rest. */
  readonly ended: { readonly effects: number; readonly reads: number };
  readonly end: string;
}

/** A bound for all that follows from the faults: after the longest pause between two tries. */
const BOUND_MINUTES = 35;
/** Faults strike until it has come to its end and has been verified once. */
const STRUCK_MINUTES = 11;
/** Each login is verified once in that time. */
const QUIET_MINUTES = 12;
const QUIET_MINUTES_CLEAN = 60;
/** The longest pause between two tries of what time may mend. */
const BACKOFF_MINUTES = 5.5;
const TRACE_LINES = 30;
/** In which each scenario comes to its end where nothing goes wrong and no call takes time: a List tells, and a cluster is made. */
const SOON_MS = 1.5 * MINUTE_MS;
/** Of a pollInterval of one minute, a tenth goes by chance. */
const SHORTEST_POLL_MINUTES = 0.9;
/** For each object and minute, nearly twice as many as were ever seen: two sign-ins in ten minutes, and tokens that end. */
const MOST_LOOKS = 0.25;
const LIST = /^GET \S+\/spaces\/[^/]+\/clusters$/;

/** Plays a scenario once. `expectedEnd`: what the run without faults ended in; absent where there may be others. */
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
    // Of a Secret that is not watched, only a look at its time tells.
    const isSlow = scenario.isSlow || plan.seed !== undefined || plan.secrets === 'get';
    const soonMs = isSlow ? undefined : SOON_MS;
    if (!world.isTurned) await world.wait(() => scenario.ends(world), `the end of ${scenario.name}`, soonMs);
    ended = { effects: world.effects.length, reads: world.reads.length };
    effects = await aftermath(world, scenario, plan, expectedEnd);
    reads = [...world.reads];
    if (invariants.violations.length === 0) await quiet(world, !isStruck(plan));
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

/** Lets follow what follows, until all is as it should be in the end; returns the effects that a fault may strike. */
async function aftermath(
  world: World,
  scenario: Scenario,
  { strikes, reads = [] }: Plan,
  givenEnd: string | undefined,
): Promise<readonly Effect[]> {
  const expectedEnd = reads.some(({ fault }) => scenario.leavesTraces?.includes(fault)) ? undefined : givenEnd;
  const begin = world.clock.monotonic();
  const maybeStruck = () => world.clock.monotonic() < begin + STRUCK_MINUTES * MINUTE_MS;
  const isFree = () => world.isTurned || scenario.mayEndElsewhere === true;
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
  if (!scenario.ends(world)) return 'It came to its end, but did not stay there';
  const end = world.view.summary();
  if (expectedEnd === undefined || end === expectedEnd) return undefined;
  return `It ended in ${end}, without faults in ${expectedEnd}`;
}

/** Words of Ready that say that something is under way: not for ever. */
const UNDER_WAY =
  /^Unknown (?:Deploying|Updating|Resuming|Suspending|Destroying|SecuringCredentials|WaitingForServer|UnderWay|undefined)$/;

/** Which object neither is as it should be nor says why, or has yet to delete a Secret that the login might have come to. */
function restless(world: World): string | undefined {
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

/** A time in which nobody changes anything: nothing is written, nothing is asked for but to look. */
async function quiet(world: World, clean: boolean): Promise<void> {
  const [before, looked] = [world.effects.length, world.reads.length];
  const minutes = clean ? QUIET_MINUTES_CLEAN : QUIET_MINUTES;
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
      `In ${minutes} quiet minutes ${looks} looks, of which ${most} are enough`,
    );
  const unfinished = unsettled(world);
  if (unfinished !== undefined) world.invariants.failInTheEnd('quiet at rest', unfinished);
  const noise = world.effects.slice(before).filter((effect) => !isLogin(effect));
  for (const { what } of noise) world.invariants.failInTheEnd('quiet at rest', `In a quiet time: ${what}`);
}

/** Of the cloud or of a server, and not of a space as a whole. */
function isOfOne({ to, what }: Pick<Read, 'to' | 'what'>): boolean {
  return to === 'http' && !LIST.test(what);
}

/** Which object is Ready, and says besides that something goes on, is wrong, or failed. */
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

/** What a server that is not up yet is looked at for. */
function isUnderWay({ view }: World): boolean {
  return view.clusters().some(({ servers }) => servers.some(({ status }) => status === 'pending'));
}

/** How often each space was listed. */
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
