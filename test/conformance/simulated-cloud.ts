import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { startSimulatorServer } from '../../src/simulator/hosting/http-server.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator, DEFAULT_TEAMS } from '../../src/simulator/simulator.ts';
import { type ManualClock, manualClock } from '../support/clock.ts';
import type { Target } from './check.ts';
import type { CloudSetting } from './cloud-setting.ts';

export const DEPLOYMENT: CloudSetting['deployment'] = {
  serverCount: 1,
  storageSizeGB: 100,
  provider: 'gcp',
  region: 'europe-west2',
  isFree: false,
  machineType: 'c2d-highcpu-4',
  storageType: 'standard-rwo',
  version: '3.5.0',
  backupConfiguration: { frequency: 'daily', retentionDays: 7 },
};

const CAN = ['levels', 'deploy', 'simulator'];

/** A new simulator for each check, which controls its time. */
export function simulatedWorld(dialect: Dialect): { readonly simulator: Simulator; readonly clock: ManualClock } {
  const clock = manualClock();
  return { clock, simulator: createSimulator({ clock, random: createSeededRandom(1), dialect }) };
}

export function simulatedCloudInProcess(dialect: Dialect): Target<CloudSetting> {
  return {
    name: `simulator in process, dialect ${dialect}`,
    can: CAN,
    open: async () => {
      const { simulator, clock } = simulatedWorld(dialect);
      const { baseURL, transport } = simulator;
      return { ...settingOf(simulator, clock, { baseURL, transport }), close: async () => undefined };
    },
  };
}

export function simulatedCloudOverHTTP(dialect: Dialect): Target<CloudSetting> {
  return {
    name: `simulator over HTTP, dialect ${dialect}`,
    can: CAN,
    open: async () => {
      const { simulator, clock } = simulatedWorld(dialect);
      const server = await startSimulatorServer(simulator);
      const transport = createUndiciTransport();
      return {
        ...settingOf(simulator, clock, { baseURL: server.baseURL, transport }),
        close: async () => {
          await transport.close();
          await server.close();
        },
      };
    },
  };
}

function settingOf(
  simulator: Simulator,
  clock: ManualClock,
  place: Pick<CloudSetting, 'baseURL' | 'transport'>,
): CloudSetting {
  const [team] = DEFAULT_TEAMS;
  const spaceID = team?.spaces[0] ?? '';
  return {
    ...place,
    teamID: team?.id ?? '',
    spaceID,
    credentials: (team?.apiTokens ?? []).filter((token) => token.spaceID === spaceID),
    clock,
    random: createSeededRandom(2),
    deployment: DEPLOYMENT,
    pause: async () => clock.advance(1),
    powers: { simulator, advance: clock.advance },
  };
}
