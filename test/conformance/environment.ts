import { sleep, systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { deployRequestSchema } from '../../src/cloud/request.ts';
import type { AccessLevel, CloudCredential } from '../../src/cloud/token.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import type { Target } from './check.ts';
import type { CloudSetting } from './cloud-setting.ts';
import type { ServerSetting } from './server-setting.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const LEVELS: readonly AccessLevel[] = ['read', 'write', 'admin'];

/**
 * A cloud named by the environment, or `undefined`:
 * - `MOORING_CONFORMANCE_CLOUD_URL`, `…_TEAM`, `…_SPACE`
 * - `…_READ_TOKEN`, `…_WRITE_TOKEN`, `…_ADMIN_TOKEN`: `<client id>:<client secret>`, at least one
 * - `…_DEPLOYMENT`: what may be deployed, a deploy request without id as JSON. Absent: nothing is deployed or changed. It
 *   costs what it costs: every check destroys what it made.
 * - `…_PAUSE_MS`: between two looks at a cluster, default 2000
 */
export function cloudFromEnvironment(environment: Environment): Target<CloudSetting> | undefined {
  const read = (name: string) => environment[`MOORING_CONFORMANCE_${name}`];
  const baseURL = read('CLOUD_URL');
  if (baseURL === undefined) return undefined;
  const credentials = LEVELS.flatMap((level) => credentialOf(level, read(`${level.toUpperCase()}_TOKEN`)));
  const deployment = deploymentOf(read('DEPLOYMENT'));
  return {
    name: baseURL,
    can: [
      ...(credentials.length === LEVELS.length ? ['levels'] : []),
      ...(deployment !== undefined && credentials.length === LEVELS.length ? ['deploy'] : []),
    ],
    open: async () => {
      const transport = createUndiciTransport();
      return {
        baseURL,
        teamID: read('TEAM') ?? '',
        spaceID: read('SPACE') ?? '',
        credentials,
        transport,
        clock: systemClock,
        random: systemRandom,
        deployment: deployment ?? NO_DEPLOYMENT,
        pause: () => sleep(systemClock, Number(read('PAUSE_MS') ?? 2_000)),
        powers: undefined,
        close: () => transport.close(),
      };
    },
  };
}

/** For checks that ask for a refusal before anything is validated; never deployed. */
const NO_DEPLOYMENT: CloudSetting['deployment'] = {
  serverCount: 1,
  storageSizeGB: 10,
  provider: 'gcp',
  region: 'europe-west2',
  isFree: true,
  machineType: 'c2d-highcpu-2',
  storageType: 'standard-rwo',
  version: 'latest',
};

function credentialOf(level: AccessLevel, text: string | undefined): readonly CloudCredential[] {
  if (text === undefined) return [];
  const colon = text.indexOf(':');
  return [{ level, clientID: text.slice(0, colon), clientSecret: text.slice(colon + 1) }];
}

function deploymentOf(text: string | undefined): CloudSetting['deployment'] | undefined {
  if (text === undefined) return undefined;
  const { id: _, ...deployment } = deployRequestSchema.parse({ ...JSON.parse(text), id: 'any' });
  return deployment;
}

/**
 * A database server named by the environment, or `undefined`:
 * - `MOORING_CONFORMANCE_SERVER_URL`, `…_USERNAME`, `…_PASSWORD`
 * - `…_DIALECT`: `document` or `field` (default), see compatibility.md
 * - `…_SERVER_CAN`: default `users,queries`; leave `users` out for a login that may not manage users
 */
export function serverFromEnvironment(environment: Environment): Target<ServerSetting> | undefined {
  const read = (name: string) => environment[`MOORING_CONFORMANCE_${name}`];
  const baseURL = read('SERVER_URL');
  if (baseURL === undefined) return undefined;
  return {
    name: baseURL,
    can: (read('SERVER_CAN') ?? 'users,queries').split(','),
    open: async () => {
      const transport = createUndiciTransport();
      return {
        baseURL,
        dialect: read('DIALECT') === 'document' ? 'document' : 'field',
        login: { username: read('USERNAME') ?? '', password: read('PASSWORD') ?? '' },
        transport,
        clock: systemClock,
        random: systemRandom,
        pause: () => sleep(systemClock, 20),
        powers: undefined,
        close: () => transport.close(),
      };
    },
  };
}
