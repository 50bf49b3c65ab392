import type { Clock } from '../base/clock.ts';
import { HttpError, type HttpTransport } from '../base/http.ts';
import type { Cluster } from '../cloud/schema.ts';
import { isSamePlace, placeOf } from '../kinds/databasespace/place.ts';
import { clusterKeyOf } from '../kinds/server/access.ts';
import type { ObjectKey } from '../kube/object.ts';
import type { SavedState } from '../simulator/saved-state.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { hashPassword } from '../simulator/server/state.ts';
import { createSimulator, createTeam, DEFAULT_VERSIONS, type Simulator } from '../simulator/simulator.ts';
import {
  clustersOf,
  databasesOf,
  type PlannedCluster,
  type PlannedObject,
  type PlannedSpace,
  referred,
  securedIn,
  spacesOf,
  usersOf,
} from './objects.ts';

/* Copies of the clouds that the spaces are in, for the operator to be run against: a simulator for each, however its address is spelled. */

/** Logins that work in the copies, and nowhere else. */
export const SANDBOX_LOGIN = { username: 'admin', password: 'sandbox-admin' } as const;
export const SANDBOX_PASSWORD = 'sandbox-password';
export const FACTORY_LOGIN = { username: 'admin', password: 'sandbox-factory' } as const;

/** Things take so little time that the plan is there soon, and more than none, so that what waits is seen to wait. */
const SOON = [200, 400] as const;

export interface Clouds {
  readonly transport: HttpTransport;
  /** The API token of each level for a space. */
  token(spaceKey: ObjectKey, level: string): { readonly clientID: string; readonly clientSecret: string };
}

/** `listed`: what the cloud itself says of a space's clusters, where it could be asked. */
export function copyClouds(
  objects: readonly PlannedObject[],
  listed: ReadonlyMap<ObjectKey, readonly Cluster[]>,
  clock: Clock,
): Clouds {
  const spaces = spacesOf(objects);
  const simulators = [...Map.groupBy(spaces, cloudOf)].map(
    ([baseURL, sharing]) => [baseURL, simulatorFor(sharing, objects, listed, clock)] as const,
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
  };
}

function simulatorFor(
  spaces: readonly PlannedSpace[],
  objects: readonly PlannedObject[],
  listed: ReadonlyMap<ObjectKey, readonly Cluster[]>,
  clock: Clock,
): Simulator {
  const teams = [...Map.groupBy(spaces, ({ spec }) => spec.teamID)].map(([teamID, ofTeam]) =>
    createTeam(teamID, [...new Set(ofTeam.map(({ spec }) => spec.spaceID))], true),
  );
  const versions = spaces.flatMap(({ status }) => status.availableVersions ?? []);
  const clusters = new Map<string, SavedCluster>();
  for (const space of spaces) {
    for (const cluster of clustersIn(space, objects, listed.get(space.object.key), clock.now())) {
      clusters.set([cluster.teamID, cluster.spaceID, cluster.id].join('/'), cluster);
    }
  }
  return createSimulator({
    clock,
    random: createSeededRandom(1),
    teams,
    defaultCredentials: FACTORY_LOGIN,
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

type SavedCluster = SavedState['clusters'][number];

function clustersIn(
  space: PlannedSpace,
  objects: readonly PlannedObject[],
  listed: readonly Cluster[] | undefined,
  nowMs: number,
): readonly SavedCluster[] {
  // Several DatabaseSpaces may mean the same space of the cloud.
  const place = placeOf(space.spec);
  const same = spacesOf(objects).filter(({ spec }) => isSamePlace(placeOf(spec), place));
  const keys = new Set(same.map(({ object }) => object.key));
  const ofSpace = clustersOf(objects).filter(({ spec, metadata }) => keys.has(referred(spec.spaceRef, metadata)));
  const byID = new Map(ofSpace.map((cluster) => [cluster.status.clusterID, cluster]));
  const found = listed ?? [...ofSpace.flatMap(asSeen), ...unmanagedIn(space)];
  return found.map((cluster) => saved(cluster, space, byID.get(cluster.id), objects, nowMs));
}

/** The cluster as its object's status tells of it. */
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
  objects: readonly PlannedObject[],
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
    servers: cluster.servers.map(({ address }) => ({ address, status: 'running' })),
    defaultUser: SANDBOX_LOGIN.username,
    ...(owner === undefined ? { users: [factoryUser()], databases: [] } : contentsOf(owner, objects)),
  };
}

/** Words that are not known stand for something under way. */
function wordOf(word: string): SavedCluster['status'] {
  const known = ['starting', 'running', 'suspending', 'suspended', 'resuming', 'destroying'] as const;
  return known.find((each) => each === word) ?? 'starting';
}

/** Users and databases that objects stand for; what else is on the server nobody asks for. */
function contentsOf(
  owner: PlannedCluster,
  objects: readonly PlannedObject[],
): Pick<SavedCluster, 'users' | 'databases'> {
  const on = (each: {
    readonly metadata: PlannedCluster['metadata'];
    readonly spec: { readonly clusterRef: { name: string } };
  }) => clusterKeyOf(each) === owner.object.key;
  const admin =
    securedIn(owner) !== undefined
      ? { ...SANDBOX_LOGIN, passwordHash: hashPassword(SANDBOX_LOGIN.password) }
      : factoryUser();
  const users = usersOf(objects).filter((user) => on(user) && user.status.username !== undefined);
  const databases = databasesOf(objects).filter((database) => on(database) && database.status.name !== undefined);
  return {
    users: [
      { username: admin.username, passwordHash: admin.passwordHash },
      ...users.map(({ status }) => ({
        username: status.username ?? '',
        passwordHash: hashPassword(SANDBOX_PASSWORD),
      })),
    ],
    databases: databases.map(({ status }) => ({
      name: status.name ?? '',
      lastIid: 0,
      types: [],
      functions: [],
      things: [],
    })),
  };
}

function factoryUser() {
  return { username: FACTORY_LOGIN.username, passwordHash: hashPassword(FACTORY_LOGIN.password) };
}

/** Requests go to the copy of what they name: a base URL, or the URL that a space makes of a server's address. */
function routed(simulators: readonly (readonly [string, Simulator])[], spaces: readonly PlannedSpace[]): HttpTransport {
  return (request) => {
    const href = new URL(request.url).href;
    for (const [baseURL, simulator] of simulators) {
      if (href.startsWith(`${baseURL}/`))
        return simulator.transport({ ...request, url: simulator.baseURL + href.slice(baseURL.length) });
      const templates = new Set(spaces.filter((space) => cloudOf(space) === baseURL).map(({ spec }) => spec.serverURL));
      for (const cluster of simulator.clusters()) {
        for (const { address } of cluster.servers) {
          for (const template of templates) {
            const server = serverURL(template, address);
            if (request.url.startsWith(`${server}/`))
              return simulator.transport({ ...request, url: `https://${address}${request.url.slice(server.length)}` });
          }
        }
      }
    }
    return Promise.reject(new HttpError('unreachable', `${new URL(request.url).origin} is not part of the plan`));
  };
}

/** The address of its cloud, written in one way. */
function cloudOf({ spec }: PlannedSpace): string {
  return placeOf(spec).baseURL;
}

function serverURL(template: string, address: string): string {
  const colon = address.lastIndexOf(':');
  const [host, port] = colon < 0 ? [address, '443'] : [address.slice(0, colon), address.slice(colon + 1)];
  return template.replaceAll('{host}', host).replaceAll('{port}', port).replace(/\/$/, '');
}
