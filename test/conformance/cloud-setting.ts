import type { Clock } from '../../src/base/clock.ts';
import type { Random } from '../../src/base/random.ts';
import { uuid } from '../../src/base/random.ts';
import type { HttpTransport } from '../../src/base/transport.ts';
import { CloudClient } from '../../src/cloud/client.ts';
import type { DeployRequest } from '../../src/cloud/request.ts';
import type { Cluster } from '../../src/cloud/schema.ts';
import type { AccessLevel, CloudCredential } from '../../src/cloud/token.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import { type RawAnswer, type RawRequest, raw } from './raw.ts';

/**
 * Where checks of the Cluster Management API run. A target can support: `levels` (it has a credential of each level), `deploy`
 * (clusters may be created), `simulator` (it can simulate faults, the passing of time, and what others do).
 */
export interface CloudSetting {
  readonly baseURL: string;
  readonly teamID: string;
  readonly spaceID: string;
  readonly credentials: readonly CloudCredential[];
  readonly transport: HttpTransport;
  readonly clock: Clock;
  readonly random: Random;
  /** What to deploy. */
  readonly deployment: Omit<DeployRequest, 'id'>;
  /** The pause between two looks at something slow. */
  readonly pause: () => Promise<void>;
  readonly powers: Powers | undefined;
}

export interface Powers {
  readonly simulator: Simulator;
  readonly advance: (ms: number) => void;
}

export const SPACE_PATH = ({ teamID, spaceID }: CloudSetting) => `/api/v1/team/${teamID}/spaces/${spaceID}/clusters`;

/** A client with all credentials of the setting, or with those of the given levels. */
export function clientOf(setting: CloudSetting, levels?: readonly AccessLevel[]): CloudClient {
  const credentials = setting.credentials.filter(({ level }) => levels === undefined || levels.includes(level));
  return new CloudClient({ ...setting, credentials, rateLimit: { ratePerSecond: 1000, burst: 10_000 } });
}

/** A new access token of the level, fetched as the document says. */
export async function tokenOf(setting: CloudSetting, level: AccessLevel): Promise<string> {
  const credential = setting.credentials.find((candidate) => candidate.level === level);
  const authorization = `Basic ${credential?.clientID}:${credential?.clientSecret}`;
  const answer = await raw(setting, { method: 'POST', path: '/api/v1/auth', authorization });
  if (answer.status !== 200) throw new Error(`No token of level ${level}: HTTP ${answer.status} ${answer.text}`);
  return answer.text.trim();
}

/** A raw request with a token of the level. */
export async function rawAs(
  setting: CloudSetting,
  level: AccessLevel,
  request: Omit<RawRequest, 'authorization'>,
): Promise<RawAnswer> {
  return raw(setting, { ...request, authorization: `Bearer ${await tokenOf(setting, level)}` });
}

export function newID(setting: CloudSetting): string {
  return `conformance-${uuid(setting.random).slice(0, 8)}`;
}

const MAX_LOOKS = 500;

/** Looks until the cluster has the status; with `gone`, until it does not exist. */
export async function untilStatus(setting: CloudSetting, id: string, status: string): Promise<Cluster | undefined> {
  const client = clientOf(setting);
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const cluster = await client.get(id);
    if (status === 'gone' ? cluster === undefined : cluster?.status === status) return cluster;
    await setting.pause();
  }
  throw new Error(`Cluster ${id} never became ${status}`);
}

/** Calls `use` with a running cluster, and destroys it afterwards. */
export async function withCluster(
  setting: CloudSetting,
  use: (id: string, client: CloudClient) => Promise<void>,
  changes: Partial<DeployRequest> = {},
): Promise<void> {
  const id = newID(setting);
  const client = clientOf(setting);
  await client.deploy({ ...setting.deployment, ...changes, id });
  try {
    await untilStatus(setting, id, 'running');
    await use(id, client);
  } finally {
    await destroyed(setting, id);
  }
}

/** Destroys a cluster whatever its status. */
export async function destroyed(setting: CloudSetting, id: string): Promise<void> {
  const client = clientOf(setting);
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const cluster = await client.get(id).catch(() => undefined);
    if (cluster === undefined) return;
    if (cluster.status === 'running' || cluster.status === 'suspended') await client.destroy(id).catch(() => undefined);
    await setting.pause();
  }
}
