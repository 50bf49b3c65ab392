import { API_VERSION } from '../../src/base/group.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { CONFIG_MAPS, NAMESPACES, type Resource, SECRETS } from '../../src/kube/api.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { specIssues } from '../../src/kube/definition.ts';
import { keyOf, objectKey } from '../../src/kube/object.ts';
import { askClouds } from '../../src/plan/ask-clouds.ts';
import type { Document } from '../../src/plan/manifests.ts';
import type { Plan } from '../../src/plan/outcome.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { NOTHING_TOLD, policyOf } from '../../src/plan/policy.ts';
import { readObjects } from '../../src/plan/read.ts';
import { weightOf } from '../../src/plan/weight.ts';
import { type NodeName, nodeName } from '../../src/plugin/node-name.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import { mergePatch } from '../../src/sandbox/merge-patch.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { CLUSTER_SPEC } from '../support/specs.ts';
import { spaceSpec } from './people.ts';
import { type Change, changesOf, type Fields, RESOURCES, storyOf } from './story.ts';
import { OPEN, spaceOf, Teller } from './story-run.ts';
import { named, unplannedIn } from './unplanned.ts';
import { KINDS, NAMESPACE, readyOf, refOf, specOf } from './view.ts';
import { World } from './world.ts';

/* Whether `mooring plan` says what then happens: plans made at rest in the middle of stories, compared with what the changes lead to. */

/** How often something is changed after each story. */
const ROUNDS = 3;
/** The longest pause between two tries. */
const SETTLED_AFTER_MINUTES = 16;

/** What a plan said, or what happened: the steps for each object, and how it ends. */
interface Course {
  readonly steps: ReadonlyMap<NodeName, readonly string[]>;
  /** As `View.ready` says it. */
  readonly ends: ReadonlyMap<NodeName, string>;
}

export interface PlannedRun {
  /** Each with the changes that it was about. */
  readonly differences: readonly string[];
  readonly trace: readonly string[];
  /** How many plans were compared, and how many of them had steps. */
  readonly compared: number;
  readonly withSteps: number;
}

const NOT_COMPARED: PlannedRun = { differences: [], trace: [], compared: 0, withSteps: 0 };

/** Tells the story that the seed stands for, and then plans and makes changes. */
export async function playPlanned(seed: number): Promise<PlannedRun> {
  const { steps } = storyOf(seed);
  // A plan knows no values of Secrets.
  if (steps.some((step) => step.do === 'renew' && step.name === 'factory-login')) return NOT_COMPARED;
  const world = new World({ scenario: 'story', strikes: [] }, undefined, 'document');
  world.simulator.setKnobs({ resumeChangesAddress: false });
  const teller = new Teller(world, SETTLED_AFTER_MINUTES, true);
  const differences: string[] = [];
  let [compared, withSteps] = [0, 0];
  const gone = new Set(steps.flatMap((step) => (step.do === 'terminate' ? [step.namespace ?? NAMESPACE] : [])));
  const isAnyRecreated = steps.some((step) => step.do === 'recreate');
  await teller.begin();
  for (const step of steps) await teller.tell(step);
  for (const wanted of changesOf(seed, ROUNDS)) {
    if ((await teller.settle()) !== undefined || world.invariants.violations.length > 0) break;
    // Somebody still waits to create it anew.
    if (isAnyRecreated && named(world.view).some(({ object }) => object.metadata.deletionTimestamp !== undefined))
      break;
    const { changes, objects } = becoming(wanted, world, gone);
    world.note(`== ${JSON.stringify(changes)}`);
    const plan = await planFor(world, changes, objects);
    const said = saidBy(plan);
    const unplanned = unplannedIn(world, plan, objects);
    for (const [name, each] of said.steps) world.note(`told ${name}: ${each.join(', ')}`);
    world.steps.splice(0);
    await teller.apply(changes);
    await teller.settle();
    if (world.invariants.violations.length > 0) break;
    compared++;
    if (plan.steps.length > 0) withSteps++;
    const { excused, grave, followers } = unplanned();
    const told = withoutOldIDs(said, followers);
    const happened = withoutOldIDs(happenedIn(world), followers);
    const found = [...differencesIn(told, happened, excused), ...untoldIn(world, said, grave)];
    differences.push(...found.map((text) => `${text}\n      after ${JSON.stringify(changes)}`));
    if (found.length > 0) break;
  }
  world.stop();
  return { differences, trace: world.trace, compared, withSteps };
}

/**
 * What must have been told of objects in any state, unless it is only tried again: what destroys, and what there is to pay for. What is
 * renamed at the same time may have either id when it is cloned.
 */
