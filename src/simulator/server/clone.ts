import { createDatabaseState } from './database-state.ts';
import { createServerState, type ServerState, type User } from './state.ts';

/** Clones the databases with everything committed, and the users too unless the clone starts with a factory login. */
export function cloneServerState(source: ServerState, factoryLogin: User | undefined): ServerState {
  const users = factoryLogin === undefined ? source.users.values() : [factoryLogin];
  const clone = createServerState(factoryLogin?.username ?? source.defaultUser, users);
  for (const [name, { committed, lastIid }] of source.databases) {
    clone.databases.set(name, Object.assign(createDatabaseState(name), { committed, lastIid }));
  }
  return clone;
}
