import { readDocument } from '../support/readme.ts';
import { DASHBOARD } from './files.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

export interface Dashboard {
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
}

/** A query as Prometheus gets it from Grafana. */
export interface Query {
  readonly panel: string;
  readonly expr: string;
}

export function dashboard(): Dashboard {
  return JSON.parse(readDocument(DASHBOARD));
}

/** All queries, with Grafana's variables filled in. */
export function queries(): readonly Query[] {
  const rows: string[] = [];
  return dashboard().panels.flatMap(({ type, title, targets = [] }) => {
    if (type === 'row') rows.push(title);
    const filled = (expr: string) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*');
    return targets.map(({ expr }) => ({ panel: `${rows.at(-1)}: ${title}`, expr: filled(expr) }));
  });
}

/** Names of metrics in a PromQL expression. */
export function metricsIn(expr: string): readonly string[] {
  const bare = expr
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\b(?:by|on|without|ignoring|group_left)\s*\([^)]*\)/g, '');
  return [...bare.matchAll(/\b[a-z]\w*_\w+\b(?!\s*\()/g)].map(([name]) => name);
}
