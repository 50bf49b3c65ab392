import type { Clock } from '../base/clock.ts';
import { HttpError, type HttpTransport } from '../base/transport.ts';
import type { Cluster } from '../cloud/schema.ts';
import { identityOf } from '../kinds/databasecluster/identity.ts';
import { isSamePlace, placeOf } from '../kinds/databasespace/place.ts';
import type { Login } from '../kinds/secrets.ts';
import { type ObjectKey, objectKey } from '../kube/object.ts';
import { CLUSTER_STATUSES, type ClusterStatus } from '../simulator/cloud/state.ts';
import type { Simulator } from '../simulator/interface.ts';
import type { SavedCluster } from '../simulator/saved-state.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { hashPassword } from '../simulator/server/state.ts';
import { createSimulator, createTeam, DEFAULT_VERSIONS } from '../simulator/simulator.ts';
import {
  ADMIN_USERNAME,
  type Admin,
  type Contents,
  contentsOf,
  type Dependents,
  dependentsIn,
  ownerOf,
} from './contents.ts';
import {
  clustersOf,
  type PlannedCluster,
  type PlannedObject,
  type PlannedSpace,
  referred,
  spacesOf,
} from './objects.ts';
import { isOnLoopback } from './policy.ts';
import type { CopiedSchemas } from './schemas.ts';
import type { SeenSecrets } from './secrets.ts';

/* Copies of the spaces' clouds, for the operator to run against: one simulator per cloud, however its address is spelled. */

/** Logins that work in the copies and nowhere else. */
export const SANDBOX_LOGIN = { username: ADMIN_USERNAME, password: 'sandbox-admin' } as const;
export const SANDBOX_PASSWORD = 'sandbox-password';
/** A password that a person chose and the user does not have yet. */
export const OTHER_PASSWORD = 'sandbox-other-password';
export const FACTORY_LOGIN = { username: ADMIN_USERNAME, password: 'sandbox-factory' } as const;
/** The login of a cluster that had one before it became ours. */
export const EXISTING_LOGIN = { username: ADMIN_USERNAME, password: 'sandbox-existing' } as const;

const ADMIN_LOGINS: Readonly<Record<Admin, Login>> = {
  own: SANDBOX_LOGIN,
  existing: EXISTING_LOGIN,
  factory: FACTORY_LOGIN,
  none: { username: ADMIN_USERNAME, password: 'sandbox-lost' },
};

/** Short, so that the plan is ready soon, but not zero, so that waiting shows. */
const SOON = [200, 400] as const;

export interface Clouds {
  readonly transport: HttpTransport;
  /** The API token of each level for a space. */
  token(spaceKey: ObjectKey, level: string): { readonly clientID: string; readonly clientSecret: string };
  /** What is on the server of a DatabaseCluster's cluster; undefined: no server was copied. */
  server(clusterKey: ObjectKey): CopiedServer | undefined;
  /** Gives a user of the DatabaseCluster's server another password, if it is there. */
  setPassword(clusterKey: ObjectKey, username: string, password: string): void;
}

export interface CopiedServer extends Contents {
  readonly clusterID: string;
  readonly space: PlannedSpace;
}

interface Given {
  readonly objects: readonly PlannedObject[];
  /** What the cloud itself lists for a space, if it could be asked. */
  readonly listed: ReadonlyMap<ObjectKey, readonly Cluster[]>;
  readonly secrets: SeenSecrets;
  readonly schemas: CopiedSchemas;
}

/** With the objects by what they refer to. */
interface Read extends Given {
  readonly clusters: ReadonlyMap<ObjectKey, readonly PlannedCluster[]>;
  readonly dependents: Dependents;
}

