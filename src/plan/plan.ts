import type { Clock } from '../base/clock.ts';
import { GROUP } from '../base/group.ts';
import { isRecord } from '../base/is-record.ts';
import { createLog } from '../base/log.ts';
import type { Cluster } from '../cloud/schema.ts';
import { databaseDefinition } from '../kinds/database/schema.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import { definitions } from '../kinds/definitions.ts';
import type { AnyObject } from '../kube/api.ts';
import { keyOf, type ObjectKey } from '../kube/object.ts';
import { createMetrics } from '../operator/metrics.ts';
import { createOperator } from '../operator.ts';
import { type Item, isOutOfDate, itemOf, readyOf } from '../plugin/item.ts';
import { resourceOf } from '../plugin/kinds.ts';
import { type NodeName, nodeName, splitNode } from '../plugin/node-name.ts';
import type { StepTold } from '../runtime/controller.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { assumptionsOf } from './assumptions.ts';
import { changesOf } from './changes.ts';
import { copyClouds } from './clouds.ts';
import { copyObjects } from './copy.ts';
import { isLeaving, type PlannedObject } from './objects.ts';
import type { Outcome, Plan } from './outcome.ts';
import { NOTHING_TOLD, policyOf, type ToldPolicy } from './policy.ts';
import { copySchemas } from './schemas.ts';
import type { SeenSecrets } from './secrets.ts';
import { standInsFor } from './stand-ins.ts';
import { laterOf, staysOf } from './stays.ts';
import { isMaking, weightOf } from './weight.ts';

/** What is known before any step is taken. */
export interface PlanInput {
  readonly objects: readonly PlannedObject[];
  /** DatabaseClusters and DatabaseSpaces that these need, and that may not be read. None by default. */
  readonly unread?: readonly NodeName[];
  /** By DatabaseSpace: what the cloud itself lists, if it could be asked. */
  readonly listed: ReadonlyMap<ObjectKey, readonly Cluster[]>;
  readonly configMaps: readonly AnyObject[];
  readonly secrets: SeenSecrets;
  /** The objects' namespaces: their labels may decide who is admitted. */
  readonly namespaces: readonly AnyObject[];
  /** Nothing by default. */
  readonly told?: ToldPolicy | undefined;
}

/** How long the copy must stay quiet, in its own time: longer than any pause before something that still happens. */
const QUIET_MS = 130_000;
const LIMIT_MS = 1_800_000;
const TICK_MS = 1_000;

/**
 * Finds the steps that the operator would take by letting it take them: the operator itself runs on copies of the objects and
 * of their clouds, in virtual time, until nothing more happens. Nothing outside is read or changed. Rejects if `signal` aborts,
 * as thousands of objects with work to do take minutes.
 */
export async function makePlan(input: PlanInput, clock: Pick<Clock, 'now'>, signal?: AbortSignal): Promise<Plan> {
  const time = virtualClock(clock.now());
  const random = createSeededRandom(1);
  const kube = new FakeKube({ now: time.now, random, statusDefaults: STATUS_DEFAULTS });
  const told = input.told ?? NOTHING_TOLD;
  const standIns = standInsFor(input.unread ?? [], input.objects, told);
  const whole = { ...input, objects: [...input.objects, ...standIns.objects] };
  const schemas = await copySchemas(whole, time);
  const clouds = copyClouds({ ...whole, schemas }, time);
  copyObjects(kube, { ...whole, schemas }, clouds, time.now());

  const steps: StepTold[] = [];
  let changedAt = 0;
  const operator = createOperator({
    api: kube,
    clock: time,
    random,
    transport: () => clouds.transport,
    log: createLog({ level: 'silent', format: 'json', write: () => {} }),
    metrics: createMetrics(time, { version: '', node: '' }),
    namespaces: undefined,
    concurrency: 1,
    urlPolicy: policyOf(told, whole.objects),
    instance: 'plan',
    lease: undefined,
    onStep: (step) => {
      steps.push(step);
      changedAt = time.monotonic();
    },
  });
  const stop = new AbortController();
  const running = operator.run(stop.signal);
  while (time.monotonic() - changedAt < QUIET_MS && time.monotonic() < LIMIT_MS) {
    await time.advance(TICK_MS, signal);
    signal?.throwIfAborted();
  }
  stop.abort();
  await time.runUntil(() => time.timers() === 0, 'the copy has stopped').catch(() => {});
  await running;
  const plan = planOf(input.objects, kube, steps);
  return { ...plan, notes: [...standIns.notes, ...assumptionsOf(input.objects, plan.outcomes, clouds)] };
}

const STATUS_DEFAULTS = Object.fromEntries(definitions.map(({ plural }) => [plural, { observedGeneration: -1 }]));

