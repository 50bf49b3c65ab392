import { API_VERSION } from '../../src/base/group.ts';
import { type Condition, type ConditionUpdate, setConditions } from '../../src/kube/condition.ts';
import { type ArgoHealth, type Kstatus, objectIn, SITUATIONS } from './situations.ts';

export interface FixtureObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generation: number; readonly [field: string]: unknown };
  readonly status?: { readonly observedGeneration: number; readonly conditions?: readonly Condition[] };
  readonly [field: string]: unknown;
}

/** An object in some state, and how the tools should judge it. */
export interface Fixture {
  readonly kind: string;
  readonly name: string;
  readonly argo: ArgoHealth;
  readonly kstatus: Kstatus;
  readonly object: FixtureObject;
}

/** Every situation, with what the operator writes in it. */
export async function fixtures(): Promise<readonly Fixture[]> {
  const recorded: Fixture[] = [];
  for (const situation of SITUATIONS) {
    const { kind, name, argo, kstatus } = situation;
    recorded.push({ kind, name, argo, kstatus, object: shortened(await objectIn(situation)) });
  }
  return recorded;
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
