import { type Change, type Data, EMPTY_DATA } from './data.ts';
import { EMPTY_SCHEMA, type Schema } from './schema.ts';

/** What is kept: the state that every new transaction starts from. */
export interface Committed {
  readonly schema: Schema;
  readonly data: Data;
}

/** What a transaction sees: its snapshot with its own uncommitted changes on top. */
export interface Workspace {
  readonly base: Committed;
  schema: Schema;
  data: Data;
  changes: Change[];
}

export const EMPTY_COMMITTED: Committed = { schema: EMPTY_SCHEMA, data: EMPTY_DATA };

export function openWorkspace(base: Committed): Workspace {
  return { base, schema: base.schema, data: base.data, changes: [] };
}

/** Discards the uncommitted changes; the snapshot stays the same. */
export function resetWorkspace(workspace: Workspace): void {
  workspace.schema = workspace.base.schema;
  workspace.data = workspace.base.data;
  workspace.changes = [];
}