function planOf(objects: readonly PlannedObject[], kube: FakeKube, told: readonly StepTold[]): Omit<Plan, 'notes'> {
  // A space's steps only move the finalizers of its Secrets: nobody needs to plan for that.
  const names = new Set(objects.map(nameOfPlanned));
  const meant = told.filter(({ kind, key }) => kind !== databaseSpaceDefinition.kind && names.has(nodeName(kind, key)));
  const made = new Set(meant.filter(({ step }) => isMaking(step)).map(({ kind, key }) => nodeName(kind, key)));
  const used = new Set(objects.filter(mayBeUsed).map(nameOfPlanned));
  const found = foundIn(kube);
  const failing = new Set([...found].filter(([, object]) => isFailing(object)).map(([name]) => name));
  const steps = oncePerTry(
    meant.map(({ kind, key, description, step }) => {
      const name = nodeName(kind, key);
      return { name, description, weight: weightOf(step, made.has(name) || !used.has(name)) };
    }),
    failing,
  );
  const stepsOf = Map.groupBy(steps, ({ name }) => name);
  const outcomes = objects.map((planned) => {
    const name = nameOfPlanned(planned);
    return outcomeOf(planned, found.get(name), stepsOf.get(name) ?? [], steps);
  });
  return { outcomes: inOrder(outcomes, [...stepsOf.keys()]), steps };
}

/** How many levels of objects an object depends on, by kind. */
const DEPTH: Readonly<Record<string, number>> = {
  [databaseSpaceDefinition.kind]: 0,
  [databaseClusterDefinition.kind]: 1,
  [databaseUserDefinition.kind]: 2,
  [databaseDefinition.kind]: 2,
};
const DEEPEST = Math.max(...Object.values(DEPTH));

/** Puts objects before those that need them, and deleted ones last, in reverse. `begun` orders the rest. */
function inOrder(outcomes: readonly Outcome[], begun: readonly NodeName[]): readonly Outcome[] {
  const rank = ({ name, change }: Outcome) => {
    const depth = DEPTH[splitNode(name).kind] ?? 0;
    return change === 'delete' ? 2 * DEEPEST + 1 - depth : depth;
  };
  const turns = new Map(begun.map((name, index) => [name, index]));
  const turn = ({ name }: Outcome) => turns.get(name) ?? begun.length;
  return outcomes.toSorted((a, b) => rank(a) - rank(b) || turn(a) - turn(b) || (a.name < b.name ? -1 : 1));
}

type NamedStep = Plan['steps'][number];

/** A step tried several times is listed once. If an object fails, its last step is the one that fails. */
function oncePerTry(steps: readonly NamedStep[], failing: ReadonlySet<NodeName>): readonly NamedStep[] {
  const last = new Map<NodeName, NamedStep>();
  const once = steps.filter((step) => {
    const isAgain = last.get(step.name)?.description === step.description;
    if (!isAgain) last.set(step.name, step);
    return !isAgain;
  });
  return once.map((step) => (failing.has(step.name) && last.get(step.name) === step ? { ...step, fails: true } : step));
}

/** Reports whether the last thing tried for the object failed. */
function isFailing({ status }: AnyObject): boolean {
  return isRecord(status) && isRecord(status['lastError']);
}

/** The objects as the operator left them. */
function foundIn(kube: FakeKube): ReadonlyMap<NodeName, AnyObject> {
  return new Map(
    definitions.flatMap((definition) =>
      kube.all(resourceOf(definition)).map((object) => [nodeName(definition.kind, keyOf(object)), object] as const),
    ),
  );
}

function nameOfPlanned({ definition, key }: PlannedObject): NodeName {
  return nodeName(definition.kind, key);
}

/** Reports whether somebody may use its login: one was published, or the object may adopt what was there before. */
function mayBeUsed({ live, wanted }: PlannedObject): boolean {
  const [spec, status] = [wanted?.spec, live?.status];
  const mayAdopt = isRecord(spec) && (spec['adoptionPolicy'] ?? 'Never') !== 'Never';
  return mayAdopt || (isRecord(status) && 'lastRotation' in status);
}

/** `tried`: the steps for the object; `steps`: those for all objects. */
function outcomeOf(
  planned: PlannedObject,
  found: AnyObject | undefined,
  tried: Plan['steps'],
  steps: Plan['steps'],
): Outcome {
  const { definition, live, wanted } = planned;
  const name = nameOfPlanned(planned);
  const own = tried.map(({ name: _, ...step }) => step);
  const goes = isLeaving(planned);
  const stays = found === undefined && goes ? staysOf(planned, steps) : undefined;
  const later = found !== undefined && goes ? laterOf(planned, own) : undefined;
  const fields =
    live !== undefined && wanted !== undefined
      ? [...changesOf(live.spec, wanted.spec), ...changesOf(askedOf(live), askedOf(wanted), 'metadata.annotations')]
      : [];
  return {
    name,
    change: live === undefined ? 'create' : wanted === undefined ? 'delete' : fields.length > 0 ? 'update' : 'none',
    fields,
    steps: own,
    end: found === undefined ? undefined : endOf(itemOf(definition, found)),
    ...(stays === undefined ? {} : { stays }),
    ...(later === undefined ? {} : { later }),
  };
}

/** What the object asks for by annotations. */
function askedOf({ metadata: { annotations = {} } }: AnyObject): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(`${GROUP}/`)));
}

function endOf(item: Item): NonNullable<Outcome['end']> {
  const ready = readyOf(item);
  if (ready === undefined || isOutOfDate(item))
    return { ready: 'Unknown', reason: 'NotSeen', message: 'It was not looked at' };
  return { ready: ready.status, reason: ready.reason, message: ready.message };
}
