import { EMPTY_COMMITTED } from './query/workspace.ts';
import type { Database } from './state.ts';

export function createDatabaseState(name: string): Database {
  return { name, committed: EMPTY_COMMITTED, lastIid: 0, lock: undefined, waiters: new Set() };
}