export function copyClouds(given: Given, clock: Clock): Clouds {
  const spaces = spacesOf(given.objects);
  const read = {
    ...given,
    clusters: Map.groupBy(clustersOf(given.objects), ({ spec, metadata }) => referred(spec.spaceRef, metadata)),
    dependents: dependentsIn(given.objects),
  };
  const servers = new Map<ObjectKey, CopiedServer>();
  const simulators = [...Map.groupBy(spaces, cloudOf)].map(
    ([baseURL, sharing]) => [baseURL, simulatorFor(sharing, read, servers, clock)] as const,
  );
  const bySpace = new Map(spaces.map((space) => [space.object.key, space]));
  return {
    transport: routed(simulators, spaces),
    token(spaceKey, level) {
      const space = bySpace.get(spaceKey);
      const simulator = simulators.find(([baseURL]) => space !== undefined && baseURL === cloudOf(space))?.[1];
      const team = simulator?.teams.find(({ id }) => id === space?.spec.teamID);
      const found = team?.apiTokens.find((token) => token.level === level && token.spaceID === space?.spec.spaceID);
      return found ?? { clientID: 'none', clientSecret: 'none' };
    },
    server: (clusterKey) => servers.get(clusterKey),
    setPassword(clusterKey, username, password) {
      const { clusterID, space, users = [] } = servers.get(clusterKey) ?? {};
      if (clusterID === undefined || space === undefined || !users.includes(username)) return;
      const simulator = simulators.find(([baseURL]) => baseURL === cloudOf(space))?.[1];
      const { teamID, spaceID } = space.spec;
      simulator?.setPassword({ teamID, spaceID, clusterID }, username, password);
    },
  };
}

/** Adds the contents of the servers to `servers`. */
function simulatorFor(
  spaces: readonly PlannedSpace[],
  read: Read,
  servers: Map<ObjectKey, CopiedServer>,
  clock: Clock,
): Simulator {
  const teams = [...Map.groupBy(spaces, ({ spec }) => spec.teamID)].map(([teamID, ofTeam], index) => {
    const { apiTokens, ...team } = createTeam(teamID, [...new Set(ofTeam.map(({ spec }) => spec.spaceID))], true);
    const tokens = apiTokens.map((token) => ({
      ...token,
      // The id alone tells whose it is.
      clientID: `${index}-${token.clientID}`,
      alsoFor: sharing(ofTeam, token.spaceID),
    }));
    return { ...team, apiTokens: tokens };
  });
  const versions = spaces.flatMap(({ status }) => status.availableVersions ?? []);
  const clusters = new Map<string, SavedCluster>();
  for (const space of spaces) {
    for (const cluster of clustersIn(space, spaces, read, servers, clock.now())) {
      clusters.set([cluster.teamID, cluster.spaceID, cluster.id].join('/'), cluster);
    }
  }
  return createSimulator({
    clock,
    random: createSeededRandom(1),
    teams,
    defaultCredentials: FACTORY_LOGIN,
    // Addresses that no server has: a Secret made for one that is gone must not be right for a new one by chance. If the cloud is on
    // loopback, so are its servers: the operator has other rules for those.
    addressOf: spaces.some(({ spec }) => isOnLoopback(spec.baseURL))
      ? (count) => `127.0.0.1:${count}`
      : (count) => `server-${count}.plan.invalid:8000`,
    availableVersions: versions.length === 0 ? DEFAULT_VERSIONS : [...new Set(versions)],
    knobs: {
      provisionMs: SOON,
      suspendMs: SOON,
      resumeMs: SOON,
      destroyMs: SOON,
      serverLagMs: [0, 0],
      latencyMs: [0, 0],
      passwordCheckMs: 0,
      levelsNest: true,
    },
    state: {
      format: 'mooring-simulator-1',
      lastCreatedAt: clock.now(),
      teams: teams.map(({ id }) => ({ id, paymentMethod: true })),
      clusters: [...clusters.values()],
    },
  });
}

/** The ids of the spaces that name a Secret with a token of this one: nobody knows for which of them it is. */
function sharing(spaces: readonly PlannedSpace[], spaceID: string): readonly string[] {
  const named = new Set(spaces.filter(({ spec }) => spec.spaceID === spaceID).flatMap(tokenSecretsOf));
  return spaces.filter((space) => tokenSecretsOf(space).some((key) => named.has(key))).map(({ spec }) => spec.spaceID);
}

function tokenSecretsOf({ metadata, next }: PlannedSpace): readonly ObjectKey[] {
  return next.apiTokens.map(({ secretRef }) => objectKey(metadata.namespace ?? '', secretRef.name));
}

