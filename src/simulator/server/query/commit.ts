import type { Database } from '../state.ts';
import { checkData } from './data-check.ts';
import { mergeInto, type Workspace } from './workspace.ts';

/** Makes a transaction's changes visible to all, or throws a Refusal that says which rule of the schema forbids it. */
export function commitWorkspace(database: Database, workspace: Workspace): void {
  const current = database.committed;
  const schemaChanged = workspace.schema !== workspace.base.schema;
  const schema = schemaChanged ? workspace.schema : current.schema;
  const data = mergeInto(current, workspace);
  if (schema === current.schema && data === current.data) return;
  checkData(schema, data);
  database.committed = { schema, data };
}
