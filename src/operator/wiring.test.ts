import { expect, test, vi } from 'vitest';
import { cluster } from '../../test/support/manifests.ts';
import { READY } from '../../test/support/toy-controller.ts';
import { type ToyBehaviour, type ToyKind, type ToySubject, toyKind } from '../../test/support/toy-kind.ts';
import { API_VERSION } from '../base/group.ts';
import { createLog } from '../base/log.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { type AnyObject, CONFIG_MAPS, EVENTS, NAMESPACES, SECRETS } from '../kube/api.ts';
import type { KubeObject } from '../kube/object.ts';
import { Informer } from '../runtime/informer.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { createInformers } from './informers.ts';
import { createMetrics } from './metrics.ts';
import { Wiring } from './wiring.ts';

/** What the controllers of all kinds share, with an API server in memory. */
function aWiring(clock = virtualClock()) {
  const random = createSeededRandom(1);
  const statusDefaults = { toys: { observedGeneration: -1 }, dolls: { observedGeneration: -1 } };
  const api = new FakeKube({ now: clock.now, random, statusDefaults });
  const logged: string[] = [];
  const log = createLog({ level: 'warn', format: 'json', write: (line) => logged.push(line) });
  const given = { api, clock, random, log, namespaces: undefined };
  const informers = createInformers({ ...given, onWatchFailure: () => false });
  const metrics = createMetrics(clock, { version: '', node: '' });
  const wiring = new Wiring(
    {
      ...given,
      transport: () => () => Promise.reject(new Error('Nothing is asked')),
      metrics,
      concurrency: 1,
      urlPolicy: { allowHTTP: true, allowedBaseURLs: undefined, allowedNetworks: undefined },
      instance: 'a',
    },
    informers,
  );
  return { ...given, informers, wiring, metrics, logged };
}

test('Wiring makes an Event for what an object leaves behind, however often it has reported something else', async () => {
  const { api, clock, informers, wiring } = aWiring();
  const stop = new AbortController();
  void informers.clusters.run(stop.signal);
  await api.create(DATABASE_CLUSTERS, 'shop', cluster({}, {}, 'orders'));
  await clock.settle();
  const onDrift = wiring.driftCorrected('DatabaseCluster', informers.clusters);
  // Two parties change a field back and forth.
  for (let count = 0; count < 40; count++) onDrift('shop/orders', 'machineType', `Set back for the ${count}th time`);
  wiring.warn('DatabaseCluster', 'ClusterLeft', informers.clusters)('shop/orders', 'It may still be there');
  await clock.advance(1_000);
  stop.abort();
  const told = api.all(EVENTS).map(({ reason, type }) => `${type} ${reason}`);
  expect(told).toHaveLength(26);
  expect(told).toContain('Warning ClusterLeft');
});

test('Wiring says once what an object leaves behind, however often its passes end without letting it go, and again what is new', async () => {
  const { api, clock, informers, wiring, logged } = aWiring();
  const stop = new AbortController();
  void informers.clusters.run(stop.signal);
  const warn = wiring.warn('DatabaseCluster', 'ClusterLeft', informers.clusters);
  const tell = async (...messages: readonly string[]) => {
    const { metadata } = await api.create(DATABASE_CLUSTERS, 'shop', cluster({}, {}, 'orders'));
    await clock.settle();
    for (const message of messages) warn('shop/orders', message);
    await clock.advance(1_000);
    const events = api.all(EVENTS).length;
    await api.delete(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' }, { uid: metadata.uid });
    await clock.settle();
    return events;
  };
  expect(await tell('It stays', 'It stays', 'It is not shown', 'It is not shown')).toBe(2);
  expect(await tell('It is not shown')).toBe(3);
  stop.abort();
  expect(logged.map((line) => JSON.parse(line).msg)).toEqual(['It stays', 'It is not shown', 'It is not shown']);
});

test('Wiring counts drift that was reverted, even for an object that is gone, and logs which cluster was left', async () => {
  const { api, clock, informers, wiring, metrics, logged } = aWiring();
  const onDrift = wiring.driftCorrected('DatabaseCluster', informers.clusters);
  const drift = vi.spyOn(metrics, 'driftCorrected');
  onDrift('shop/gone', 'machineType', 'Set back');
  expect(drift.mock.calls).toEqual([['DatabaseCluster', 'machineType']]);
  wiring.warn('DatabaseCluster', 'ClusterLeft', informers.clusters)('shop/gone', 'It may still be there');
  await clock.settle();
  expect(api.all(EVENTS)).toEqual([]);
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { kind: 'DatabaseCluster', namespace: 'shop', name: 'gone', reason: 'ClusterLeft', msg: 'It may still be there' },
  ]);
});

