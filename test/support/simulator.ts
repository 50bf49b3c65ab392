import { HttpError, type HttpRequest, readText } from '../../src/base/transport.ts';
import type { Level } from '../../src/simulator/cloud/state.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/interface.ts';
import type { Knobs } from '../../src/simulator/knobs.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { type ManualClock, manualClock } from './clock.ts';

export interface Reply {
  /** 0 if there was no answer; `failure` says how it ended. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly failure: HttpError['kind'] | undefined;
  /** The text as JSON. */
  json(): Record<string, unknown>;
}

export interface SendOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string;
  readonly signal?: AbortSignal;
}

export type Send = (method: string, path: string, options?: SendOptions) => Promise<Reply>;

/** Plain HTTP to a base URL, as any client would see it. */
export function sender(transport: Simulator['transport'], baseURL: string): Send {
  return async (method, path, options = {}) => {
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const headers = {
      ...(body === undefined || body === '' ? {} : { 'content-type': 'application/json' }),
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...options.headers,
    };
    try {
      const response = await transport({
        method: method as HttpRequest['method'],
        url: `${baseURL}${path}`,
        headers,
        ...(body === undefined ? {} : { body }),
        signal: options.signal,
      });
      return reply(response.status, response.headers, await readText(response, 100_000_000), undefined);
    } catch (error) {
      if (error instanceof HttpError) return reply(0, {}, '', error.kind);
      throw error;
    }
  };
}

function reply(status: number, headers: Reply['headers'], text: string, failure: HttpError['kind'] | undefined): Reply {
  return { status, headers, text, failure, json: () => JSON.parse(text) as Record<string, unknown> };
}

/** Lets everything happen that needs no time. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

export interface CloudBench {
  readonly simulator: Simulator;
  readonly clock: ManualClock;
  readonly send: Send;
  /** A new access token on the space `production`. */
  token(level: Level): Promise<string>;
}

export const CLUSTERS = '/api/v1/team/acme/spaces/production/clusters';

export const DEPLOY = {
  id: 'orders',
  serverCount: 1,
  storageSizeGB: 100,
  provider: 'gcp',
  isFree: false,
  region: 'europe-west2',
  machineType: 'c2d-highcpu-4',
  storageType: 'standard-rwo',
  version: '3.5.0',
  backupConfiguration: { frequency: 'daily', retentionDays: 7 },
} as const;

/** A deploy that the rules of free clusters allow. */
export const DEPLOY_FREE = {
  ...DEPLOY,
  id: 'free',
  isFree: true,
  storageSizeGB: 10,
  machineType: 'c2d-highcpu-2',
  backupConfiguration: { frequency: 'disabled', retentionDays: 7 },
} as const;

export function cloudBench(
  options: Partial<Omit<SimulatorOptions, 'clock' | 'random'>> = {},
  clock: ManualClock = manualClock(),
): CloudBench {
  const simulator = createSimulator({ clock, random: createSeededRandom(1), ...options });
  const send = sender(simulator.transport, simulator.baseURL);
  return {
    simulator,
    clock,
    send,
    token: async (level) => {
      const authorization = `Basic ${level}-id:${level}-secret-0123456789`;
      return (await send('POST', '/api/v1/auth', { headers: { authorization } })).text;
    },
  };
}

export interface ServerBench {
  readonly simulator: Simulator;
  readonly clock: ManualClock;
  readonly send: Send;
  /** The token of the default user. */
  readonly token: string;
  signIn(username: string, password: string): Promise<Reply>;
  /** Runs a one-shot query on database `main`, and commits. */
  query(type: 'read' | 'write' | 'schema', query: string): Promise<Reply>;
}

/** The server of a running cluster `orders`, with a database `main`, signed in. */
export async function serverBench(dialect: Dialect = 'document', knobs: Partial<Knobs> = {}): Promise<ServerBench> {
  const { simulator, clock } = cloudBench({ dialect, knobs });
  simulator.deployForeign({ id: 'orders' });
  simulator.createDatabase('orders', 'main');
  const send = sender(simulator.transport, `https://${addressOf(simulator, 'orders')}`);
  const signIn = (username: string, password: string) => send('POST', '/v1/signin', { body: { username, password } });
  const token = String((await signIn('admin', 'password')).json()['token']);
  return {
    simulator,
    clock,
    send,
    token,
    signIn,
    query: (transactionType, query) =>
      send('POST', '/v1/query', {
        token,
        body: { databaseName: 'main', transactionType, query, commit: transactionType !== 'read' },
      }),
  };
}

export function addressOf(simulator: Simulator, clusterID: string, index = 0): string {
  return clusterNamed(simulator, clusterID)?.servers[index]?.address ?? 'nowhere.test:1';
}

/** All clusters in the cloud, of whichever space. */
export function clustersIn(simulator: Pick<Simulator, 'inspect'>) {
  return simulator.inspect().teams.flatMap(({ spaces }) => spaces.flatMap(({ clusters }) => clusters));
}

export function clusterNamed(simulator: Pick<Simulator, 'inspect'>, clusterID: string) {
  return clustersIn(simulator).find(({ id }) => id === clusterID);
}

/** Makes the cloud show the cluster with an invalid size, until the returned function is called. */
export function makeUnreadable(simulator: Simulator, id: string): () => void {
  const cluster = [...simulator.clusters()].find((each) => each.id === id);
  if (cluster === undefined) throw new Error(`There is no cluster ${id}`);
  const { storageSizeGB } = cluster;
  Object.assign(cluster, { storageSizeGB: 'much', rendered: undefined });
  return () => {
    Object.assign(cluster, { storageSizeGB, rendered: undefined });
  };
}
