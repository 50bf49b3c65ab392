import { API_VERSION } from '../../src/base/group.ts';
import { createLog } from '../../src/base/log.ts';
import type { HttpRequest, HttpTransport } from '../../src/base/transport.ts';
import { type Resource, SECRETS } from '../../src/kube/api.ts';
import { createMetrics } from '../../src/operator/metrics.ts';
import { createOperator } from '../../src/operator.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator, createTeam } from '../../src/simulator/simulator.ts';
import { encoded } from '../support/secrets.ts';
import { CLUSTERS, KINDS, NAMESPACE, SPACES, statusOf } from './view.ts';

/** One request to the management API, as the cloud saw it. */
export interface Asked {
  /** When, by the monotonic clock in milliseconds. */
  readonly at: number;
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly space: string;
  /** The id of the cluster to deploy; '' for all other requests. */
  readonly deploys: string;
  /** The status code; 0 without an answer. */
  readonly status: number;
}

/** Answers requests to the management API, or to a server, or passes them on. */
export type Front = (request: HttpRequest, pass: HttpTransport) => ReturnType<HttpTransport>;

const LEVELS = ['write', 'admin'] as const;
const KNOBS = { provisionMs: [5_000, 5_000], latencyMs: [10, 10] } as const;

/**
 * An operator with default settings, many spaces and many clusters. `front` answers requests to the cloud first; to servers,
 * `setting.atServers` does. `others` are
 * spaces that exist in the cloud but have no object yet.
 */
export async function aCrowd(
  spaces: readonly string[],
  pollInterval = '60s',
  front: Front = (request, pass) => pass(request),
  others: readonly string[] = [],
) {
  const clock = virtualClock();
  const team = createTeam('acme', [...spaces, ...others], true);
  const simulator = createSimulator({
    clock,
    random: createSeededRandom(1),
    teams: [team],
    knobs: KNOBS,
  });
  const statusDefaults = Object.fromEntries(KINDS.map(({ plural }) => [plural, { observedGeneration: -1 }]));
  const kube = new FakeKube({ now: clock.now, random: createSeededRandom(2), statusDefaults });
  const asked: Asked[] = [];
  const setting: { front: Front; atServers: Front } = { front, atServers: (request, pass) => pass(request) };
  const cloud = new URL(simulator.baseURL).origin;
  const transport: HttpTransport = async (request) => {
    const { origin, pathname } = new URL(request.url);
    if (origin !== cloud) return setting.atServers(request, simulator.transport);
    const note = (status: number) =>
      asked.push({
        at: clock.monotonic(),
        method: request.method,
        path: pathname,
        space: /\/spaces\/([^/]+)\//.exec(pathname)?.[1] ?? '',
        deploys: pathname.endsWith('/deploy') ? String(JSON.parse(request.body ?? '').id) : '',
        status,
      });
    try {
      const answer = await setting.front(request, simulator.transport);
      note(answer.status);
      return answer;
    } catch (error) {
      note(0);
      throw error;
    }
  };
  const operator = createOperator({
    api: kube,
    clock,
    random: createSeededRandom(3),
    transport: () => transport,
    log: createLog({ level: 'error', format: 'json', write: () => {} }),
    metrics: createMetrics(clock, { version: '', node: '' }),
    namespaces: undefined,
    concurrency: 10,
    urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
    instance: 'operator',
    lease: undefined,
  });

  const create = (resource: Resource, name: string, spec: object) =>
    kube.create(resource, NAMESPACE, { apiVersion: API_VERSION, kind: resource.kind, metadata: { name }, spec });
  const secret = async (name: string, data: Readonly<Record<string, string>>) => {
    await kube.create(SECRETS, NAMESPACE, { metadata: { name }, data: encoded(data) });
  };
  await secret('factory-login', { username: 'admin', password: 'password' });
  for (const { clientID, clientSecret } of team.apiTokens) await secret(clientID, { clientID, clientSecret });
  const createSpace = async (spaceID: string) => {
    const tokens = team.apiTokens.filter(
      (token) => token.spaceID === spaceID && LEVELS.some((level) => level === token.level),
    );
    await create(SPACES, spaceID, {
      baseURL: simulator.baseURL,
      teamID: 'acme',
      spaceID,
      apiTokens: tokens.map(({ level, clientID }) => ({ level, secretRef: { name: clientID } })),
      defaultCredentialsSecretRef: { name: 'factory-login' },
      pollInterval,
      verifyInterval: '0s',
    });
  };
  for (const spaceID of spaces) await createSpace(spaceID);
  const stop = new AbortController();
  const find = (resource: Resource, name: string) =>
    kube.all(resource, NAMESPACE).find(({ metadata }) => metadata.name === name);
  const readyOf = (resource: Resource, name: string) => {
    const conditions = statusOf(find(resource, name)).conditions ?? [];
    return conditions.find(({ type }) => type === 'Ready');
  };
  return {
    clock,
    simulator,
    kube,
    asked,
    setting,
    createSpace,
    createCluster: (name: string, space: string) =>
      create(CLUSTERS, name, {
        spaceRef: { name: space },
        provider: 'gcp',
        region: 'europe-west2',
        machineType: 'c2d-highcpu-4',
        storageSizeGB: 100,
        version: '3.5.0',
      }),
    create,
    readyOf,
    isReady: (name: string) => readyOf(CLUSTERS, name)?.status === 'True',
    find,
    start: () => operator.run(stop.signal),
    stop: () => stop.abort(),
  };
}