function clustersIn(
  space: PlannedSpace,
  ofCloud: readonly PlannedSpace[],
  { listed, clusters, dependents, secrets, schemas }: Read,
  servers: Map<ObjectKey, CopiedServer>,
  nowMs: number,
): readonly SavedCluster[] {
  // Several DatabaseSpaces may stand for one space of the cloud.
  const place = placeOf(space.spec);
  const same = ofCloud.filter(({ spec }) => isSamePlace(placeOf(spec), place));
  const ofSpace = same.flatMap(({ object }) => clusters.get(object.key) ?? []);
  // What was listed through one of them counts for all.
  const lists = [space, ...same].map(({ object }) => listed.get(object.key));
  const found = lists.find((list) => list !== undefined) ?? [...ofSpace.flatMap(asSeen), ...unmanagedIn(space)];
  return found.map((cluster) => {
    const owner = ownerOf(cluster, ofSpace);
    const contents = owner === undefined ? EMPTY : contentsOf(cluster, owner, dependents, secrets);
    const login = ADMIN_LOGINS[contents.admin];
    if (owner !== undefined) {
      servers.set(owner.object.key, { ...contents, clusterID: cluster.id, space });
    }
    const addresses = addressesOf(cluster, owner, dependents);
    return saved(cluster, space, owner, { ...contents, login, schemas, addresses }, nowMs);
  });
}

/** A cluster that is suspended shows no servers. They are expected to be, once it is resumed, where its users have found them. */
function addressesOf(cluster: Cluster, owner: PlannedCluster | undefined, { users }: Dependents): readonly string[] {
  if (cluster.servers.length > 0 || owner === undefined) return cluster.servers.map(({ address }) => address);
  const connections = (users.get(owner.object.key) ?? []).flatMap(({ status: { connection } }) => connection ?? []);
  const known = [owner.status.createdAt, identityOf(cluster)];
  const last = connections.find(({ cluster: verifiedOn }) => known.includes(verifiedOn));
  return last?.addresses.split(',') ?? [];
}

/** A cluster that was just deployed. */
const EMPTY: Contents = { admin: 'factory', users: [], databases: [], guesses: [] };

/** The cluster as its object's status describes it. */
function asSeen({ status, spec }: PlannedCluster): readonly Cluster[] {
  const { clusterID, createdAt, state, observed = {}, servers = [], version } = status;
  if (clusterID === undefined || createdAt === undefined || state === undefined) return [];
  return [
    {
      id: clusterID,
      status: state,
      createdAt: Date.parse(createdAt),
      version,
      provider: observed.provider,
      region: observed.region,
      machineType: observed.machineType,
      storageType: spec.storageType,
      storageSizeGB: observed.storageSizeGB,
      serverCount: observed.serverCount,
      isFree: spec.isFree,
      servers: servers.map(({ address, status: word = 'running' }) => ({ address, status: word })),
    },
  ];
}

function unmanagedIn({ status }: PlannedSpace): readonly Cluster[] {
  return (status.unmanagedClusters ?? []).map(({ clusterID, provider, region, machineType, state }) => ({
    id: clusterID,
    status: state ?? 'running',
    createdAt: 0,
    version: undefined,
    provider,
    region,
    machineType,
    storageType: undefined,
    storageSizeGB: undefined,
    serverCount: undefined,
    isFree: undefined,
    servers: [],
  }));
}

const TRANSITIONS = { starting: 'running', resuming: 'running', suspending: 'suspended', destroying: 'gone' } as const;

