import type { CloneRequest, DeployRequest, UpdateRequest } from './requests.ts';
import { type Cluster, clustersOf, type Team } from './state.ts';
import {
  ID_PATTERN,
  isSingleServerVersion,
  LIMITS,
  latestOf,
  type Provider,
  providerNamed,
  regionsOf,
} from './tables.ts';

/** One sentence of the Cluster Management API about what a request may ask for. */
export interface Rule<Facts> {
  readonly name: string;
  /** Where the document says so. */
  readonly section: string;
  /** What is wrong with these facts, in words for people; undefined: nothing. */
  readonly violation: (facts: Facts) => string | undefined;
}

export interface DeployFacts {
  readonly request: DeployRequest;
  readonly team: Team;
  readonly availableVersions: readonly string[];
  readonly backupRequired: boolean;
}

export interface UpdateFacts {
  readonly request: UpdateRequest;
  readonly cluster: Cluster;
  readonly team: Team;
}

export interface CloneFacts {
  readonly request: CloneRequest;
  readonly source: Cluster;
  readonly team: Team;
}

const FIELDS = 'Resources and their fields, Deploy request fields';
const MACHINES = 'Resources and their fields, Machine types and regions';
const LIMIT = 'Limits';
const UPDATE = 'Endpoints, Update';

export const DEPLOY_RULES: readonly Rule<DeployFacts>[] = [
  { name: 'id', section: FIELDS, violation: ({ request }) => badId(request.id) },
  { name: 'serverCount', section: LIMIT, violation: ({ request }) => badServerCount(request.serverCount) },
  { name: 'storageSizeGB', section: LIMIT, violation: ({ request }) => badStorage(request.storageSizeGB) },
  {
    name: 'provider',
    section: FIELDS,
    violation: ({ request }) =>
      unless(providerNamed(request.provider), `provider ${request.provider} is not gcp or aws`),
  },
  {
    name: 'region',
    section: MACHINES,
    violation: ({ request }) =>
      withProvider(request, (provider) =>
        unless(
          regionsOf(provider).includes(request.region),
          `region ${request.region} is not one of ${provider.name}: ${regionsOf(provider).join(', ')}`,
        ),
      ),
  },
  {
    name: 'machineType',
    section: MACHINES,
    violation: ({ request }) => badMachine(request.provider, request.region, request.machineType),
  },
  {
    name: 'storageType',
    section: `${MACHINES}, Storage types`,
    violation: ({ request }) =>
      withProvider(request, (provider) =>
        unless(
          request.storageType === provider.storageType,
          `storageType of ${provider.name} is ${provider.storageType}`,
        ),
      ),
  },
  {
    name: 'version',
    section: FIELDS,
    violation: ({ request, availableVersions }) =>
      unless(
        request.version === 'latest' || availableVersions.includes(request.version),
        `version ${request.version} is not available: latest, ${availableVersions.join(', ')}`,
      ),
  },
  {
    name: 'oneServerFromVersion3',
    section: LIMIT,
    violation: ({ request, availableVersions }) => {
      const version = request.version === 'latest' ? latestOf(availableVersions) : request.version;
      return unless(
        request.serverCount === 1 || !isSingleServerVersion(version),
        `serverCount must be 1 for database version ${version}`,
      );
    },
  },
  {
    name: 'backupConfiguration',
    section: FIELDS,
    violation: ({ request, backupRequired }) =>
      unless(
        request.isFree || request.backupConfiguration !== undefined || !backupRequired,
        'backupConfiguration is optional for free clusters only',
      ),
  },
  {
    name: 'backup',
    section: FIELDS,
    violation: ({ request }) => badBackup(request.backupConfiguration, request.isFree),
  },
  {
    name: 'freeMachineType',
    section: FIELDS,
    violation: ({ request }) =>
      unless(!request.isFree || isFreeMachine(request), 'a free cluster needs a free machine type'),
  },
  {
    name: 'freeSize',
    section: LIMIT,
    violation: ({ request }) => (request.isFree ? badFreeSize(request.serverCount, request.storageSizeGB) : undefined),
  },
  {
    name: 'oneFreeClusterPerTeam',
    section: LIMIT,
    violation: ({ request, team }) => (request.isFree ? secondFree(team) : undefined),
  },
  {
    name: 'paymentMethod',
    section: FIELDS,
    violation: ({ request, team }) => (request.isFree ? undefined : noPayment(team)),
  },
];

