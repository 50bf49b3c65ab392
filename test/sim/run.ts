import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../../src/kinds/databaseuser/resource.ts';
import { databaseUserDefinition } from '../../src/kinds/databaseuser/schema.ts';
import { SECRETS } from '../../src/kube/api.ts';
import { parseStatus } from '../../src/kube/definition.ts';
import type { Effect } from './faults.ts';
import type { Scenario } from './scenarios.ts';
import { type Plan, World } from './world.ts';

export interface Run {
  /** What is wrong, with the last lines of the trace. */
  readonly failures: readonly string[];
  /** Those before it came to rest. */
  readonly effects: readonly Effect[];
  readonly end: string;
}

const MINUTE_MS = 60_000;
const LIMIT_MS = 60 * MINUTE_MS;
/** Faults strike until it has come to its end and has been verified once. */
const STRUCK_MINUTES = 11;
/** Until what follows from the last fault is over: an outage, and the longest backoff. */
const AFTERMATH_MINUTES = 30;
/** A pass may cause some at once, but on average a key rests. */
const PASSES_A_MINUTE = 40;
const TRACE_LINES = 25;

/** Plays the scenario once; `expectedEnd`: what the run without faults ended in; `secrets`: how the operator knows them. */
export async function play(
  scenario: Scenario,
  plan?: Plan,
  expectedEnd?: string,
  secrets: 'watch' | 'get' = 'watch',
): Promise<Run> {
  const world = new World(plan, secrets);
  const failures: string[] = [];
  let effects: readonly Effect[] = [];
  try {
    await world.start();
    await scenario.prepare?.(world);
    await world.clock.advance(MINUTE_MS);
    world.beginCounting();
    await scenario.act(world);
    await world.until(() => scenario.ends(world), `the end of ${scenario.name}`, LIMIT_MS);
    effects = await aftermath(world, failures);
    if (!scenario.ends(world)) failures.push('It came to its end, but did not stay there');
    const end = endOf(world);
    // A person who deletes the object asked for another end.
    if (expectedEnd !== undefined && plan?.fault !== 'delete' && end !== expectedEnd)
      failures.push(`It ended in ${end}, without faults in ${expectedEnd}`);
    await quiet(world, failures);
  } catch (error) {
    failures.push(error instanceof Error ? error.message : String(error));
  }
  world.invariants.check();
  world.invariants.checkSecrecy();
  failures.push(...world.invariants.violations);
  const end = endOf(world);
  world.stop();
  if (failures.length === 0) return { failures, effects, end };
  const logs = world.logs.slice(-TRACE_LINES / 2).map((line) => line.slice(0, 400).trim());
  const text = [
    `${scenario.name}/${plan?.at ?? 0}/${plan?.fault ?? 'clean'}: ${failures.join('; ')}`,
    `  ends as ${end}`,
    `  ${JSON.stringify(world.status().conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]))}`,
    ...world.trace.slice(-TRACE_LINES).map((line) => `  ${line}`),
    ...logs.map((line) => `  ${line}`),
  ].join('\n');
  return { failures: [text], effects, end };
}

/** Lets follow what follows; returns the effects that a fault may strike. */
async function aftermath(world: World, failures: string[]): Promise<readonly Effect[]> {
  let effects: readonly Effect[] = [];
  for (let minute = 0; minute < AFTERMATH_MINUTES; minute++) {
    if (minute === STRUCK_MINUTES) effects = [...world.effects];
    const before = world.passes;
    await world.clock.advance(MINUTE_MS);
    const passes = world.passes - before;
    if (passes > PASSES_A_MINUTE) failures.push(`${passes} passes in a minute`);
  }
  return effects;
}

/** An hour in which nobody changes anything: nothing is written, nothing is asked for but to look. */
async function quiet(world: World, failures: string[]): Promise<void> {
  const before = world.effects.length;
  await world.clock.advance(60 * MINUTE_MS);
  const noise = world.effects.slice(before).filter(({ what }) => !isLook(what));
  for (const what of new Set(noise.map((effect) => effect.what))) failures.push(`In a quiet hour: ${what}`);
}

/** Getting an access token, and a sign-in to verify a login. */
function isLook(what: string): boolean {
  return what.endsWith('/auth') || what.endsWith('/signin');
}

/** What there is, but for what differs between any two runs. */
function endOf(world: World): string {
  const clusters = [...world.simulator.clusters()].map((cluster) =>
    [cluster.id, cluster.status, cluster.storageSizeGB, cluster.machineType, JSON.stringify(cluster.backup)].join(' '),
  );
  const objects = world.kube.all(DATABASE_CLUSTERS).map(({ metadata: { name, finalizers } }) => {
    const { conditions = [], clusterID, state } = world.status(name);
    const words = conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).sort();
    return [name, clusterID, state, finalizers, ...words].join(' ');
  });
  const users = world.kube.all(DATABASE_USERS).map(({ metadata: { name, finalizers }, status }) => {
    const { conditions = [], username } = parseStatus(databaseUserDefinition, status);
    return [name, username, finalizers, ...conditions.map(({ type, reason }) => `${type}/${reason}`)].join(' ');
  });
  const logins = [...world.simulator.clusters()].flatMap(({ database }) => [...database.users.keys()]);
  const secrets = world.kube.all(SECRETS).map(({ metadata: { name, finalizers } }) => {
    return [name, finalizers, ...Object.keys(world.secret(name) ?? {}).sort()].join(' ');
  });
  return JSON.stringify({ clusters, objects, users, logins, secrets });
}
