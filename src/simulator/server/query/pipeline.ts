import type { Database } from '../state.ts';
import { type Row, typedValueOf } from './concepts.ts';
import { orderOf } from './expressions.ts';
import { fetchDocument } from './fetch.ts';
import { solve } from './match.ts';
import { columnsOf } from './pattern-variables.ts';
import { keyOf, reduceRows } from './reduce.ts';
import { impossible } from './refusal.ts';
import type { Stage } from './syntax.ts';
import type { Workspace } from './workspace.ts';
import { insert, remove, update } from './write.ts';

/** The result of a pipeline after a stage. */
export interface Flow {
  readonly rows: readonly Row[];
  /** The variables of the answers, in the order of their first mention. */
  readonly columns: readonly string[];
  /** After fetch. */
  readonly documents: readonly unknown[] | undefined;
}

/** A query with more rows is too much for a simulator. */
const MAX_ROWS = 1_000_000;

export function runStages(database: Database, workspace: Workspace, stages: readonly Stage[], start: Flow): Flow {
  return stages.reduce((flow, stage) => runStage(database, workspace, stage, flow), start);
}

function runStage(database: Database, workspace: Workspace, stage: Stage, flow: Flow): Flow {
  const { rows } = flow;
  switch (stage.stage) {
    case 'match':
      return {
        ...flow,
        rows: matchAll(workspace, stage, rows),
        columns: merge(flow.columns, columnsOf(stage.patterns)),
      };
    case 'insert':
      return {
        ...flow,
        rows: rows.map((row) => insert(database, workspace, stage.patterns, row)),
        columns: merge(flow.columns, columnsOf(stage.patterns)),
      };
    case 'update':
      return { ...flow, rows: rows.map((row) => update(workspace, stage.patterns, row)) };
    case 'delete': {
      const gone = new Set(stage.deletions.flatMap((one) => (one.what === 'instance' ? [one.variable] : [])));
      return {
        ...flow,
        rows: rows.map((row) => remove(workspace, stage.deletions, row)),
        columns: flow.columns.filter((column) => !gone.has(column)),
      };
    }
    case 'fetch':
      return { ...flow, documents: rows.map((row) => document(database, workspace, stage, row)) };
    default:
      return modify(stage, flow);
  }
}

type Modifier = Exclude<Stage, { stage: 'match' | 'insert' | 'update' | 'delete' | 'fetch' }>;

function modify(stage: Modifier, flow: Flow): Flow {
  const { rows } = flow;
  switch (stage.stage) {
    case 'select':
      for (const variable of stage.variables) requireColumn(flow, variable);
      return {
        ...flow,
        rows: rows.map((row) => new Map([...row].filter(([variable]) => stage.variables.includes(variable)))),
        columns: stage.variables,
      };
    case 'distinct':
      return { ...flow, rows: distinct(flow) };
    case 'sort':
      for (const key of stage.keys) requireColumn(flow, key.variable);
      return { ...flow, rows: [...rows].sort((a, b) => compareRows(a, b, stage.keys)) };
    case 'offset':
      return { ...flow, rows: rows.slice(stage.count) };
    case 'limit':
      return { ...flow, rows: rows.slice(0, stage.count) };
    case 'reduce':
      for (const { of } of stage.reductions) if (of !== undefined) requireColumn(flow, of);
      return {
        ...flow,
        rows: reduceRows(rows, stage.reductions, stage.groupBy),
        columns: [...stage.groupBy, ...stage.reductions.map((reduction) => reduction.variable)],
      };
  }
}

function matchAll(workspace: Workspace, stage: Extract<Stage, { stage: 'match' }>, rows: readonly Row[]): Row[] {
  const found: Row[] = [];
  for (const row of rows) {
    for (const match of solve(workspace, stage.patterns, row)) {
      found.push(match);
      if (found.length > MAX_ROWS) throw impossible(`The query has more than ${MAX_ROWS} answers`);
    }
  }
  return found;
}

function document(
  database: Database,
  workspace: Workspace,
  stage: Extract<Stage, { stage: 'fetch' }>,
  row: Row,
): unknown {
  return fetchDocument(workspace, stage.template, row, (stages, outer) => {
    const flow = { rows: [outer], columns: [...outer.keys()], documents: undefined };
    return runStages(database, workspace, stages, flow).documents ?? [];
  });
}

function requireColumn(flow: Flow, variable: string): void {
  if (!flow.columns.includes(variable)) throw impossible(`$${variable} is not a variable of the query`);
}

function merge(columns: readonly string[], added: readonly string[]): readonly string[] {
  return [...new Set([...columns, ...added])];
}

function distinct({ rows, columns }: Flow): Row[] {
  const seen = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify(columns.map((column) => keyOf(row.get(column))));
    if (!seen.has(key)) seen.set(key, row);
  }
  return [...seen.values()];
}

function compareRows(
  a: Row,
  b: Row,
  keys: readonly { readonly variable: string; readonly descending: boolean }[],
): number {
  for (const { variable, descending } of keys) {
    const [left, right] = [a.get(variable), b.get(variable)].map((concept) => concept && typedValueOf(concept));
    const order = left === undefined || right === undefined ? 0 : (orderOf(left, right) ?? 0);
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}