export const UPDATE_RULES: readonly Rule<UpdateFacts>[] = [
  {
    name: 'atLeastOne',
    section: UPDATE,
    violation: ({ request }) => unless(Object.keys(request).length > 0, 'at least one field must be set'),
  },
  {
    name: 'id',
    section: FIELDS,
    violation: ({ request }) => (request.id === undefined ? undefined : badId(request.id)),
  },
  {
    name: 'storageSizeGB',
    section: LIMIT,
    violation: ({ request }) => (request.storageSizeGB === undefined ? undefined : badStorage(request.storageSizeGB)),
  },
  {
    name: 'machineType',
    section: MACHINES,
    violation: ({ request, cluster }) =>
      request.machineType === undefined ? undefined : badMachine(cluster.provider, cluster.region, request.machineType),
  },
  {
    name: 'backup',
    section: FIELDS,
    violation: ({ request, cluster }) => badBackup(request.backupConfiguration, cluster.isFree),
  },
  {
    name: 'freeNeedsPaymentMethod',
    section: UPDATE,
    violation: ({ request, cluster, team }) =>
      cluster.isFree && Object.keys(request).some((field) => field !== 'id') ? noPayment(team) : undefined,
  },
  {
    name: 'freeMachineType',
    section: FIELDS,
    violation: ({ request, cluster }) =>
      unless(
        !cluster.isFree || request.machineType === undefined || isFreeMachine({ ...cluster, ...request }),
        'a free cluster needs a free machine type',
      ),
  },
  {
    name: 'freeSize',
    section: LIMIT,
    violation: ({ request, cluster }) =>
      cluster.isFree && request.storageSizeGB !== undefined
        ? badFreeSize(cluster.serverCount, request.storageSizeGB)
        : undefined,
  },
];

export const CLONE_RULES: readonly Rule<CloneFacts>[] = [
  { name: 'id', section: FIELDS, violation: ({ request }) => badId(request.id) },
  {
    name: 'oneFreeClusterPerTeam',
    section: LIMIT,
    violation: ({ source, team }) => (source.isFree ? secondFree(team) : undefined),
  },
  {
    name: 'paymentMethod',
    section: FIELDS,
    violation: ({ source, team }) => (source.isFree ? undefined : noPayment(team)),
  },
];

const unless = (holds: unknown, violation: string) => (holds ? undefined : violation);

function badId(id: string): string | undefined {
  return unless(
    ID_PATTERN.test(id),
    'id must be lowercase alphanumeric characters, optionally separated by underscores and hyphens',
  );
}

function badServerCount(count: number): string | undefined {
  const { min, max } = LIMITS.serverCount;
  return unless(
    count >= min && count <= max && count % 2 === 1,
    `serverCount must be an odd integer from ${min} to ${max}`,
  );
}

function badStorage(size: number): string | undefined {
  const { min, max } = LIMITS.storageSizeGB;
  return unless(size >= min && size <= max, `storageSizeGB must be an integer from ${min} to ${max}`);
}

function withProvider(
  request: { readonly provider: string },
  check: (provider: Provider) => string | undefined,
): string | undefined {
  const provider = providerNamed(request.provider);
  return provider === undefined ? undefined : check(provider);
}

function badMachine(providerName: string, region: string, machineType: string): string | undefined {
  const machine = machineNamed(providerName, machineType);
  if (machine === undefined) return `machineType ${machineType} is not one of provider ${providerName}`;
  return unless(
    machine.regions.includes(region),
    `machineType ${machineType} is not available in ${region}, only in ${machine.regions.join(', ')}`,
  );
}

function machineNamed(providerName: string, machineType: string) {
  return providerNamed(providerName)?.machineTypes.find((machine) => machine.name === machineType);
}

function isFreeMachine(of: { readonly provider: string; readonly machineType: string }): boolean {
  return machineNamed(of.provider, of.machineType)?.free === true;
}

function badBackup(
  backup: { readonly frequency: string; readonly retentionDays: number } | undefined,
  isFree: boolean,
): string | undefined {
  if (backup === undefined) return undefined;
  if (!LIMITS.frequencies.some((frequency) => frequency === backup.frequency)) {
    return `backupConfiguration.frequency must be one of ${LIMITS.frequencies.join(', ')}`;
  }
  if (isFree && backup.frequency !== 'disabled')
    return 'backupConfiguration.frequency must be disabled for free clusters';
  return unless(
    LIMITS.retentionDays.some((days) => days === backup.retentionDays),
    `backupConfiguration.retentionDays must be ${LIMITS.retentionDays.join(' or ')}`,
  );
}

function badFreeSize(serverCount: number, storageSizeGB: number): string | undefined {
  const { free } = LIMITS;
  return unless(
    serverCount <= free.serverCount && storageSizeGB <= free.storageSizeGB,
    `a free cluster has at most ${free.serverCount} server and ${free.storageSizeGB} GB storage`,
  );
}

function secondFree(team: Team): string | undefined {
  const free = [...clustersOf(team)].filter((cluster) => cluster.isFree).length;
  return unless(free < LIMITS.freeClustersPerTeam, `the team already has ${LIMITS.freeClustersPerTeam} free cluster`);
}

function noPayment(team: Team): string | undefined {
  return unless(team.paymentMethod, 'the team has no valid payment method');
}
