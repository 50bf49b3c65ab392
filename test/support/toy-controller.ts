import { API_VERSION } from '../../src/base/group.ts';
import { Pace } from '../../src/base/pace.ts';
import type { Random } from '../../src/base/random.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { ready } from '../../src/kube/summary.ts';
import { createMetrics } from '../../src/operator/metrics.ts';
import { Controller, type KeyGate } from '../../src/runtime/controller.ts';
import { Informer } from '../../src/runtime/informer.ts';
import { FakeKube, type FakeKubeOptions } from '../../src/sandbox/fake-kube.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { noChance } from './clock.ts';
import { TOYS, type ToyBehaviour, toyKind } from './toy-kind.ts';

export const READY = ready('Done', 'All is well');

const longest: Random = { float: () => 1, bytes: (count) => new Uint8Array(count) };

interface ToyWorld extends ReturnType<typeof aCluster> {
  /** Default: delays are as long as they may be. */
  readonly random?: Random;
}

export function aCluster(more: Partial<FakeKubeOptions> = {}) {
  const clock = virtualClock();
  const statusDefaults = { toys: { observedGeneration: -1 } };
  return { clock, api: new FakeKube({ now: clock.now, random: createSeededRandom(1), statusDefaults, ...more }) };
}

/** A running controller of toys, with the times at which passes looked at each toy. */
export async function aController(...given: Parameters<typeof aStandby>) {
  const { run, ...standby } = await aStandby(...given);
  return { ...standby, running: run() };
}

/** Like `aController`, but it knows all toys and does not run yet. */
export async function aStandby(
  behaviour: ToyBehaviour = {},
  concurrency = 2,
  { clock, api, random = longest }: ToyWorld = aCluster(),
  gate?: KeyGate,
) {
  const passes: { readonly name: string; readonly at: number }[] = [];
  const events: string[] = [];
  const logged: string[] = [];
  const fields: object[] = [];
  const calls: string[] = [];
  const log = (about: object, message: string) => {
    logged.push(message);
    fields.push(about);
  };
  const kind = toyKind(
    {
      ...behaviour,
      observe: async (subject) => {
        passes.push({ name: subject.metadata.name, at: clock.monotonic() });
        return behaviour.observe?.(subject);
      },
      decide: behaviour.decide ?? (() => ({ conditions: READY })),
    },
    calls,
  );
  const informer = new Informer<KubeObject>({
    api,
    resource: TOYS,
    namespaces: undefined,
    transform: (object) => object as KubeObject,
    clock,
    random: noChance,
    onFailure: () => {},
  });
  const pace = new Pace(clock);
  const metrics = createMetrics(clock, { version: '', node: '' });
  const controller = new Controller(kind, informer, {
    api,
    clock,
    random,
    log: { info: log, warn: log },
    events: { record: (_object, { reason }) => events.push(reason) },
    metrics: metrics.controller('toy', concurrency),
    concurrency,
    pace,
    gate,
  });
  const [stop, kill] = [new AbortController(), new AbortController()];
  void informer.run(stop.signal);
  await informer.synced;
  const run = () => controller.run(stop.signal, kill.signal);
  const create = async (name: string, spec: object = {}) => {
    await api.create(TOYS, 'ns', { apiVersion: API_VERSION, kind: 'Toy', metadata: { name }, spec });
    await clock.settle();
  };
  const change = async (name: string, patch: object) => {
    await api.patch(TOYS, { namespace: 'ns', name }, patch);
    await clock.settle();
  };
  /** The pauses between passes. */
  const pauses = () => passes.slice(1).map(({ at }, index) => at - (passes[index]?.at ?? 0));
  return {
    clock,
    api,
    controller,
    informer,
    passes,
    pauses,
    events,
    logged,
    fields,
    calls,
    create,
    change,
    stop,
    kill,
    run,
    metrics,
    pace,
  };
}

/** A toy whose newest generation was looked at by a process that is gone. It refers to friend x. */
export async function aSettledToy(api: FakeKube, name: string, conditions = READY, atMs = 0): Promise<void> {
  const lastTransitionTime = new Date(atMs).toISOString();
  const status = {
    observedGeneration: 1,
    conditions: conditions.map((each) => ({ ...each, observedGeneration: 1, lastTransitionTime })),
  };
  await api.create(TOYS, 'ns', { apiVersion: API_VERSION, kind: 'Toy', metadata: { name }, spec: { friend: 'x' } });
  await api.patch(TOYS, { namespace: 'ns', name }, { status }, { subresource: 'status' });
}
