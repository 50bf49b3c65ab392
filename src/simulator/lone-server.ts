import type { Credentials } from './cloud/state.ts';
import type { SavedCluster, SavedState } from './saved-state.ts';
import { hashPassword } from './server/state.ts';
import { DEFAULT_VERSIONS } from './simulator.ts';

/** State of a simulator for uses without a cloud: the default team, one server at the address, one user, and these empty databases. */
export function loneServer(
  address: string,
  { username, password }: Credentials,
  databases: readonly string[],
): SavedState {
  const cluster: SavedCluster = {
    teamID: 'acme',
    spaceID: 'production',
    id: 'lone',
    createdAt: 1,
    serverCount: 1,
    storageSizeGB: 10,
    isFree: false,
    status: 'running',
    version: DEFAULT_VERSIONS[0],
    provider: 'gcp',
    region: '',
    machineType: '',
    storageType: '',
    backup: { frequency: 'daily', retentionDays: 7 },
    isReplacement: false,
    servers: [{ address, status: 'running' }],
    defaultUser: 'admin',
    users: [{ username, passwordHash: hashPassword(password) }],
    databases: databases.map((name) => ({ name, lastIid: 0, types: [], functions: [], things: [] })),
  };
  return { format: 'mooring-simulator-1', lastCreatedAt: 1, teams: [], clusters: [cluster] };
}
