import type { Database } from '../state.ts';
import type { Workspace } from './workspace.ts';

/** Makes a transaction's changes everybody's, or throws a Refusal that says which rule of the schema forbids it. */
export function commitWorkspace(database: Database, workspace: Workspace): void {
  database.committed = { schema: workspace.schema, data: workspace.data };
}