test('Wiring says for which object an Event cannot be recorded', async () => {
  const { api, clock, informers, wiring, logged } = aWiring();
  const stop = new AbortController();
  void informers.clusters.run(stop.signal);
  await api.create(DATABASE_CLUSTERS, 'shop', cluster({}, {}, 'orders'));
  await clock.settle();
  api.create = () => Promise.reject(new Error('No room'));
  wiring.driftCorrected('DatabaseCluster', informers.clusters)('shop/orders', 'machineType', 'Set back');
  await clock.settle();
  stop.abort();
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    {
      kind: 'DatabaseCluster',
      namespace: 'shop',
      name: 'orders',
      err: { message: 'No room' },
      msg: 'Cannot record an event: No room',
    },
  ]);
});

test('Wiring makes all kinds look at what refers to an object when its spec or its conditions change', () => {
  const { wiring } = aWiring();
  const handlers: Parameters<Informer<KubeObject>['onChange']>[0][] = [];
  const source = { onChange: (handler: (typeof handlers)[0]) => handlers.push(handler) };
  const controllers = [toyKind({}, []), dollKind({})].map((kind) =>
    wiring.controllerOf(kind, source as unknown as Informer<KubeObject>, undefined),
  );
  const told = controllers.map((controller) => vi.spyOn(controller, 'enqueueDependents').mockReturnValue(undefined));
  const toy = (generation: number, reason: string, size: number): KubeObject => ({
    apiVersion: API_VERSION,
    kind: 'Toy',
    metadata: { namespace: 'ns', name: 'a', uid: 'u', resourceVersion: '1', generation },
    spec: {},
    status: {
      size,
      conditions: READY.map((ready) => ({ ...ready, reason, lastTransitionTime: '2026-11-20T12:00:00Z' })),
    },
  });
  const held = (object: KubeObject) => ({
    ...object,
    metadata: { ...object.metadata, finalizers: ['mooring.dev/toy'] },
  });
  const changes = [
    [toy(1, 'Done', 1), toy(1, 'Done', 2)],
    [toy(1, 'Done', 2), toy(1, 'Painted', 2)],
    [toy(1, 'Painted', 2), toy(2, 'Painted', 2)],
    [toy(2, 'Painted', 2), held(toy(2, 'Painted', 2))],
  ] as const;
  const counts = changes.map(([before, after]) => {
    // The last handler is that of the dolls.
    handlers.at(-1)?.('ns/a', before, after);
    return told.map(({ mock }) => mock.calls.length);
  });
  expect(counts).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
    [2, 2],
  ]);
  expect(told[0]?.mock.calls[0]).toEqual(['dolls/ns/a', 'normal']);
});

test('Wiring notifies the others whom an object concerned before, and those whom it concerns now, only of changes', () => {
  const { wiring } = aWiring();
  const handlers: Parameters<Informer<KubeObject>['onChange']>[0][] = [];
  const source = { onChange: (handler: (typeof handlers)[0]) => handlers.push(handler) };
  // Only the object itself wants the name "own".
  const dependents = (reference: string) => (reference === 'names/own' ? ['ns/a'] : ['ns/a', 'ns/b']);
  wiring.notifyConcerned(source as unknown as Informer<KubeObject>, { dependents }, (object) =>
    object === undefined ? [] : [`names/${object.metadata.labels?.['name']}`, 'names/all'],
  );
  const notify = vi.spyOn(wiring, 'notify');
  const named = (name: string, reason = 'Done'): KubeObject => ({
    apiVersion: API_VERSION,
    kind: 'Toy',
    metadata: { namespace: 'ns', name: 'a', uid: 'u', resourceVersion: name, labels: { name } },
    spec: {},
    status: { conditions: READY.map((ready) => ({ ...ready, reason, lastTransitionTime: '2026-11-20T12:00:00Z' })) },
  });
  const told = (before: KubeObject, after: KubeObject) => {
    notify.mockClear();
    for (const handler of handlers) handler('ns/a', before, after);
    return notify.mock.calls.map(([reference]) => reference);
  };
  expect(told(named('one'), named('two'))).toEqual(['names/one', 'names/all', 'names/two']);
  expect(told(named('two'), named('two'))).toEqual([]);
  expect(told(named('two'), named('two', 'Refused'))).toEqual(['names/two', 'names/all']);
  expect(told(named('own'), named('own', 'Refused'))).toEqual(['names/all']);
});