function untoldIn({ steps }: World, said: Course, names: ReadonlySet<NodeName>): readonly string[] {
  const verbOf = (description: string) => description.split(' ', 1)[0];
  return steps.flatMap(({ kind, key, step, description }) => {
    const name = nodeName(kind, key);
    const isGrave = ['destroys', 'costs'].includes(weightOf(step, false));
    const isTold = said.steps.get(name)?.some((told) => verbOf(told) === verbOf(description)) === true;
    return names.has(name) && isGrave && !isTold ? [`${name}: not told: ${description}`] : [];
  });
}

/** What is left of the changes if the API server lets them through, and what they make of objects; undefined: deleted. */
function becoming(wanted: readonly Change[], { view, simulator }: World, gone: ReadonlySet<string>) {
  const objects = new Map<NodeName, FakeObject | undefined>();
  const changes: Change[] = [];
  for (const change of wanted) {
    const resource = RESOURCES[change.of];
    const { namespace, name } = refOf(change.name);
    const node = nodeName(resource.kind, objectKey(namespace, name));
    const before = view.object(change.name, resource);
    if (gone.has(namespace)) continue;
    if (objects.has(node) || (before === undefined) !== (change.do === 'create')) continue;
    const after = changed(change, before ?? born(resource, namespace, name), simulator.baseURL);
    const definition = definitions.find(({ kind }) => kind === resource.kind);
    if (definition !== undefined && after !== undefined && specIssues(definition, after['spec']).length > 0) continue;
    objects.set(node, after);
    changes.push(change);
  }
  return { changes, objects };
}

function born({ kind }: Resource, namespace: string, name: string): FakeObject {
  return { apiVersion: API_VERSION, kind, metadata: { namespace, name, uid: '', resourceVersion: '' }, spec: {} };
}

function changed(change: Change, before: FakeObject, baseURL: string): FakeObject | undefined {
  switch (change.do) {
    case 'delete':
      return undefined;
    case 'annotate':
      return mergePatch(before, { metadata: { annotations: change.annotations } }) as FakeObject;
    case 'create':
      return { ...before, spec: createdSpec(change, baseURL) };
    default: {
      const { storageSizeGB: now = 0 } = specOf(before);
      const fields = Object.entries(change.spec).map(([field, value]) => [field, value ?? null] as const);
      const allowed = fields.filter(([field, value]) => field !== 'storageSizeGB' || Number(value ?? 0) >= Number(now));
      return mergePatch(before, { spec: Object.fromEntries(allowed) }) as FakeObject;
    }
  }
}

const LEVELS = ['read', 'write', 'admin'];

function createdSpec({ of, name, spec }: Extract<Change, { do: 'create' | 'edit' }>, baseURL: string): Fields {
  const fields = JSON.parse(JSON.stringify(spec)) as Fields;
  if (of === 'databaseclusters') return { ...CLUSTER_SPEC, ...fields };
  if (of !== 'databasespaces') return fields;
  return { ...spaceSpec(spaceOf(name), baseURL), ...OPEN };
}

/** The API server as it is now, for the command: nothing that happens later is seen. */
function readerOf({ kube }: World, wanted: ReadonlyMap<NodeName, FakeObject | undefined>): KubeClient {
  const read = [SECRETS, CONFIG_MAPS, NAMESPACES, ...KINDS];
  const all = new Map(read.map((resource) => [resource.plural, kube.all(resource)]));
  const refused = () => Promise.reject(new Error('A plan writes nothing'));
  return {
    get: async ({ plural }, { namespace = '', name }) =>
      all.get(plural)?.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace),
    // Of all namespaces: what is in others, and uses what is here, is planned too.
    list: async ({ plural }) => ({ items: all.get(plural) ?? [], resourceVersion: '1', continueToken: undefined }),
    watch: () => {
      throw new Error('A plan watches nothing');
    },
    create: refused,
    patch: refused,
    delete: refused,
    patchDryRun: refused,
    applyDryRun: async ({ kind }, object) => {
      const answer = wanted.get(nodeName(kind, keyOf(object)));
      if (answer === undefined) throw new Error(`Nobody wants ${kind} ${keyOf(object)}`);
      return answer;
    },
  };
}

