import { ABANDON, ACCEPT_IDENTITY, RECONCILE_AT } from '../../src/kube/annotations.ts';
import { type Resource, SECRETS } from '../../src/kube/api.ts';
import { keyOf } from '../../src/kube/object.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import { type Fault, isLogin } from './faults.ts';
import { isOurs } from './owned.ts';
import { MINUTE_MS, spaceSpec } from './people.ts';
import { restless } from './run.ts';
import {
  type Fields,
  type Handle,
  type InTheCloud,
  type OnAServer,
  RESOURCES,
  type Renew,
  type Scribble,
  type Specify,
  type Step,
  type Story,
  storyOf,
} from './story.ts';
import { CLUSTERS, KINDS, readyOf, referred, SPACES, specOf, statusOf } from './view.ts';
import { World } from './world.ts';

export interface StoryRun {
  /** What was broken; undefined: nothing. */
  readonly problem: string | undefined;
  /** What led to it, for people. */
  readonly trace: readonly string[];
}

/** Objects in other namespaces may use the space. */
export const OPEN = { allowedNamespaces: { from: 'All' } };
/** The longest pause between two tries, and what it may lead to. */
const SETTLED_AFTER_MINUTES = 16;
/** Without a watch nobody hears of a Secret that is there at last, or gone; nor, if an object is Stalled, of what somebody did on a server. */
const NOTICED_AFTER_MINUTES = 32;
/** A new password waits for an hour for a clone. */
const BOUND_MINUTES = 80;
const QUIET_MINUTES = 12;
/** What has changed in the cloud or in Kubernetes, without faults, is known by then: the cloud is polled each minute, and what is gone is looked for for less. */
const AT_REST_MS = 150_000;
const LOOKED_AT_WITHIN_MS = 30_000;
const GONE_WITHIN_MINUTES = 60;

/** What changes Secrets, or has Kubernetes delete them with their owners. */
const ON_SECRETS: ReadonlySet<Step['do']> = new Set(['scribble', 'delete', 'recreate', 'terminate']);

/** Tells a story to the operator, and then deletes everything. Returns the first thing that is not as it must be. */
export async function playStory({ steps, dialect = 'document', ...plan }: Story): Promise<StoryRun> {
  const world = new World({ scenario: 'story', strikes: [], ...plan }, undefined, dialect);
  const touchesServers = steps.some((step) => 'target' in step);
  const watchesSecrets = plan.secrets !== 'get';
  const isLate = !watchesSecrets || touchesServers;
  const teller = new Teller(world, isLate ? NOTICED_AFTER_MINUTES : SETTLED_AFTER_MINUTES, watchesSecrets);
  let problem: string | undefined;
  try {
    await teller.begin();
    for (const step of steps) await teller.tell(step);
    // What somebody does on a server is noticed when that is looked at next; without a watch, what happens to a Secret as well.
    const isUnheard = ({ do: what, ...on }: Step) => 'target' in on || (!watchesSecrets && ON_SECRETS.has(what));
    const isCalm = steps.every((step) => step.do !== 'strike' && !isUnheard(step));
    problem =
      (isCalm && teller.isObserved() ? await teller.lookAnewAfter(AT_REST_MS) : undefined) ??
      (await teller.settle()) ??
      (await teller.quiet()) ??
      (await teller.lookAnewAfter(0)) ??
      (await teller.deleteAll());
    world.invariants.check();
    world.invariants.checkSecrecy(world.shown());
  } catch (error) {
    problem = String((error as Error).stack);
  }
  world.stop();
  const [broken] = world.invariants.violations;
  return {
    problem: broken === undefined ? problem : `${broken.invariant}: ${broken.message}`,
    trace: world.trace,
  };
}

/** Does to a world what the steps of a story say. */
export class Teller {
  readonly #world: World;
  readonly #settledAfter: number;
  readonly #watchesSecrets: boolean;
  #next: { readonly fault: Fault; inEffects: number } | undefined;

