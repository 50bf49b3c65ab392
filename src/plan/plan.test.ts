import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { API_VERSION } from '../base/group.ts';
import { createLog } from '../base/log.ts';
import { CloudClient } from '../cloud/client.ts';
import { definitions } from '../kinds/definitions.ts';
import { type AnyObject, NAMESPACES, SECRETS } from '../kube/api.ts';
import { objectKey } from '../kube/object.ts';
import { createOperator } from '../operator.ts';
import { resourceOf } from '../plugin/kinds.ts';
import type { StepTold } from '../runtime/controller.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { createSimulator, DEFAULT_TEAMS } from '../simulator/simulator.ts';
import type { PlannedObject } from './objects.ts';
import { makePlan, type Plan } from './plan.ts';

type Specs = Readonly<Record<string, object>>;

const SPACE = {
  teamID: 'acme',
  spaceID: 'production',
  apiTokens: ['read', 'write', 'admin'].map((level) => ({ level, secretRef: { name: `cloud-${level}` } })),
  defaultCredentialsSecretRef: { name: 'factory-login' },
  verifyInterval: '0s',
};
const CLUSTER = {
  spaceRef: { name: 'production' },
  provider: 'gcp',
  region: 'europe-west2',
  machineType: 'c2d-highcpu-4',
  storageSizeGB: 100,
  version: '3.5.0',
};
const ON_ORDERS = { clusterRef: { name: 'orders' } };

/** A world of its own with a cloud, in which an operator runs. */
async function aWorld(specs: Specs) {
  const clock = virtualClock();
  const random = createSeededRandom(5);
  const simulator = createSimulator({ clock, random, knobs: { levelsNest: true, resumeChangesAddress: false } });
  const statusDefaults = Object.fromEntries(definitions.map(({ plural }) => [plural, { observedGeneration: -1 }]));
  const kube = new FakeKube({ now: clock.now, random, statusDefaults });
  const secret = (name: string, data: Readonly<Record<string, string>>) =>
    kube.create(SECRETS, 'shop', {
      metadata: { name },
      data: Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      ),
    });
  for (const level of ['read', 'write', 'admin'])
    await secret(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: `${level}-secret-0123456789` });
  await secret('factory-login', { username: 'admin', password: 'password' });
  const told: StepTold[] = [];
  const operator = createOperator({
    api: kube,
    clock,
    random,
    transport: () => simulator.transport,
    log: createLog({ level: 'silent', format: 'json', write: () => {} }),
    metrics: createMetrics(clock, { version: '', node: '' }),
    namespaces: undefined,
    concurrency: 1,
    urlPolicy: { allowHTTP: true, allowedBaseURLs: undefined, allowedNetworks: undefined },
    instance: 'real',
    lease: undefined,
    onStep: (step) => told.push(step),
  });
  const stop = new AbortController();
  const running = operator.run(stop.signal);
  const apply = async (wanted: Specs, deleted: readonly string[] = []) => {
    for (const name of deleted) {
      const { definition, ref } = named(name);
      kube.remove(resourceOf(definition), ref);
    }
    for (const [name, spec] of Object.entries({
      'DatabaseSpace production': { ...SPACE, baseURL: simulator.baseURL },
      ...wanted,
    })) {
      const { definition, ref } = named(name);
      const resource = resourceOf(definition);
      const found = await kube.get(resource, ref);
      const whole = definition.spec.parse(spec) as object;
      if (found === undefined)
        await kube.create(resource, 'shop', {
          apiVersion: API_VERSION,
          kind: definition.kind,
          metadata: { name: ref.name },
          spec: whole,
        });
      else {
        const gone = Object.keys(specOf(found)).filter((field) => !(field in whole));
        const patch = { ...whole, ...Object.fromEntries(gone.map((field) => [field, null])) };
        await kube.patch(resource, ref, { spec: patch });
      }
    }
    await clock.advance(900_000);
  };
  await apply(specs);
  return {
    clock,
    kube,
    apply,
    remove: async (name: string) => {
      const { definition, ref } = named(name);
      kube.remove(resourceOf(definition), ref);
      await clock.advance(900_000);
    },
    stepsSince: async (work: () => Promise<void>) => {
      told.splice(0);
      await work();
      return told
        .filter(({ kind }) => kind !== 'DatabaseSpace')
        .map(({ kind, key, description }) => `${kind} ${key}: ${description}`);
    },
    /** What `mooring plan` is given. */
    input: async (wanted: Specs, deleted: readonly string[] = []) => ({
      objects: objectsOf(
        kube,
        { 'DatabaseSpace production': { ...SPACE, baseURL: simulator.baseURL }, ...wanted },
        deleted,
      ),
      listed: new Map([['shop/production', await listed(simulator, clock)]]),
      configMaps: [],
      namespaces: kube.all(NAMESPACES),
    }),
    end: async () => {
      stop.abort();
      await clock.advance(60_000);
      await running;
    },
  };
}

