import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aWorld, ON_ORDERS, SPACE, type Specs, specOf } from '../../test/support/planned-world.ts';
import { encoded } from '../../test/support/secrets.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { DATABASES } from '../kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { PAUSED } from '../kube/annotations.ts';
import { type AnyObject, SECRETS } from '../kube/api.ts';
import type { Plan } from './outcome.ts';
import { makePlan } from './plan.ts';

const stepsOf = ({ steps }: Plan) => steps.map(({ name, description }) => `${name}: ${description}`);

/** By object, as two objects need not come in the same order. What is tried again appears once. */
const byObject = (steps: readonly string[]) =>
  Object.fromEntries(
    [...Map.groupBy(steps, (step) => step.slice(0, step.indexOf(':')))].map(([name, own]) => [
      name,
      own.filter((step, index) => step !== own[index - 1]),
    ]),
  );

const CLUSTER_NAME = 'DatabaseCluster orders';

describe('makePlan()', () => {
  it('has nothing to do if everything is as declared, and changes nothing that it was given', async () => {
    const specs = {
      'DatabaseCluster orders': CLUSTER_SPEC,
      'DatabaseUser app': ON_ORDERS,
      'Database orders': ON_ORDERS,
    };
    const world = await aWorld(specs);
    const input = await world.input(specs);
    const before = JSON.stringify(input.objects);
    const plan = await makePlan(input, world.clock);
    expect(plan.steps).toEqual([]);
    expect(plan.outcomes.map(({ end }) => end?.ready)).toEqual(['True', 'True', 'True', 'True']);
    expect(JSON.stringify(input.objects)).toBe(before);
    await world.end();
  });

  it('ends when it is interrupted: a plan of thousands of objects takes a while', async () => {
    const specs = { 'DatabaseCluster orders': CLUSTER_SPEC };
    const world = await aWorld({});
    const interrupt = new AbortController();
    setImmediate(() => interrupt.abort());
    await expect(makePlan(await world.input(specs), world.clock, interrupt.signal)).rejects.toThrow('aborted');
    await world.end();
  });

  it('treats a cloud as one, however the spaces spell its address', async () => {
    const specs = {
      'DatabaseSpace again': { ...SPACE, baseURL: 'https://cloud.simulator.test/' },
      'DatabaseCluster orders': CLUSTER_SPEC,
      'DatabaseCluster more': { ...CLUSTER_SPEC, spaceRef: { name: 'again' } },
      ...Object.fromEntries(
        ['orders', 'more'].flatMap((name) => [
          [`DatabaseUser on-${name}`, { clusterRef: { name } }],
          [`Database on-${name}`, { clusterRef: { name } }],
        ]),
      ),
    };
    const world = await aWorld(specs);
    const input = await world.input(specs);
    for (const listed of [input.listed, new Map()]) {
      const plan = await makePlan({ ...input, listed }, world.clock);
      expect(stepsOf(plan)).toEqual([]);
      expect(plan.outcomes.map(({ end }) => end?.ready)).toEqual(plan.outcomes.map(() => 'True'));
    }
    await world.end();
  });

  it('weighs what destroys, interrupts and costs', async () => {
    const specs = {
      'DatabaseCluster orders': { ...CLUSTER_SPEC, deletionPolicy: 'Delete' },
      'DatabaseUser app': ON_ORDERS,
    };
    const world = await aWorld(specs);
    const plan = await makePlan(await world.input({}, ['DatabaseCluster orders']), world.clock);
    expect(plan.steps).toContainEqual({
      name: 'DatabaseCluster shop/orders',
      description: 'destroy cluster "orders" and its data',
      weight: 'destroys',
    });
    expect(plan.outcomes.find(({ name }) => name === 'DatabaseCluster shop/orders')?.end).toBeUndefined();
    const costly = await makePlan(await world.input({ 'DatabaseCluster more': CLUSTER_SPEC }), world.clock);
    expect(costly.steps.map(({ weight }) => weight)).toEqual(['costs', 'changes', 'changes', 'changes']);
    // Nobody has used the login of a new cluster, whether or not it might have been taken over.
    const adopting = { ...CLUSTER_SPEC, adoptionPolicy: 'IfExists' };
    const made = await makePlan(await world.input({ 'DatabaseCluster more': adopting }), world.clock);
    expect(made.steps.map(({ weight }) => weight)).toEqual(['costs', 'changes', 'changes', 'changes']);
    // No other login works beside it.
    expect(costly.steps[1]?.description).toBe('write a new password to the admin Secret');
    await world.end();
  });

  it('starts with what others need, and for deletions ends with it', async () => {
    const world = await aWorld({
      'DatabaseCluster legacy': CLUSTER_SPEC,
      'DatabaseUser old': { clusterRef: { name: 'legacy' } },
    });
    const wanted = {
      'Database orders': ON_ORDERS,
      'DatabaseUser app': ON_ORDERS,
      'DatabaseCluster orders': CLUSTER_SPEC,
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

  it('continues a deletion that has begun, which applying a manifest does not undo', async () => {
    const spec = { ...CLUSTER_SPEC, deletionPolicy: 'Delete', deletionProtection: true };
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

  it('continues what was paused if applying the manifest removes the annotation', async () => {
    const wanted = { 'DatabaseCluster orders': { ...CLUSTER_SPEC, storageSizeGB: 200 } };
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC });
    const ref = { namespace: 'shop', name: 'orders' };
    await world.kube.patch(DATABASE_CLUSTERS, ref, { metadata: { annotations: { [PAUSED]: 'true' } } });
    const input = await world.input(wanted);
    expect((await makePlan(input, world.clock)).steps).toEqual([]);
    const unpaused = input.objects.map((planned) => {
      if (planned.key !== 'shop/orders' || planned.wanted === undefined) return planned;
      const { annotations: _, ...metadata } = planned.wanted.metadata;
      return { ...planned, wanted: { ...planned.wanted, metadata } };
    });
    const { steps } = await makePlan({ ...input, objects: unpaused }, world.clock);
    expect(steps.map(({ description }) => description)).toEqual(['update cluster "orders": storageSizeGB']);
    await world.end();
  });

  it('says what stays when an object is deleted', async () => {
    const specs = {
      'DatabaseCluster orders': CLUSTER_SPEC,
      'DatabaseUser app': ON_ORDERS,
      'Database orders': ON_ORDERS,
    };
    const world = await aWorld(specs);
    const all = ['DatabaseCluster orders', 'DatabaseUser app', 'Database orders'];
    const stays = async (policy: object, deleted: readonly string[]) => {
      const plan = await makePlan(
        await world.input({ 'DatabaseCluster orders': { ...CLUSTER_SPEC, ...policy } }),
        world.clock,
      );
      expect(plan.outcomes.every((outcome) => outcome.stays === undefined)).toBe(true);
      await world.apply({ 'DatabaseCluster orders': { ...CLUSTER_SPEC, ...policy } });
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
    const nowhere = { ...CLUSTER_SPEC, region: 'nowhere', allowUnlisted: true };
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
    const refused = { ...CLUSTER_SPEC, clusterID: 'orders-eu', backup: { frequency: 'hourly', retentionDays: 3 } };
    const world = await aWorld({ 'DatabaseCluster orders': refused });
    const plan = await makePlan(await world.input({ 'DatabaseCluster orders': CLUSTER_SPEC }), world.clock);
    expect(plan.steps[0]?.description).toBe('deploy cluster "orders"');
    await world.end();
  });

  it('reports Secrets that are named but do not exist, or lack a key', async () => {
    const own = (name: string, key = 'password') => ({ ...ON_ORDERS, passwordSecretRef: { name, key } });
    const specs = { 'DatabaseCluster orders': CLUSTER_SPEC, 'DatabaseUser stuck': own('nope') };
    const world = await aWorld(specs);
    const data = { password: Buffer.from('of mine').toString('base64') };
    await world.kube.create(SECRETS, 'shop', { metadata: { name: 'mine' }, data });
    const wanted = {
      ...specs,
      'DatabaseUser new': own('nope'),
      'DatabaseUser keyless': own('factory-login', 'other'),
      'DatabaseUser well': own('mine'),
      'DatabaseUser wrong': own('factory-login'),
    };
    const input = await world.input(wanted);
    const endsOf = ({ outcomes }: Plan) => Object.fromEntries(outcomes.map(({ name, end }) => [name, end?.reason]));
    const plan = await makePlan(input, world.clock);
    expect(endsOf(plan)).toMatchObject({
      'DatabaseUser shop/stuck': 'SecretNotFound',
      'DatabaseUser shop/new': 'SecretNotFound',
      'DatabaseUser shop/keyless': 'SecretKeyMissing',
      'DatabaseUser shop/well': 'LoginWorks',
      'DatabaseUser shop/wrong': 'InvalidPassword',
    });
    await world.apply(wanted);
    expect(endsOf(await makePlan(await world.input(wanted), world.clock))).toEqual(endsOf(plan));
    // Nothing is known of what may not be read, so it is assumed to be as it should.
    expect(endsOf(await makePlan({ ...input, secrets: new Map() }, world.clock))).toMatchObject({
      'DatabaseUser shop/new': 'LoginWorks',
    });
    await world.end();
  });

  it("knows that a person's own password replaces the one that a user has, once", async () => {
    const specs = { 'DatabaseCluster orders': CLUSTER_SPEC, 'DatabaseUser app': ON_ORDERS };
    const world = await aWorld(specs);
    const own = (key: string) => ({
      ...specs,
      'DatabaseUser app': { ...ON_ORDERS, passwordSecretRef: { name: 'mine', key } },
    });
    const data = { one: 'first of mine', two: 'second of mine' };
    await world.kube.create(SECRETS, 'shop', { metadata: { name: 'mine' }, data: encoded(data) });
    for (const wanted of [own('one'), own('two'), specs]) {
      const plan = await makePlan(await world.input(wanted), world.clock);
      expect(plan.steps.map(({ weight }) => weight)).toContain('interrupts');
      expect(stepsOf(plan)).toEqual(await world.stepsSince(() => world.apply(wanted)));
      expect((await makePlan(await world.input(wanted), world.clock)).steps).toEqual([]);
    }
    await world.end();
  });

  it('knows from its status what becomes of a database that is deleted and is on another cluster', async () => {
    const specs = {
      'DatabaseCluster orders': CLUSTER_SPEC,
      'Database orders': { ...ON_ORDERS, deletionPolicy: 'Delete' },
    };
    const world = await aWorld(specs);
    await world.kube.patch(
      DATABASES,
      { namespace: 'shop', name: 'orders' },
      { status: { cluster: '2020-01-01T00:00:00.000Z' } },
      { subresource: 'status' },
    );
    const input = await world.input({}, ['Database orders']);
    const { outcomes, steps } = await makePlan(input, world.clock);
    const going = outcomes.find(({ name }) => name === 'Database shop/orders');
    expect([going?.end, going?.later, going?.stays]).toEqual([
      undefined,
      undefined,
      'database "orders" stays on the server',
    ]);
    expect(steps.map(({ weight }) => weight)).toEqual(['changes']);
    await world.end();
  });

  it('knows that a space whose token does not exist cannot be worked in', async () => {
    const world = await aWorld({});
    const apiTokens = [{ level: 'write', secretRef: { name: 'nope' } }];
    const { objects, ...rest } = await world.input({
      'DatabaseSpace other': { ...SPACE, baseURL: 'https://cloud.example.com', apiTokens },
      'DatabaseCluster orders': { ...CLUSTER_SPEC, spaceRef: { name: 'other' } },
    });
    const plan = await makePlan({ ...rest, objects }, world.clock);
    expect(plan.steps).toEqual([]);
    expect(plan.outcomes.map(({ name, end }) => `${name} ${end?.ready} ${end?.reason}`)).toEqual([
      'DatabaseSpace shop/other Unknown SecretNotFound',
      'DatabaseSpace shop/production True Observed',
      'DatabaseCluster shop/orders Unknown WaitingForSpace',
    ]);
    await world.end();
  });

  it('reports what is wrong now and that it cannot try, such as a token that the cloud refuses', async () => {
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC });
    const ref = { namespace: 'shop', name: 'cloud-write' };
    await world.kube.patch(SECRETS, ref, { data: { clientSecret: 'd3Jvbmc=' } });
    await world.clock.advance(10_000);
    const larger = { 'DatabaseCluster orders': { ...CLUSTER_SPEC, storageSizeGB: 200 } };
    const plan = await makePlan(await world.input(larger), world.clock);
    expect(plan.outcomes.map(({ end }) => end?.ready)).toEqual(['True', 'True']);
    expect(plan.notes).toEqual([
      expect.stringMatching(
        /^DatabaseSpace shop\/production is not Ready now, and nothing in this plan changes that: CredentialsInvalid: .*cloud-write.*\. A plan tries no login: it assumes that this is fixed first$/,
      ),
    ]);
    await world.end();
  });

  it('knows that the login of a cluster is lost with its Secret', async () => {
    const specs = { 'DatabaseCluster orders': CLUSTER_SPEC };
    const world = await aWorld(specs);
    const input = await world.input(specs);
    const secrets = new Map([...input.secrets, ['shop/orders-admin', undefined]]);
    const { outcomes } = await makePlan({ ...input, secrets }, world.clock);
    expect(outcomes.map(({ end }) => end?.reason)).toEqual(['Observed', 'AdminLoginLost']);
    await world.end();
  });

  it('knows from the labels of a namespace whether a space admits it', async () => {
    const selector = { matchLabels: { team: 'shop' } };
    const space = { ...SPACE, allowedNamespaces: { from: 'Selector', selector } };
    const world = await aWorld({ 'DatabaseCluster orders': { ...CLUSTER_SPEC, deletionPolicy: 'Delete' } });
    const { objects, ...rest } = await world.input({}, ['DatabaseCluster orders']);
    // The space is in a namespace other than that of the cluster.
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

  it('applies no schema again to a cluster that is resumed, and expects it where it was', async () => {
    const schema = [{ inline: 'define entity person;' }];
    const specs = {
      'DatabaseCluster orders': CLUSTER_SPEC,
      'DatabaseUser app': ON_ORDERS,
      'Database orders': { ...ON_ORDERS, schema },
    };
    const world = await aWorld(specs);
    await world.apply({ ...specs, 'DatabaseCluster orders': { ...CLUSTER_SPEC, state: 'Suspended' } });
    const resumed = ['DatabaseCluster shop/orders: resume cluster "orders"'];
    expect(stepsOf(await makePlan(await world.input(specs), world.clock))).toEqual(resumed);
    // The copy of the cloud would have chosen another address.
    const connection = { endpoint: 'https://orders.example.com:443', addresses: 'orders.example.com:443' };
    const app = { namespace: 'shop', name: 'app' };
    const status = { subresource: 'status' } as const;
    const before = (await world.kube.get(DATABASE_USERS, app))?.status;
    await world.kube.patch(DATABASE_USERS, app, { status: { connection } }, status);
    const planned = stepsOf(await makePlan(await world.input(specs), world.clock));
    expect(planned).toEqual(resumed);
    await world.kube.patch(DATABASE_USERS, app, { status: before }, status);
    expect(await world.stepsSince(() => world.apply(specs))).toEqual(resumed);
    await world.end();
  });

  it('is not disturbed by a database whose server is not in the copy', async () => {
    const schema = [{ inline: 'define entity person;' }];
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC, 'Database orders': { ...ON_ORDERS, schema } });
    const input = await world.input({});
    const plan = await makePlan({ ...input, listed: new Map([['shop/production', []]]) }, world.clock);
    expect(plan.outcomes.find(({ name }) => name === 'DatabaseCluster shop/orders')?.end?.reason).toBe(
      'ClusterMissing',
    );
    await world.end();
  });

  it('knows what is no longer in the way of an object that has been stalled for long', async () => {
    // It has no cluster, as it would be its own source.
    const idle = { ...CLUSTER_SPEC, clusterID: 'stock', cloneFrom: { clusterRef: { name: 'orders' } } };
    const stalled = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [`DatabaseCluster ${name}`, { ...CLUSTER_SPEC, clusterID: 'stock' }]),
    );
    const world = await aWorld({ 'DatabaseCluster orders': idle });
    await world.apply(stalled);
    const { steps } = await makePlan(await world.input({}, ['DatabaseCluster orders']), world.clock);
    expect(steps.map(({ description }) => description)).toContain('deploy cluster "stock"');
    const happened = await world.stepsSince(() => world.remove('DatabaseCluster orders'));
    expect(happened).toEqual(steps.map(({ name, description }) => `${name}: ${description}`));
    await world.end();
  });

  it('shows a plan for what cannot become Ready, with the reason', async () => {
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC });
    const plan = await makePlan(
      await world.input({ 'DatabaseCluster other': { ...CLUSTER_SPEC, clusterID: 'orders' } }),
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
          ...(given.cluster === null ? {} : { 'DatabaseCluster orders': { ...CLUSTER_SPEC, ...given.cluster } }),
          ...(given.user === null ? {} : { 'DatabaseUser app': { ...ON_ORDERS, ...given.user } }),
          ...(given.database === null ? {} : { 'Database orders': { ...ON_ORDERS, ...given.database } }),
        }),
      );
    await fc.assert(
      fc.asyncProperty(state, state, async (from, wanted) => {
        // What begins while its cluster is left alone, suspended or deleted gets as far as it can in the remaining time.
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