  /** `settledAfter`: minutes. */
  constructor(world: World, settledAfter: number, watchesSecrets: boolean) {
    this.#world = world;
    this.#settledAfter = settledAfter;
    this.#watchesSecrets = watchesSecrets;
    world.chance = () => {
      if (this.#next === undefined || --this.#next.inEffects > 0) return undefined;
      const { fault } = this.#next;
      this.#next = undefined;
      return fault;
    };
  }

  async begin(): Promise<void> {
    const { people } = this.#world;
    await this.#world.start();
    await people.edit({ spec: OPEN }, 'production', SPACES);
    await people.putSecret('somebody-elses', { username: 'somebody', password: 'the-password-of-somebody-else' });
    await people.putSecret('own-password', { password: 'a-password-of-our-own' });
    // A Secret of the name that it wants may be another object's.
    this.#world.invariants.maySleepUnsecured = true;
    this.#world.beginCounting();
  }

  async tell(step: Step): Promise<void> {
    await this.#pass(step.afterMs);
    if (this.#isBroken()) return;
    await this.#take(step);
    // What it asks for may be taken back before anything else happens.
    this.#world.invariants.check();
  }

  /** What is in one manifest or several, which the API server gets before anything follows from it. */
  async apply(changes: readonly Step[]): Promise<void> {
    await Promise.all(changes.map((change) => this.#take(change)));
    this.#world.invariants.check();
  }

  async #take(step: Step): Promise<void> {
    this.#world.note(`-- ${JSON.stringify(step)}`);
    switch (step.do) {
      case 'create':
        return this.#create(step);
      case 'edit':
        return this.#edit(step);
      case 'annotate':
        return this.#world.people.edit({ annotations: step.annotations }, step.name, RESOURCES[step.of]);
      case 'delete':
        return this.#delete(step);
      case 'recreate':
      case 'unhold':
      case 'meddle':
      case 'accept':
        return this.#handle(step);
      case 'scribble':
        return this.#scribble(step);
      case 'renew':
        return this.#renew(step);
      case 'terminate':
        return this.#world.people.terminate(step.namespace);
      case 'strike':
        this.#next = { fault: step.fault, inEffects: step.inEffects };
        return;
      default:
        if ('target' in step) this.#onAServer(step);
        else this.#inTheCloud(step);
    }
  }

  /** Waits until every object says why it is as it is. */
  async settle(): Promise<string | undefined> {
    this.#world.endStrikes();
    for (let minutes = 0; minutes < BOUND_MINUTES; minutes++) {
      await this.#pass(MINUTE_MS);
      if (this.#isBroken()) return undefined;
      if (minutes > this.#settledAfter && restless(this.#world) === undefined) break;
    }
    return restless(this.#world);
  }

  /** Nothing is done for what is as it can be, except that what is refused is tried again now and then. */
  async quiet(): Promise<string | undefined> {
    const { view, effects } = this.#world;
    // Some new passwords are due every ten minutes.
    const rotates = KINDS.flatMap((each) => view.objects(each)).some((each) =>
      JSON.stringify(each).includes('rotateEvery'),
    );
    const before = effects.length;
    await this.#pass(QUIET_MINUTES * MINUTE_MS);
    const isRetry = /^PATCH \S+\/clusters\/|\/(?:deploy|clone)$|status\{(?:operation|keptSecrets)\}$|\/transactions\//;
    // While a space is not observed, nobody learns that a server has moved, so what must go from there is tried in vain.
    const isInVain = (what: string) => !this.isObserved() && what.startsWith('DELETE /v1/');
    const isNoise = (what: string) => !isRetry.test(what) && !isInVain(what);
    const noise = effects.slice(before).filter((effect) => !isLogin(effect) && isNoise(effect.what));
    if (rotates || noise.length === 0) return undefined;
    return `In ${QUIET_MINUTES} quiet minutes: ${noise.map(({ what }) => what).join(', ')}`;
  }

  /** Whether what happens in the cloud is noticed by Lists. Otherwise only the next look at a server may show it. */
  isObserved(): boolean {
    const { view } = this.#world;
    return view.objects(SPACES).every((space) => readyOf(space).startsWith('True'));
  }

  /** Whoever asks for a look hears nothing new: each object was woken by all that it waited for, and what it says is still true. */
  async lookAnewAfter(ms: number): Promise<string | undefined> {
    const { view, people } = this.#world;
    await this.#pass(ms);
    const objects = KINDS.flatMap((resource) => view.objects(resource).map((object) => ({ resource, object })));
    for (const { resource, object } of objects)
      await people.edit({ annotations: { [RECONCILE_AT]: `after ${ms}` } }, keyOf(object), resource);
    await this.#pass(LOOKED_AT_WITHIN_MS);
    // Another controller may let go of it meanwhile, which those that refer to it then hear.
    const isLetGoOf = ({ object, resource }: (typeof objects)[number]) =>
      readyOf(object).endsWith(' Released') && view.ready(keyOf(object), resource) === 'gone';
    const letGo = new Set(objects.filter(isLetGoOf).map(({ object }) => keyOf(object)));
    const told = objects.flatMap(({ resource, object }) => {
      const [before, now] = [readyOf(object), view.ready(keyOf(object), resource)];
      const concerned = [keyOf(object), referred(object, 'clusterRef'), referred(object, 'spaceRef')];
      const isLetGo = concerned.some((key) => key !== undefined && letGo.has(key));
      // No login is tried meanwhile, and without a watch nothing else shows that its Secret is gone.
      const isAsleep = !this.#watchesSecrets && [before, now].every((ready) => ready.endsWith('Suspended'));
      return before === now || isLetGo || isAsleep
        ? []
        : `${resource.kind} ${keyOf(object)} said ${before}, and says ${now} when it is asked`;
    });
    return told[0];
  }

  /** Deletes all objects. Each goes, or one says which mistake in its spec keeps it. */
  async deleteAll(): Promise<string | undefined> {
    const { view } = this.#world;
    const left = () => KINDS.flatMap((resource) => view.objects(resource).map((object) => ({ resource, object })));
    const asked = new Set<string>();
    for (let minutes = 0; minutes < GONE_WITHIN_MINUTES && left().length > 0; minutes++) {
      // Some are created again when they are gone.
      for (const { resource, object } of left().filter(({ object }) => !asked.has(object.metadata.uid))) {
        asked.add(object.metadata.uid);
        await this.#deleteForGood(object, resource);
      }
      await this.#pass(MINUTE_MS);
    }
    const mistakes = /InvalidSpec|BaseURLNotAllowed|DeletionBlocked/;
    if (left().some(({ object }) => mistakes.test(readyOf(object)))) return undefined;
    const what = left().map(({ resource, object }) => `${resource.kind} ${object.metadata.name}, ${readyOf(object)}`);
    return what.length === 0 ? undefined : `These do not go: ${what.join('; ')}`;
  }

  async #deleteForGood(object: FakeObject, resource: Resource): Promise<void> {
    const { people } = this.#world;
    const name = keyOf(object);
    this.#leave(object);
    const spec = resource === CLUSTERS ? { spec: { deletionProtection: false } } : {};
    await people.edit({ annotations: { 'mooring.dev/paused': null }, ...spec }, name, resource);
    people.remove(name, resource);
  }

  async #pass(ms: number): Promise<void> {
    if (!this.#isBroken()) await this.#world.clock.advance(ms);
  }

  #isBroken(): boolean {
    return this.#world.invariants.violations.length > 0;
  }

  async #create({ of, name, spec }: Specify): Promise<void> {
    const { people, view, simulator } = this.#world;
    if (view.object(name, RESOURCES[of]) !== undefined) return;
    // Without the fields that are undefined.
    const fields = JSON.parse(JSON.stringify(spec)) as Fields;
    if (of === 'databaseclusters') {
      await people.createCluster(fields, name);
      const created = view.object(name);
      return created && this.#observe(created, fields);
    }
    if (of !== 'databasespaces') return people.create(RESOURCES[of], name, fields);
    return people.createSpace(name, { ...spaceSpec(spaceOf(name), simulator.baseURL), ...OPEN });
  }

  async #edit({ of, name, spec }: Specify): Promise<void> {
    const { people, view } = this.#world;
    const object = view.object(name, RESOURCES[of]);
    if (object === undefined) return;
    const fields = Object.entries(spec).map(([field, value]) => [field, value ?? null] as const);
    const { storageSizeGB: now = 0 } = specOf(object);
    // The API server lets no storage shrink.
    const allowed = fields.filter(([field, value]) => field !== 'storageSizeGB' || Number(value ?? 0) >= Number(now));
    const change = Object.fromEntries(allowed);
    this.#observe(object, { ...specOf(object), ...change });
    await people.edit({ spec: change }, name, RESOURCES[of]);
  }

  #delete({ of, name }: Extract<Step, { do: 'delete' }>): void {
    const { people, view } = this.#world;
    const object = view.object(name, RESOURCES[of]);
    if (object === undefined) return;
    this.#leave(object);
    people.remove(name, RESOURCES[of]);
  }

  async #handle({ do: what, of, name }: Handle): Promise<void> {
    const { people, view } = this.#world;
    const object = view.object(name, RESOURCES[of]);
    if (object === undefined) return;
    if (what !== 'meddle') this.#leave(object);
    if (what === 'recreate') people.recreate(name, RESOURCES[of]);
    else if (what === 'unhold') await people.replace(name, RESOURCES[of]);
    else if (what === 'accept') await this.#accept(object, RESOURCES[of]);
    else await people.meddling.begin(name, RESOURCES[of]);
  }

