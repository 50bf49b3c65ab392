import { type HttpTransport, readText } from '../../src/base/transport.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { startSimulatorServer } from '../../src/simulator/hosting/http-server.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import type { ManualClock } from '../support/clock.ts';
import type { Target } from './check.ts';
import type { ServerSetting } from './server-setting.ts';
import { simulatedWorld } from './simulated-cloud.ts';

const CAN = ['users', 'queries', 'simulator'];
const CLUSTER_ID = 'orders';

export function simulatedServerInProcess(dialect: Dialect): Target<ServerSetting> {
  return {
    name: `simulator in process, dialect ${dialect}`,
    can: CAN,
    open: async () => {
      const { simulator, clock } = simulatedWorld(dialect);
      simulator.deployForeign({ id: CLUSTER_ID });
      const place = { baseURL: `https://${addressOf(simulator)}`, transport: simulator.transport };
      return { ...settingOf(simulator, clock, dialect, place), close: async () => undefined };
    },
  };
}

export function simulatedServerOverHTTP(dialect: Dialect): Target<ServerSetting> {
  return {
    name: `simulator over HTTP, dialect ${dialect}`,
    can: CAN,
    open: async () => {
      const { simulator, clock } = simulatedWorld(dialect);
      const server = await startSimulatorServer(simulator);
      simulator.deployForeign({ id: CLUSTER_ID });
      const transport = createUndiciTransport();
      const place = { baseURL: await servedAt(simulator, transport), transport };
      return {
        ...settingOf(simulator, clock, dialect, place),
        close: async () => {
          await transport.close();
          await server.close();
        },
      };
    },
  };
}

/** The server's address: it moves if another process has its port. */
export async function servedAt(simulator: Simulator, transport: HttpTransport): Promise<string> {
  for (;;) {
    const baseURL = `http://${addressOf(simulator)}`;
    const response = await transport({ method: 'GET', url: `${baseURL}/health` }).catch(() => undefined);
    if (response === undefined) continue;
    await readText(response, 1000).catch(() => undefined);
    // Another process on the port may answer before the server has moved.
    const isOurs = simulator.count('health') > 0;
    simulator.resetCounters();
    if (isOurs) return baseURL;
  }
}

function addressOf(simulator: Simulator): string {
  for (const cluster of simulator.clusters()) return cluster.servers[0]?.address ?? '';
  return '';
}

function settingOf(
  simulator: Simulator,
  clock: ManualClock,
  dialect: Dialect,
  place: Pick<ServerSetting, 'baseURL' | 'transport'>,
): ServerSetting {
  return {
    ...place,
    dialect,
    login: simulator.defaultCredentials,
    clock,
    random: createSeededRandom(2),
    pause: async () => {
      clock.advance(5);
      await new Promise((resolve) => setImmediate(resolve));
    },
    powers: { simulator, advance: clock.advance, clusterID: CLUSTER_ID },
  };
}