async function listed(simulator: ReturnType<typeof createSimulator>, clock: ReturnType<typeof virtualClock>) {
  const token = DEFAULT_TEAMS[0]?.apiTokens.find(({ level }) => level === 'read');
  const credentials = [
    { level: 'read', clientID: token?.clientID ?? '', clientSecret: token?.clientSecret ?? '' },
  ] as const;
  const client = new CloudClient({
    baseURL: simulator.baseURL,
    teamID: 'acme',
    spaceID: 'production',
    credentials,
    clock,
    random: createSeededRandom(6),
    transport: simulator.transport,
  });
  const list = client.list();
  await clock.advance(1_000);
  return list;
}

function named(name: string) {
  const [kind, object = ''] = name.split(' ');
  const definition = definitions.find((each) => each.kind === kind);
  if (definition === undefined) throw new Error(`There is no kind ${kind}`);
  return { definition, ref: { namespace: 'shop', name: object } };
}

function objectsOf(kube: FakeKube, wanted: Specs, deleted: readonly string[]): readonly PlannedObject[] {
  const live = definitions.flatMap((definition) =>
    kube.all(resourceOf(definition)).map((object) => [`${definition.kind} ${object.metadata.name}`, object] as const),
  );
  const names = [...new Set([...live.map(([name]) => name), ...Object.keys(wanted)])];
  return names.map((name) => {
    const { definition, ref } = named(name);
    const object = live.find(([each]) => each === name)?.[1];
    const spec = wanted[name] === undefined ? undefined : definition.spec.parse(wanted[name]);
    const next = {
      ...object,
      metadata: object?.metadata ?? { ...ref, uid: '', resourceVersion: '' },
      spec,
    } as AnyObject;
    return {
      definition,
      key: objectKey('shop', ref.name),
      live: object,
      wanted: deleted.includes(name) ? undefined : spec === undefined ? object : next,
    };
  });
}

function specOf(object: AnyObject): object {
  return (object as { readonly spec?: object }).spec ?? {};
}

const stepsOf = ({ steps }: Plan) => steps.map(({ name, description }) => `${name}: ${description}`);

/** By object, as two objects need not come in the same order. What is tried again stands once. */
const byObject = (steps: readonly string[]) =>
  Object.fromEntries(
    [...Map.groupBy(steps, (step) => step.slice(0, step.indexOf(':')))].map(([name, own]) => [
      name,
      own.filter((step, index) => step !== own[index - 1]),
    ]),
  );

const CLUSTER_NAME = 'DatabaseCluster orders';

