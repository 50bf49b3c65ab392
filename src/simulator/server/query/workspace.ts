import { type Change, type Data, EMPTY_DATA, isSameAttribute, type Thing } from './data.ts';
import { impossible } from './refusal.ts';
import { EMPTY_SCHEMA, type Schema } from './schema.ts';

/** The committed state, from which every new transaction starts. */
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
  /** The same as `data`, once there is a copy that may be modified. */
  copy: DataCopy | undefined;
}

type DataCopy = Map<string, Thing>;

export const EMPTY_COMMITTED: Committed = { schema: EMPTY_SCHEMA, data: EMPTY_DATA };

export function openWorkspace(base: Committed): Workspace {
  return { base, schema: base.schema, data: base.data, changes: [], copy: undefined };
}

/** Discards the uncommitted changes; the snapshot stays the same. */
export function resetWorkspace(workspace: Workspace): void {
  Object.assign(workspace, openWorkspace(workspace.base));
}

export function changeData(workspace: Workspace, change: Change): void {
  workspace.copy ??= new Map(workspace.base.data);
  workspace.data = workspace.copy;
  apply(workspace.copy, change);
  workspace.changes.push(change);
}

/** Undoes what changed since there were `count` changes and this schema: a failed query has done nothing. */
export function rewind(workspace: Workspace, schema: Schema, count: number): void {
  workspace.schema = schema;
  if (workspace.changes.length === count) return;
  const kept = workspace.changes.slice(0, count);
  Object.assign(workspace, { ...openWorkspace(workspace.base), schema });
  for (const change of kept) changeData(workspace, change);
}

/** The data to commit: this transaction's changes on top of what others have committed since it began. */
export function mergeInto(current: Committed, workspace: Workspace): Data {
  if (workspace.changes.length === 0) return current.data;
  if (current.data === workspace.base.data) return workspace.data;
  const merged: DataCopy = new Map(current.data);
  for (const change of workspace.changes) apply(merged, change);
  return merged;
}

function apply(data: DataCopy, change: Change): void {
  if (change.change === 'create') {
    data.set(change.thing.iid, change.thing);
    return;
  }
  const thing = data.get(change.iid);
  if (thing === undefined) throw impossible('Another transaction has deleted an instance that this one changes');
  switch (change.change) {
    case 'give':
      if (thing.has.some((attribute) => isSameAttribute(attribute, change.attribute))) return;
      data.set(thing.iid, { ...thing, has: [...thing.has, change.attribute] });
      return;
    case 'take':
      data.set(thing.iid, { ...thing, has: thing.has.filter((one) => !isSameAttribute(one, change.attribute)) });
      return;
    case 'delete':
      data.delete(thing.iid);
      forgetPlayer(data, thing.iid);
  }
}

/** A relation stays when one of its players is deleted, and ends with its last one. */
function forgetPlayer(data: DataCopy, iid: string): void {
  for (const relation of data.values()) {
    const players = relation.players.filter((player) => player.iid !== iid);
    if (players.length === relation.players.length) continue;
    if (players.length > 0) data.set(relation.iid, { ...relation, players });
    else {
      data.delete(relation.iid);
      forgetPlayer(data, relation.iid);
    }
  }
}
