import { API_VERSION } from '../../src/base/group.ts';
import { type Condition, type ConditionUpdate, setConditions } from '../../src/kube/condition.ts';
import { ready, reconciling, stalled } from '../../src/kube/summary.ts';
import { type ArgoHealth, type Kstatus, objectIn, SITUATIONS } from './situations.ts';

export interface FixtureObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generation: number; readonly [field: string]: unknown };
  readonly status?: { readonly observedGeneration: number; readonly conditions?: readonly Condition[] };
  readonly [field: string]: unknown;
}

/** An object in some state, and what the tools are to make of it. */
export interface Fixture {
  readonly kind: string;
  readonly name: string;
  readonly argo: ArgoHealth;
  readonly kstatus: Kstatus;
  readonly object: FixtureObject;
}

/** Of kinds and states that the operator can be brought to, what it has written; of the others, what the contract says. */
export async function fixtures(): Promise<readonly Fixture[]> {
  const recorded: Fixture[] = [];
  for (const situation of SITUATIONS) {
    const { kind, name, argo, kstatus } = situation;
    recorded.push({ kind, name, argo, kstatus, object: shortened(await objectIn(situation)) });
  }
  return [...recorded, ...placed('DatabaseUser', { username: 'app' }), ...placed('Database', { name: 'orders' })];
}

/** Without what differs in every cluster and says nothing. The cast: an object of the API. */
function shortened(object: object): FixtureObject {
  const { apiVersion, kind, metadata, ...rest } = object as FixtureObject;
  const { uid: _, resourceVersion: __, ...kept } = metadata;
  return { apiVersion, kind, metadata: kept, ...rest };
}

/** Any object of one of our kinds, with these conditions at this generation. */
export function objectWith(
  kind: string,
  conditions: readonly ConditionUpdate[] | undefined,
  more: { readonly metadata?: object; readonly spec?: object; readonly generation?: number } = {},
): FixtureObject {
  const { generation = 1 } = more;
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name: 'app', namespace: 'shop', generation, ...more.metadata },
    spec: more.spec ?? {},
    status:
      conditions === undefined
        ? { observedGeneration: -1 }
        : { observedGeneration: 1, conditions: setConditions([], conditions, 1, 1_700_000_000_000) },
  };
}

/** States of what is placed on a cluster's server. */
function placed(kind: 'DatabaseUser' | 'Database', field: object): readonly Fixture[] {
  const spec = { clusterRef: { name: 'orders' }, ...field };
  const well = ready('Ready', `It is on the server of DatabaseCluster "orders" as the spec says`);
  const waits = reconciling('WaitingForCluster', 'DatabaseCluster "orders" is not ready yet');
  const fixture = (
    name: string,
    argo: ArgoHealth,
    kstatus: Kstatus,
    ...[conditions, more]: [readonly ConditionUpdate[] | undefined, { metadata?: object; generation?: number }?]
  ): Fixture => ({ kind, name, argo, kstatus, object: objectWith(kind, conditions, { spec, ...more }) });
  return [
    fixture('new', 'Progressing', 'InProgress', undefined),
    fixture('waiting', 'Progressing', 'InProgress', waits),
    fixture('ready', 'Healthy', 'Current', well),
    fixture('changed', 'Progressing', 'InProgress', well, { generation: 2 }),
    fixture('refused', 'Degraded', 'Failed', stalled('RefusedByServer', 'The server refuses it, and will again')),
    fixture('paused', 'Suspended', 'Current', well, { metadata: { annotations: { 'mooring.dev/paused': 'true' } } }),
    fixture('deleting', 'Progressing', 'Terminating', waits, {
      metadata: { deletionTimestamp: '2023-11-14T22:13:20Z', finalizers: ['mooring.dev/finalizer'] },
    }),
  ];
}