describe('makePlan()', () => {
  it('has nothing to do where everything is as it is declared, and changes nothing of what it was given', async () => {
    const specs = { 'DatabaseCluster orders': CLUSTER, 'DatabaseUser app': ON_ORDERS, 'Database orders': ON_ORDERS };
    const world = await aWorld(specs);
    const input = await world.input(specs);
    const before = JSON.stringify(input.objects);
    const plan = await makePlan(input, world.clock);
    expect(plan.steps).toEqual([]);
    expect(plan.outcomes.map(({ end }) => end?.ready)).toEqual(['True', 'True', 'True', 'True']);
    expect(JSON.stringify(input.objects)).toBe(before);
    await world.end();
  });

  it('weighs what destroys, interrupts and costs', async () => {
    const specs = { 'DatabaseCluster orders': { ...CLUSTER, deletionPolicy: 'Delete' }, 'DatabaseUser app': ON_ORDERS };
    const world = await aWorld(specs);
    const plan = await makePlan(await world.input({}, ['DatabaseCluster orders']), world.clock);
    expect(plan.steps).toContainEqual({
      name: 'DatabaseCluster shop/orders',
      description: 'destroy cluster "orders" and its data',
      weight: 'destroys',
    });
    expect(plan.outcomes.find(({ name }) => name === 'DatabaseCluster shop/orders')?.end).toBeUndefined();
    const costly = await makePlan(await world.input({ 'DatabaseCluster more': CLUSTER }), world.clock);
    expect(costly.steps.map(({ weight }) => weight)).toEqual(['costs', 'changes', 'changes', 'changes']);
    await world.end();
  });

  it('tells first of what others need, and of what is deleted last, the other way round', async () => {
    const world = await aWorld({
      'DatabaseCluster legacy': CLUSTER,
      'DatabaseUser old': { clusterRef: { name: 'legacy' } },
    });
    const wanted = {
      'Database orders': ON_ORDERS,
      'DatabaseUser app': ON_ORDERS,
      'DatabaseCluster orders': CLUSTER,
      'DatabaseSpace another': { ...SPACE, baseURL: 'https://cloud.example.com' },
    };
    const { outcomes } = await makePlan(
      await world.input(wanted, ['DatabaseCluster legacy', 'DatabaseUser old']),
      world.clock,
    );
    expect(outcomes.map(({ name, change }) => `${change} ${name}`)).toEqual([
      'create DatabaseSpace shop/another',
      'none DatabaseSpace shop/production',
      'create DatabaseCluster shop/orders',
      expect.stringContaining('create Database'),
      expect.stringContaining('create Database'),
      'delete DatabaseUser shop/old',
      'delete DatabaseCluster shop/legacy',
    ]);
    await world.end();
  });

  it('goes on with a deletion that is under way, which applying a manifest does not take back', async () => {
    const spec = { ...CLUSTER, deletionPolicy: 'Delete', deletionProtection: true };
    const world = await aWorld({ 'DatabaseCluster orders': spec });
    await world.remove('DatabaseCluster orders');
    expect((await makePlan(await world.input({}), world.clock)).steps).toEqual([]);
    const wanted = { 'DatabaseCluster orders': { ...spec, deletionProtection: false } };
    const plan = await makePlan(await world.input(wanted), world.clock);
    expect(plan.steps.map(({ weight }) => weight)).toContain('destroys');
    expect(plan.outcomes.find(({ name }) => name === 'DatabaseCluster shop/orders')).toMatchObject({
      change: 'update',
      end: undefined,
    });
    await world.end();
  });

  it('says what stays when an object goes', async () => {
    const specs = { 'DatabaseCluster orders': CLUSTER, 'DatabaseUser app': ON_ORDERS, 'Database orders': ON_ORDERS };
    const world = await aWorld(specs);
    const all = ['DatabaseCluster orders', 'DatabaseUser app', 'Database orders'];
    const stays = async (policy: object, deleted: readonly string[]) => {
      const plan = await makePlan(
        await world.input({ 'DatabaseCluster orders': { ...CLUSTER, ...policy } }),
        world.clock,
      );
      expect(plan.outcomes.every((outcome) => outcome.stays === undefined)).toBe(true);
      await world.apply({ 'DatabaseCluster orders': { ...CLUSTER, ...policy } });
      const { outcomes } = await makePlan(await world.input({}, deleted), world.clock);
      return outcomes.flatMap((outcome) => (outcome.stays === undefined ? [] : [outcome.stays])).toSorted();
    };
    expect(await stays({}, all)).toEqual([
      'cluster "orders" stays in the cloud',
      'database "orders" stays on the server',
    ]);
    expect(await stays({ deletionPolicy: 'Suspend' }, ['DatabaseCluster orders'])).toEqual([
      'cluster "orders" stays in the cloud',
    ]);
    expect(await stays({ deletionPolicy: 'Delete' }, all)).toEqual([]);
    await world.end();
  });

  it('shows once what the cloud refuses each time, as a step that fails', async () => {
    const world = await aWorld({});
    const nowhere = { ...CLUSTER, region: 'nowhere', allowUnlisted: true };
    const plan = await makePlan(await world.input({ 'DatabaseCluster orders': nowhere }), world.clock);
    expect(plan.steps).toEqual([
      { name: 'DatabaseCluster shop/orders', description: 'deploy cluster "orders"', weight: 'costs', fails: true },
    ]);
    expect(plan.outcomes.find(({ name }) => name === 'DatabaseCluster shop/orders')?.end?.reason).toBe(
      'RefusedByCloud',
    );
    await world.end();
  });

  it('remembers as the operator does that nothing came of what the cloud refused', async () => {
    const refused = { ...CLUSTER, clusterID: 'orders-eu', backup: { frequency: 'hourly', retentionDays: 3 } };
    const world = await aWorld({ 'DatabaseCluster orders': refused });
    const plan = await makePlan(await world.input({ 'DatabaseCluster orders': CLUSTER }), world.clock);
    expect(plan.steps[0]?.description).toBe('deploy cluster "orders"');
    await world.end();
  });

  it('knows by the labels of a namespace whom a space admits', async () => {
    const selector = { matchLabels: { team: 'shop' } };
    const space = { ...SPACE, allowedNamespaces: { from: 'Selector', selector } };
    const world = await aWorld({ 'DatabaseCluster orders': { ...CLUSTER, deletionPolicy: 'Delete' } });
    const { objects, ...rest } = await world.input({}, ['DatabaseCluster orders']);
    // The space lies in another namespace than the cluster.
    const elsewhere = objects.map((planned) => {
      const moved = (object: AnyObject | undefined): AnyObject | undefined =>
        object &&
        ({
          ...object,
          metadata: { ...object.metadata, namespace: 'platform' },
          spec: { ...specOf(object), ...space },
        } as AnyObject);
      const refers = (object: AnyObject | undefined): AnyObject | undefined =>
        object &&
        ({
          ...object,
          spec: { ...specOf(object), spaceRef: { name: 'production', namespace: 'platform' } },
        } as AnyObject);
      return planned.definition.kind === 'DatabaseSpace'
        ? { ...planned, key: 'platform/production', live: moved(planned.live), wanted: moved(planned.wanted) }
        : { ...planned, live: refers(planned.live), wanted: refers(planned.wanted) };
    });
    const listed = new Map([['platform/production', rest.listed.get('shop/production') ?? []]]);
    const planWith = (labels: Readonly<Record<string, string>>) => {
      const namespaces = [{ metadata: { name: 'shop', uid: 'n', resourceVersion: '1', labels } }];
      return makePlan({ ...rest, objects: elsewhere, listed, namespaces }, world.clock);
    };
    expect((await planWith({ team: 'shop' })).steps.map(({ weight }) => weight)).toContain('destroys');
    expect((await planWith({})).steps).toEqual([]);
    await world.end();
  });

  it('is not disturbed by a database whose server is not in the copy', async () => {
    const schema = [{ inline: 'define entity person;' }];
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER, 'Database orders': { ...ON_ORDERS, schema } });
    const input = await world.input({});
    const plan = await makePlan({ ...input, listed: new Map([['shop/production', []]]) }, world.clock);
    expect(plan.outcomes.find(({ name }) => name === 'DatabaseCluster shop/orders')?.end?.reason).toBe(
      'ClusterMissing',
    );
    await world.end();
  });

  it('shows a plan for what cannot become Ready, with the reason', async () => {
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER });
    const plan = await makePlan(
      await world.input({ 'DatabaseCluster other': { ...CLUSTER, clusterID: 'orders' } }),
      world.clock,
    );
    expect(plan.steps).toEqual([]);
    expect(plan.outcomes.find(({ name }) => name === 'DatabaseCluster shop/other')?.end?.reason).toBe(
      'ClusterIDClaimed',
    );
    await world.end();
  });

  it('agrees step by step with what the operator then does, for any two states', { timeout: 120_000 }, async () => {
    const deletionPolicy = fc.constantFrom('Retain', 'Delete');
    const cluster = fc.record({
      machineType: fc.constantFrom('c2d-highcpu-4', 'c2d-highcpu-8'),
      storageSizeGB: fc.constantFrom(100, 200, 300),
      state: fc.constantFrom('Running', 'Suspended'),
      clusterID: fc.constantFrom('orders', 'orders-eu'),
      driftPolicy: fc.constantFrom('Revert', 'Report'),
      managementPolicy: fc.constantFrom('Manage', 'Manage', 'Manage', 'Observe'),
      backup: fc.constantFrom({ frequency: 'daily', retentionDays: 7 }, { frequency: 'hourly', retentionDays: 3 }),
      deletionPolicy: fc.constantFrom('Retain', 'Suspend', 'Delete'),
    });
    const user = fc.record({ connectionSecret: fc.constantFrom({ name: 'one' }, { name: 'two' }), deletionPolicy });
    const database = fc.record({
      schema: fc.constantFrom([], [{ inline: 'define entity person;' }], [{ inline: 'define entity order;' }]),
      deletionPolicy,
    });
    // What is not in the second state is deleted.
    const state = fc
      .record({ cluster: fc.option(cluster, { freq: 8 }), user: fc.option(user), database: fc.option(database) })
      .map(
        (given): Specs => ({
          ...(given.cluster === null ? {} : { 'DatabaseCluster orders': { ...CLUSTER, ...given.cluster } }),
          ...(given.user === null ? {} : { 'DatabaseUser app': { ...ON_ORDERS, ...given.user } }),
          ...(given.database === null ? {} : { 'Database orders': { ...ON_ORDERS, ...given.database } }),
        }),
      );
    await fc.assert(
      fc.asyncProperty(state, state, async (from, wanted) => {
        // What begins while its cluster is left alone, suspended or deleted, gets as far as it gets in the time that is left.
        const lasting = Object.keys(wanted).filter((name) => name in from && name !== CLUSTER_NAME);
        const same = Object.fromEntries(lasting.map((name) => [name, from[name] ?? {}]));
        const next = wanted[CLUSTER_NAME];
        const to =
          next === undefined
            ? same
            : /Suspended|Observe/.test(JSON.stringify(next))
              ? { ...from, [CLUSTER_NAME]: next }
              : wanted;
        const deleted = Object.keys(from).filter((name) => to[name] === undefined);
        const world = await aWorld(from);
        const planned = stepsOf(await makePlan(await world.input(to, deleted), world.clock));
        const done = await world.stepsSince(() => world.apply(to, deleted));
        await world.end();
        expect(byObject(planned)).toEqual(byObject(done));
      }),
      // The same pairs each time: what fails here must fail for everybody.
      { numRuns: 60, seed: 20_261_121 },
    );
  });
});