/** Makes the plan as the command does. */
async function planFor(
  world: World,
  changes: readonly Change[],
  objects: ReadonlyMap<NodeName, FakeObject | undefined>,
): Promise<Plan> {
  const { clock, simulator } = world;
  const api = readerOf(world, objects);
  const documents = [...objects.values()].flatMap((object) => (object === undefined ? [] : [documentOf(object)]));
  const deleted = new Set([...objects].flatMap(([name, object]) => (object === undefined ? [name] : [])));
  const { signal } = new AbortController();
  const given = { namespace: NAMESPACE, documents: [...documents, ...tokensIn(changes)], deleted };
  const read = await readObjects(api, given, signal);
  if (read.problems.length > 0) throw new Error(JSON.stringify(read.problems));
  const policy = policyOf(NOTHING_TOLD, read.objects);
  const outside = { api, clock, random: createSeededRandom(7), transport: () => simulator.transport };
  let listed: Awaited<ReturnType<typeof askClouds>> | undefined;
  void askClouds(outside, { ...given, objects: read.objects, policy }, signal).then((answer) => {
    listed = answer;
  });
  while (listed === undefined) await clock.advance(100);
  return makePlan({ ...read, listed: listed.listed }, clock);
}

function documentOf({ metadata, spec, kind }: FakeObject): Document {
  const { namespace = '', name, annotations, labels } = metadata;
  const manifest = { apiVersion: API_VERSION, kind, metadata: { namespace, name, annotations, labels }, spec };
  return { where: `${kind} ${name}`, manifest } as Document;
}

/** The Secrets that come with a new space. */
function tokensIn(changes: readonly Change[]): readonly Document[] {
  if (!changes.some((change) => change.do === 'create' && change.of === 'databasespaces' && change.name === 'preview'))
    return [];
  return LEVELS.map((level) => {
    const name = `preview-${level}`;
    const stringData = { clientID: `${name}-id`, clientSecret: `${name}-secret-0123456789` };
    const metadata = { namespace: NAMESPACE, name: `cloud-${name}` };
    return { where: name, manifest: { apiVersion: 'v1', kind: SECRETS.kind, metadata, stringData } };
  });
}

function saidBy({ steps, outcomes }: Plan): Course {
  return {
    steps: byObject(steps),
    ends: new Map(outcomes.map(({ name, end }) => [name, end === undefined ? 'gone' : `${end.ready} ${end.reason}`])),
  };
}

function happenedIn({ steps, view }: World): Course {
  const meant = steps.filter(({ kind }) => kind !== RESOURCES.databasespaces.kind);
  return {
    steps: byObject(meant.map(({ kind, key, description }) => ({ name: nodeName(kind, key), description }))),
    ends: new Map(named(view).map(({ name, object }) => [name, readyOf(object)])),
  };
}

function byObject(steps: readonly { readonly name: NodeName; readonly description: string }[]): Course['steps'] {
  const grouped = Map.groupBy(steps, ({ name }) => name);
  return new Map([...grouped].map(([name, own]) => [name, [...new Set(own.map(({ description }) => description))]]));
}

const RENAMING = /^rename cluster (".*?") to (".*?")$/;

/** Of these objects, the other steps name the cluster as it is called in the end. */
function withoutOldIDs({ steps, ends }: Course, names: ReadonlySet<NodeName>): Course {
  const renamed = [...steps].map(([name, each]): [NodeName, readonly string[]] => {
    const [, before = '', after = ''] = each.map((step) => RENAMING.exec(step)).find((found) => found !== null) ?? [];
    if (!names.has(name) || before === '') return [name, each];
    return [name, each.map((step) => (RENAMING.test(step) ? step : step.replace(before, after)))];
  });
  return { steps: new Map(renamed), ends };
}

/** Whether the operator only remembers what it found on a server before its cluster was suspended (`FoundRight`): a plan cannot know that. */
function isRemembered(told: string, end: string): boolean {
  return told === 'Unknown ClusterSuspended' && end === 'True ClusterSuspended';
}

function differencesIn(said: Course, happened: Course, except: ReadonlySet<NodeName>): readonly string[] {
  const names = [...new Set([...said.steps.keys(), ...happened.steps.keys(), ...said.ends.keys()])];
  return names
    .filter((name) => !except.has(name))
    .flatMap((name) => {
      const [told, done] = [said.steps.get(name) ?? [], happened.steps.get(name) ?? []];
      const [toldEnd = '?', end = 'gone'] = [said.ends.get(name), happened.ends.get(name)];
      return [
        ...done.filter((step) => !told.includes(step)).map((step) => `${name}: not told: ${step}`),
        ...told.filter((step) => !done.includes(step)).map((step) => `${name}: did not happen: ${step}`),
        ...(toldEnd === end || isRemembered(toldEnd, end)
          ? []
          : [`${name}: told to end as ${toldEnd}, ended as ${end}`]),
      ];
    });
}
