import { load } from 'js-yaml';
import { readDocument } from '../support/readme.ts';

export const ALERTS = 'charts/mooring/files/prometheus/alerts.yaml';
export const DASHBOARD = 'charts/mooring/files/grafana/mooring.json';

/** One alerting rule, as Prometheus reads it. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function alerts(): readonly Alert[] {
  const { groups } = load(readDocument(ALERTS)) as { groups: readonly { rules: readonly Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