test('Wiring makes readers of a Secret or a ConfigMap look soon when it changes', async () => {
  const { api, clock, informers, wiring } = aWiring();
  const stop = new AbortController();
  wiring.notifyReaders();
  const notify = vi.spyOn(wiring, 'notify');
  if (!(informers.secrets instanceof Informer)) expect.unreachable();
  else void informers.secrets.run(stop.signal);
  void informers.configMaps.run(stop.signal);
  await api.create(SECRETS, 'shop', { metadata: { name: 'login' } });
  await api.create(CONFIG_MAPS, 'shop', { metadata: { name: 'schema' } });
  await clock.settle();
  await api.patch(SECRETS, { namespace: 'shop', name: 'login' }, { data: { password: 'b' } });
  await clock.settle();
  stop.abort();
  expect(notify.mock.calls.toSorted()).toEqual([
    ['configmaps/shop/schema', 'high'],
    ['secrets/shop/login', 'high'],
    ['secrets/shop/login', 'high'],
  ]);
});

test('Wiring reads the labels of a namespace, which may have none, or be gone', async () => {
  const { api, wiring } = aWiring();
  const asked: unknown[] = [];
  const { signal } = new AbortController();
  const answers: (AnyObject | undefined)[] = [
    { metadata: { name: 'shop', uid: 'u', resourceVersion: '1', labels: { team: 'one' } } },
    { metadata: { name: 'shop', uid: 'u', resourceVersion: '1' } },
    undefined,
  ];
  api.get = async (...given) => {
    asked.push(given);
    return answers.shift() as never;
  };
  const labels = [];
  for (let time = 0; time < 3; time++) labels.push(await wiring.namespaceLabels('shop', signal));
  expect(labels).toEqual([{ team: 'one' }, {}, undefined]);
  expect(asked[0]).toEqual([NAMESPACES, { name: 'shop' }, signal]);
});

test('Wiring makes a crowd of one kind give way, after each answer, to what a person changed of another kind', async () => {
  const clock = virtualClock();
  let looks = 0;
  // The clock moves on a little at each look.
  const { api, random, wiring } = aWiring({ ...clock, monotonic: () => clock.monotonic() + ++looks / 20 });
  const passes: string[] = [];
  const stop = new AbortController();
  const begin = async (kind: ToyKind) => {
    const transform = (object: AnyObject) => object as KubeObject;
    const informer = new Informer<KubeObject>({
      api,
      clock,
      random,
      resource: kind.resource,
      namespaces: undefined,
      transform,
      onFailure: () => {},
    });
    const controller = wiring.controllerOf(kind, informer, undefined);
    void informer.run(stop.signal);
    await informer.synced;
    void controller.run(stop.signal, stop.signal);
    await clock.settle();
  };
  const create = ({ resource }: ToyKind, name: string) =>
    api.create(resource, 'ns', { apiVersion: API_VERSION, kind: resource.kind, metadata: { name }, spec: {} });
  const observe = async ({ metadata: { name } }: ToySubject) => void passes.push(name);
  const crowd = toyKind({ observe, decide: () => ({ conditions: READY }) }, []);
  const doll = Promise.withResolvers<void>();
  const urgent = dollKind({
    observe: async () => {
      for (let answer = 0; answer < 10; answer++) await new Promise((resolve) => setImmediate(resolve));
      doll.resolve();
    },
  });
  for (let index = 0; index < 500; index++) await create(crowd, `toy-${index}`);
  await begin(urgent);
  await begin(crowd);
  const before = passes.length;
  await create(urgent, 'doll');
  await doll.promise;
  stop.abort();
  expect([before > 0, passes.length < 500]).toEqual([true, true]);
  // About one for each answer. If the kinds did not pause together, it would be all that fits between two answers.
  expect(passes.length - before).toBeLessThanOrEqual(15);
});

/** Like the kind of toys, but a different kind. */
function dollKind(behaviour: ToyBehaviour): ToyKind {
  const names = { kind: 'Doll', plural: 'dolls' };
  const kind = toyKind(behaviour, []);
  return {
    ...kind,
    resource: { ...kind.resource, ...names },
    definition: { ...kind.definition, ...names, singular: 'doll' },
  };
}
