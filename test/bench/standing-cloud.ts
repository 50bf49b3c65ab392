import type { SavedState } from '../../src/simulator/saved-state.ts';
import { hashPassword } from '../../src/simulator/server/state.ts';
import type { StandingCluster } from './standing.ts';

/** Returns the state with copies of the cloud's only cluster, each with its own logins, address and time. */
export function copiesInCloud(state: SavedState, wanted: readonly StandingCluster[]): SavedState {
  const [model, ...others] = state.clusters;
  if (model === undefined || others.length > 0) throw new Error('The cloud does not hold exactly one cluster');
  return {
    ...state,
    lastCreatedAt: Math.max(...wanted.map(({ createdAt }) => createdAt)),
    clusters: wanted.map(({ name, space, address, createdAt, adminPassword, users }) => ({
      ...model,
      id: name,
      spaceID: space,
      createdAt,
      servers: [{ address, status: 'running' as const }],
      users: [
        { username: model.defaultUser, passwordHash: hashPassword(adminPassword) },
        ...users.map(({ name: username, password }) => ({ username, passwordHash: hashPassword(password) })),
      ],
    })),
  };
}
