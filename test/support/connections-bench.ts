import type { ConnectionsOptions } from '../../src/kinds/databasespace/connection/connection.ts';
import { SpaceConnections } from '../../src/kinds/databasespace/connection/connections.ts';
import type { DatabaseSpaceSpec } from '../../src/kinds/databasespace/schema.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { aSpace } from './builders.ts';

export const TOKENS = [{ level: 'admin', clientID: 'admin-id', clientSecret: 'admin-secret-0123456789' }] as const;
export const LOGIN = { username: 'admin', password: 'password' };

/** Connections of spaces to a simulated cloud, and what they told. */
export function bench(options: Partial<ConnectionsOptions> = {}, dialect: Dialect = 'document') {
  const clock = virtualClock();
  const simulator = createSimulator({ clock, random: createSeededRandom(1), dialect });
  const told: string[] = [];
  const connections = new SpaceConnections({
    clock,
    random: createSeededRandom(2),
    urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
    transport: () => simulator.transport,
    onRequest: () => {},
    onClusters: (space, ids, first) => told.push(`${space} clusters ${[...ids].join()}${first ? ' first' : ''}`),
    onListed: (space, first) => told.push(`${space} listed${first ? ' first' : ''}`),
    ...options,
  });
  const spec = (changes: Partial<DatabaseSpaceSpec> = {}) => ({ ...aSpace().subject.spec, ...changes });
  const of = (space: string) => {
    const connection = connections.get(space);
    if (connection === undefined) throw new Error(`${space} is not connected`);
    return connection;
  };
  return { clock, simulator, connections, told, spec, of };
}