function saved(
  cluster: Cluster,
  { spec: { teamID, spaceID } }: PlannedSpace,
  owner: PlannedCluster | undefined,
  {
    login,
    users,
    databases,
    schemas,
    addresses,
  }: Contents & {
    readonly login: Login;
    readonly schemas: CopiedSchemas;
    readonly addresses: readonly string[];
  },
  nowMs: number,
): SavedCluster {
  const status = wordOf(cluster.status);
  const to = Object.hasOwn(TRANSITIONS, status) ? TRANSITIONS[status as keyof typeof TRANSITIONS] : undefined;
  const { backup } = owner?.status ?? {};
  return {
    teamID,
    spaceID,
    id: cluster.id,
    createdAt: cluster.createdAt ?? 0,
    serverCount: cluster.serverCount ?? 1,
    storageSizeGB: cluster.storageSizeGB ?? 10,
    isFree: cluster.isFree ?? false,
    status,
    version: cluster.version ?? DEFAULT_VERSIONS[0],
    provider: cluster.provider ?? 'gcp',
    region: cluster.region ?? '',
    machineType: cluster.machineType ?? '',
    storageType: cluster.storageType ?? '',
    backup: backup ?? { frequency: 'daily', retentionDays: 7 },
    ...(to === undefined ? {} : { transition: { to, atMs: nowMs + SOON[0] } }),
    isReplacement: false,
    servers: addresses.map((address) => ({ address, status: status === 'suspended' ? 'pending' : 'running' })),
    defaultUser: SANDBOX_LOGIN.username,
    users: [login, ...users.map((username) => ({ username, password: SANDBOX_PASSWORD }))].map(
      ({ username, password }) => ({ username, passwordHash: hashPassword(password) }),
    ),
    databases: databases.map(({ name, key }) => {
      const { types = [], functions = [] } = schemas.get(key) ?? {};
      return { name, lastIid: 0, types, functions, things: [] };
    }),
  };
}

/** An unknown word stands for something under way. */
function wordOf(word: string): ClusterStatus {
  return CLUSTER_STATUSES.find((each) => each === word) ?? 'starting';
}

/** Sends requests to the copy of what they name: a base URL, or a URL that a space makes from a server's address. */
function routed(simulators: readonly (readonly [string, Simulator])[], spaces: readonly PlannedSpace[]): HttpTransport {
  const clouds = simulators.map(([baseURL, simulator]) => {
    const here = spaces.filter((space) => cloudOf(space) === baseURL);
    const templates = new Set(here.flatMap(({ spec, next }) => [spec.serverURL, next.serverURL]));
    return { baseURL, simulator, addresses: addressesIn(simulator, templates) };
  });
  return (request) => {
    const href = new URL(request.url).href;
    for (const { baseURL, simulator, addresses } of clouds) {
      if (href.startsWith(`${baseURL}/`))
        return simulator.transport({ ...request, url: simulator.baseURL + href.slice(baseURL.length) });
      const server = beginningsOf(href).find((url) => addresses.has(url));
      if (server !== undefined) {
        const url = `https://${addresses.get(server)}${href.slice(server.length)}`;
        return simulator.transport({ ...request, url });
      }
    }
    return Promise.reject(
      new HttpError('unreachable', `this plan does not know what is at ${new URL(request.url).origin}`),
    );
  };
}

/** The addresses of all servers, also of those yet to come, by the URLs that the templates make from them. */
function addressesIn(simulator: Simulator, templates: ReadonlySet<string>): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  const add = ({ servers }: { readonly servers: readonly { readonly address: string }[] }) => {
    for (const { address } of servers)
      for (const template of templates) addresses.set(serverURL(template, address), address);
  };
  for (const cluster of simulator.clusters()) add(cluster);
  simulator.onChange((cluster) => cluster && add(cluster));
  return addresses;
}

/** What is before each slash of the URL. */
function beginningsOf(url: string): readonly string[] {
  return [...url.matchAll(/\//g)].map(({ index }) => url.slice(0, index));
}

/** The address of its cloud, in a canonical form. */
export function cloudOf({ spec }: PlannedSpace): string {
  return placeOf(spec).baseURL;
}

/** As requests to it begin: without a port that is the usual one, for example. */
function serverURL(template: string, address: string): string {
  const colon = address.lastIndexOf(':');
  const [host, port] = colon < 0 ? [address, '443'] : [address.slice(0, colon), address.slice(colon + 1)];
  const url = template.replaceAll('{host}', host).replaceAll('{port}', port);
  return (URL.parse(url)?.href ?? url).replace(/\/+$/, '');
}
