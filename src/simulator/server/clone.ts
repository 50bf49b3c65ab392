import type { Credentials } from '../cloud/state.ts';
import { createDatabaseState } from './database-state.ts';
import { createServerState, type ServerState } from './state.ts';

/** Databases with all that is committed, and the users too unless the clone starts with a factory login. */
export function cloneServerState(source: ServerState, factoryLogin: Credentials | undefined): ServerState {
  const clone = createServerState(factoryLogin ?? { username: source.defaultUser, password: '' });
  if (factoryLogin === undefined) for (const [name, user] of source.users) clone.users.set(name, user);
  for (const [name, { committed, lastIid }] of source.databases) {
    clone.databases.set(name, Object.assign(createDatabaseState(name), { committed, lastIid }));
  }
  return clone;
}
