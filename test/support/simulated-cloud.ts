import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Fault } from '../../src/simulator/faults/faults.ts';
import type { ClusterSnapshot, Snapshot } from '../../src/simulator/inspect.ts';
import type { Knobs } from '../../src/simulator/knobs.ts';
import type { Manifest } from './manifests.ts';
import { secret, space } from './manifests.ts';

const MOORING = fileURLToPath(new URL('../../bin/mooring', import.meta.url));

/** The output of `simulate --output=json`. */
interface Printed {
  readonly baseURL: string;
  readonly teams: readonly {
    readonly apiTokens: readonly { clientID: string; clientSecret: string; level: string; spaceID: string }[];
  }[];
  readonly defaultCredentials: { readonly username: string; readonly password: string };
}

/** `bin/mooring simulate` as a separate process: everything goes over HTTP, including what is done behind everybody's back. */
export interface SimulatedCloud {
  readonly baseURL: string;
  readonly factory: { readonly username: string; readonly password: string };
  /** Calls one of the actions of an outsider, such as `vanish`. */
  act(name: string, body: object): Promise<void>;
  /** Returns a function that ends it. */
  addFault(fault: Fault): Promise<() => Promise<void>>;
  setKnobs(knobs: Partial<Knobs>): Promise<void>;
  cluster(id: string): Promise<ClusterSnapshot | undefined>;
  /** How often an operation was requested, for one cluster or for all. */
  count(operation: string, clusterID?: string): Promise<number>;
  /** The status that a sign-in at a server gets. */
  signIn(endpoint: string, username: string, password: string): Promise<number>;
  /** A DatabaseSpace `production` for the space with that id, and its Secrets. */
  manifests(spaceID: string, spec?: Readonly<Record<string, unknown>>): readonly Manifest[];
  close(): Promise<void>;
}

/** `flags`: of `mooring simulate`; without them, nothing takes time. */
export async function startSimulatedCloud(
  spaces: readonly string[],
  flags: readonly string[] = [],
): Promise<SimulatedCloud> {
  const quick = ['provision', 'suspend', 'resume', 'destroy', 'password-check'].map((what) => `--${what}-time=0ms`);
  const args = ['simulate', '--port=0', '--output=json', `--spaces=${spaces.join()}`, ...quick, ...flags];
  const child = spawn(process.execPath, [MOORING, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8');
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'close').then(() => Promise.reject(new Error('The simulator ended before it said anything'))),
  ]);
  const { baseURL, teams, defaultCredentials: factory } = JSON.parse(String(line)) as Printed;
  const tokens = teams[0]?.apiTokens ?? [];

  const admin = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${baseURL}/_simulator/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`The simulator says to ${path}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const state = () => admin('GET', 'state') as Promise<Snapshot>;

  return {
    baseURL,
    factory,
    act: async (name, body) => void (await admin('POST', `act/${name}`, body)),
    addFault: async (fault) => {
      const { id } = (await admin('POST', 'faults', fault)) as { id: string };
      return async () => void (await admin('DELETE', `faults/${id}`));
    },
    setKnobs: async (knobs) => void (await admin('PATCH', 'knobs', knobs)),
    cluster: async (id) =>
      (await state()).teams
        .flatMap((team) => team.spaces.flatMap((each) => each.clusters))
        .find((cluster) => cluster.id === id),
    count: async (operation, clusterID) => {
      const { byCluster, byOperation } = (await admin('GET', 'counters')) as Snapshot['counters'];
      return (clusterID === undefined ? byOperation : byCluster[clusterID])?.[operation] ?? 0;
    },
    signIn: async (endpoint, username, password) => {
      const response = await fetch(`${endpoint}/v1/signin`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username, password }),
      });
      await response.text();
      return response.status;
    },
    manifests: (spaceID, spec = {}) => [
      ...tokens
        .filter((token) => token.spaceID === spaceID)
        .map(({ level, clientID, clientSecret }) => secret(`cloud-${level}`, { clientID, clientSecret })),
      secret('factory-login', factory),
      space({ baseURL }, { spaceID, ...spec }),
    ],
    close: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}

const CHANGES = ['deploy', 'clone', 'update', 'destroy', 'suspend', 'resume'];
const SERVER_CHANGES = ['createDatabase', 'deleteDatabase', 'createUser', 'updateUser', 'deleteUser'];

/** What `count` says of each operation that changes something in the cloud or on a server. */
export function countChanges(cloud: SimulatedCloud): Promise<readonly number[]> {
  return Promise.all([...CHANGES, ...SERVER_CHANGES].map((operation) => cloud.count(operation)));
}
