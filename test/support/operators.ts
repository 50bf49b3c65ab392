import { onTestFinished } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import type { HttpRequest, HttpResponse } from '../../src/base/transport.ts';
import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../../src/kinds/databasespace/resource.ts';
import { type AnyObject, EVENTS, type KubeApi, SECRETS } from '../../src/kube/api.ts';
import { type Condition, findStatusCondition } from '../../src/kube/condition.ts';
import { createMetrics } from '../../src/operator/metrics.ts';
import { createOperator } from '../../src/operator.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator, createTeam, DEFAULT_CREDENTIALS } from '../../src/simulator/simulator.ts';
import { cluster, space } from './manifests.ts';
import { processClock } from './process-clock.ts';
import { encoded } from './secrets.ts';

const PLURALS = ['databasespaces', 'databaseclusters', 'databaseusers', 'databases'];

interface WorldOptions {
  /** Number of spaces in the cloud, named `space-0` and so on. */
  readonly count: number;
  /** For how many of them a DatabaseSpace and a DatabaseCluster exist from the start. Default: all. */
  readonly initially?: number;
  /** Default: true. False: one leads, and the others stand by. */
  readonly shardBySpace?: boolean;
}

/** Flags of a process. */
interface ReplicaOptions {
  readonly allowHTTP?: boolean;
  readonly secrets?: 'watch' | 'get' | undefined;
}

/** What happens to a request to the cloud or a server; `go` carries it out. */
type Fault = (request: HttpRequest, go: () => Promise<HttpResponse>) => Promise<HttpResponse>;

/** The condition Ready in the status of an object of any kind of ours; undefined: there is none, or no object. */
export function readyIn(object: AnyObject | undefined): Condition | undefined {
  const { conditions } = (object?.status ?? {}) as { readonly conditions?: readonly Condition[] };
  return findStatusCondition(conditions, 'Ready');
}

/** Some spaces with a cluster each in namespace `shop`, and any number of operators, which share them or lead one after the other. */
export async function aWorldOfOperators({ count, initially = count, shardBySpace = true }: WorldOptions) {
  const names = Array.from({ length: count }, (_, index) => `space-${index}`);
  const clock = virtualClock();
  const statusDefaults = Object.fromEntries(PLURALS.map((plural) => [plural, { observedGeneration: -1 }]));
  const kube = new FakeKube({ now: clock.now, random: createSeededRandom(1), statusDefaults });
  const simulator = createSimulator({
    clock,
    random: createSeededRandom(2),
    teams: [createTeam('acme', names, true)],
    knobs: { provisionMs: [5_000, 5_000] },
  });
  /** Who asked the cloud about which space, in order. */
  const calls: { readonly at: number; readonly replica: number; readonly space: string; readonly method: string }[] =
    [];
  const writes: { readonly at: number; readonly replica: number; readonly what: string }[] = [];
  const network: { fault: Fault | undefined } = { fault: undefined };
  const secret = (name: string, data: Readonly<Record<string, string>>) =>
    kube.create(SECRETS, 'shop', {
      metadata: { name },
      data: encoded(data),
    });
  const addSpace = async (index: number, more: object = {}) => {
    const name = `space-${index}`;
    const token = index === 0 ? 'admin' : `${name}-admin`;
    await secret(`token-${name}`, { clientID: `${token}-id`, clientSecret: `${token}-secret-0123456789` });
    const spec = {
      spaceID: name,
      apiTokens: [{ level: 'admin', secretRef: { name: `token-${name}` } }],
      serverURL: 'https://{host}:{port}',
      pollInterval: '30s',
      ...more,
    };
    await kube.create(DATABASE_SPACES, 'shop', { ...space({ baseURL: simulator.baseURL }, spec), metadata: { name } });
  };
  const addCluster = (index: number, name = `orders-${index}`, spec: object = {}) =>
    kube.create(DATABASE_CLUSTERS, 'shop', cluster({ spaceRef: { name: `space-${index}` }, ...spec }, {}, name));
  await secret('factory-login', { ...DEFAULT_CREDENTIALS });
  for (let index = 0; index < initially; index++) {
    await addSpace(index);
    await addCluster(index);
  }

  let born = 0;
  const replica = ({ allowHTTP = false, secrets }: ReplicaOptions = {}) => {
    const number = born++;
    const own = processClock(clock);
    const reach = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
      await own.running();
      if (!what.startsWith('get') && !what.endsWith('leases') && !what.endsWith('events'))
        writes.push({ at: clock.monotonic(), replica: number, what });
      const answer = await call();
      await own.running();
      return answer;
    };
    const api: KubeApi = {
      get: (resource, ref) => reach('get', () => kube.get(resource, ref)),
      list: (resource, options) => reach('get', () => kube.list(resource, options)),
      watch: (...args) => kube.watch(...args),
      create: (resource, namespace, object) =>
        reach(`create ${resource.plural}`, () => kube.create(resource, namespace, object)),
      patch: (resource, ref, patch, options) =>
        reach(`patch ${resource.plural}`, () => kube.patch(resource, ref, patch, options)),
      delete: (resource, ref, preconditions) =>
        reach(`delete ${resource.plural}`, () => kube.delete(resource, ref, preconditions)),
    };
    const logged: string[] = [];
    const metrics = createMetrics(own, { version: '', node: '' });
    const operator = createOperator({
      api,
      clock: own,
      random: createSeededRandom(100 + number),
      transport: () => async (request) => {
        await own.running();
        const [, asked] = /\/spaces\/(space-\d+)\//.exec(request.url) ?? [];
        if (asked !== undefined)
          calls.push({ at: clock.monotonic(), replica: number, space: asked, method: request.method });
        const go = () => simulator.transport(request);
        const response = await (network.fault?.(request, go) ?? go());
        await own.running();
        return response;
      },
      log: createLog({ level: 'info', format: 'json', write: (line) => logged.push(line) }),
      metrics,
      namespaces: undefined,
      concurrency: 4,
      urlPolicy: { allowHTTP, allowedBaseURLs: undefined, allowedNetworks: undefined },
      secrets,
      instance: `replica-${number}`,
      lease: { namespace: 'system', name: 'mooring', shardBySpace },
    });
    const stop = new AbortController();
    const state: { ended?: unknown } = {};
    operator.run(stop.signal).then(
      () => {
        state.ended = 'well';
      },
      (error: unknown) => {
        state.ended = error;
      },
    );
    onTestFinished(() => stop.abort());
    return { number, clock: own, stop, state, operator, logged, metrics };
  };
  /** The condition Ready of each cluster, as `True Running`. */
  const readiness = () =>
    kube.all(DATABASE_CLUSTERS).map((object) => {
      const ready = readyIn(object);
      return `${ready?.status} ${ready?.reason}`;
    });
  const isReady = () => readiness().every((text) => text.startsWith('True'));
  /** Who asked about each space within the last two minutes. */
  const owners = () => {
    const since = clock.monotonic() - 120_000;
    const recent = (name: string) => calls.filter((call) => call.space === name && call.at >= since);
    return new Map(names.map((name) => [name, [...new Set(recent(name).map((call) => call.replica))]]));
  };
  const unwell = () => kube.all(EVENTS).filter((event) => event['type'] === 'Warning');
  return {
    clock,
    kube,
    simulator,
    names,
    calls,
    writes,
    network,
    replica,
    addSpace,
    addCluster,
    readiness,
    isReady,
    owners,
    unwell,
  };
}