  /** Annotates the object with the creation time of the cluster that has its id now. */
  async #accept(object: FakeObject, resource: Resource): Promise<void> {
    const { people, view } = this.#world;
    const cluster = view.cluster(String(specOf(object)['clusterID'] ?? object.metadata.name));
    if (cluster === undefined) return;
    const annotations = { [ACCEPT_IDENTITY]: new Date(cluster.createdAt).toISOString() };
    await people.edit({ annotations }, keyOf(object), resource);
  }

  async #renew({ name, password }: Renew): Promise<void> {
    const { people } = this.#world;
    const before = people.secrets.get(`shop/${name}`) ?? {};
    if (people.terminatingSince() === undefined) await people.putSecret(name, { ...before, password });
  }

  async #scribble({ name, patch }: Scribble): Promise<void> {
    const { people, view } = this.#world;
    const secret = view.object(name, SECRETS);
    if (secret !== undefined && isOurs(secret)) await people.scribble(name, patch);
  }

  /** Nobody secures a clone that its object leaves: its source may take along the login that it came with. */
  #leave(object: FakeObject): void {
    const isUnsecured = specOf(object)['cloneFrom'] !== undefined && statusOf(object).credentials === undefined;
    if (isUnsecured || object.metadata.annotations?.[ABANDON] === 'true') this.#lose(object);
  }

  /** Nor one that is only observed. */
  #observe(object: FakeObject, { managementPolicy, cloneFrom }: Fields): void {
    if (managementPolicy === 'Observe' && cloneFrom !== undefined) this.#lose(object);
  }

  #lose(object: FakeObject): void {
    const { invariants, view } = this.#world;
    invariants.lost.loseOf(object, view.clusters());
  }

  #inTheCloud({ do: what, id }: InTheCloud): void {
    const { view, invariants } = this.#world;
    const cluster = view.cluster(id);
    // Whose it is that comes in the place of one that was just asked for, nobody can tell.
    const isBeingMade = view.objects().some((object) => statusOf(object).operation !== undefined);
    if (what === 'deploy' ? cluster !== undefined : cluster === undefined || isBeingMade) return;
    if (cluster !== undefined && !stays(cluster)) return;
    // Its Secret may be about to have the login of another cluster, made in its place.
    for (const object of view.objects()) this.#leave(object);
    this.#world.others((simulator) => {
      switch (what) {
        case 'deploy':
          return simulator.deployForeign({ id, machineType: 'c2d-highcpu-4', storageSizeGB: 100, version: '3.5.0' });
        case 'replace':
          return simulator.replaceCluster(id);
        case 'rename':
          return view.cluster(`${id}-x`) === undefined ? simulator.changeCluster(id, { id: `${id}-x` }) : undefined;
        case 'swap':
          return ['orders', 'billing'].every((each) => stays(view.cluster(each)))
            ? swap(simulator, 'orders', 'billing')
            : undefined;
        case 'grow':
          return simulator.changeCluster(id, { storageSizeGB: 300 });
        case 'suspend':
          return cluster?.status === 'running' ? simulator.beginTransition(id, 'suspending') : undefined;
        case 'resume':
          return cluster?.status === 'suspended' ? simulator.beginTransition(id, 'resuming') : undefined;
        case 'destroy':
          return simulator.beginTransition(id, 'destroying');
        case 'resize':
          return simulator.changeCluster(id, { machineType: 'c2d-highcpu-2' });
        case 'move':
          return simulator.moveServers(id);
        case 'restart':
          return simulator.restartServers(id);
        case 'vanish':
          return simulator.vanish(id);
        default:
          return what satisfies never;
      }
    });
    // Any object whose manifest says so may take over what is nobody's.
    const there: Cluster | undefined = view.cluster(id);
    if (there !== undefined && there !== cluster) invariants.mayBeAdopted(there);
  }

  #onAServer({ do: what, id, target }: OnAServer): void {
    const { people, view } = this.#world;
    const cluster = view.cluster(id);
    if (!stays(cluster)) return;
    const { users, databases } = cluster.database;
    const isThere = users.has(target) || databases.has(target);
    const makes = what === 'setPassword' || what === 'createDatabase';
    if ((!makes && !isThere) || (what === 'createDatabase' && isThere)) return;
    if (what === 'setPassword') people.setPassword(id, target, 'set by somebody else');
    else if (what === 'deleteUser') people.deleteUser(id, target);
    else this.#world.others((simulator) => simulator[what](id, target));
  }
}

/** There is one that is not going: such a one may be gone as soon as somebody looks. */
function stays(cluster: Cluster | undefined): cluster is Cluster {
  return cluster !== undefined && cluster.status !== 'destroying';
}

/** The space in the cloud that a DatabaseSpace of this name stands for. */
export function spaceOf(name: string): string {
  return name === 'preview' ? name : 'production';
}

function swap(simulator: Simulator, one: string, other: string): void {
  simulator.changeCluster(one, { id: 'swapped' });
  simulator.changeCluster(other, { id: one });
  simulator.changeCluster('swapped', { id: other });
}

const TRACE_LINES = 60;

/** Describes, for people, the smallest story that has the same problem as that of the seed. */
export async function smallestReport(seed: number, problem: string): Promise<string> {
  const story = await shrunkStory(storyOf(seed), problem);
  const run = await playStory(story);
  return [
    `Story ${seed}: ${problem}`,
    'The smallest story that is like it:',
    `  ${JSON.stringify({ ...story, steps: story.steps.length })}`,
    ...story.steps.map((step) => `  ${JSON.stringify(step)}`),
    `  ${run.problem}`,
    ...run.trace.slice(-TRACE_LINES).map((line) => `  ${line}`),
    `Tell it again: npm run sim -- --stories --seed ${seed}`,
  ].join('\n');
}

/** Returns the smallest story with the same problem, by leaving out one step or field after another. */
export async function shrunkStory(story: Story, problem: string): Promise<Story> {
  // Later words are mostly names and messages.
  const kindOf = (text = '') => text.split(/[:,]/)[0];
  for (const smaller of smallerThan(story)) {
    const run = await playStory(smaller);
    if (kindOf(run.problem) === kindOf(problem)) return shrunkStory(smaller, problem);
  }
  return story;
}

function* smallerThan(story: Story): Generator<Story> {
  const { steps } = story;
  for (const setting of ['shards', 'replicas', 'seed', 'secrets', 'dialect'] as const) {
    const { [setting]: given, ...simpler } = story;
    const isAlone = setting === 'replicas' && story.shards !== undefined;
    if (given !== undefined && !isAlone) yield simpler;
  }
  for (const step of steps.toReversed()) yield { ...story, steps: steps.filter((other) => other !== step) };
  for (const step of steps) {
    if (!('spec' in step)) continue;
    for (const field of Object.keys(step.spec)) {
      const { [field]: _, ...spec } = step.spec;
      yield { ...story, steps: steps.map((other) => (other === step ? { ...step, spec } : other)) };
    }
  }
}
