import { GROUP } from '../../src/base/group.ts';
import type { Cluster } from '../../src/cloud/schema.ts';
import type {
  ClusterObservation,
  ClusterSubject,
  LoginObservation,
  SpaceSeen,
} from '../../src/kinds/databasecluster/observation.ts';
import { CLUSTER_FINALIZER } from '../../src/kinds/databasecluster/resource.ts';
import { databaseClusterDefinition } from '../../src/kinds/databasecluster/schema.ts';
import type { CloudSeen, SpaceObservation, SpaceSubject } from '../../src/kinds/databasespace/observation.ts';
import type { Place } from '../../src/kinds/databasespace/place.ts';
import { databaseSpaceDefinition } from '../../src/kinds/databasespace/schema.ts';
import type { Condition } from '../../src/kube/condition.ts';
import type { ObjectMeta } from '../../src/kube/object.ts';
import type { Decision } from '../../src/runtime/kind.ts';
import { CLUSTER_SPEC } from './specs.ts';

/*
 * Starting points for tests of decisions: a cluster, a space and an observation in which nothing is wrong. A test names only
 * what it is about; each `with` returns a new value and leaves the old one unchanged.
 */

export const NOW_MS = Date.parse('2026-11-20T12:00:00Z');
export const CREATED_MS = Date.parse('2026-11-20T10:00:00Z');
export const CREATED_AT = '2026-11-20T10:00:00.000Z';
export const PLACE: Place = { baseURL: 'https://cloud.simulator.test', teamID: 'acme', spaceID: 'production' };
export const ENDPOINT = 'https://orders.test:443';

export const METADATA: ObjectMeta = {
  name: 'orders',
  namespace: 'shop',
  uid: 'e7c1b0de-0000-4000-8000-000000000001',
  resourceVersion: '7',
  generation: 1,
  creationTimestamp: '2026-11-20T09:59:00Z',
};

export class ClusterBuilder {
  readonly subject: ClusterSubject;

  constructor(subject: ClusterSubject) {
    this.subject = subject;
  }

  #but(changes: Partial<ClusterSubject>): ClusterBuilder {
    return new ClusterBuilder({ ...this.subject, ...changes });
  }

  /** Sets fields of the spec, as in a manifest; undefined removes one. */
  with(spec: Readonly<Record<string, unknown>>): ClusterBuilder {
    return this.#but({ spec: databaseClusterDefinition.spec.parse({ ...this.subject.spec, ...spec }) });
  }

  withStatus(status: Partial<ClusterSubject['status']>): ClusterBuilder {
    return this.#but({ status: { ...this.subject.status, ...status } });
  }

  /** The cluster in the cloud is known to be this object's. */
  owned(): ClusterBuilder {
    return this.#but({ metadata: { ...this.subject.metadata, finalizers: [CLUSTER_FINALIZER] } }).withStatus({
      clusterID: this.subject.metadata.name,
      createdAt: CREATED_AT,
    });
  }

  /** Without its finalizer: nothing was done for it so far, or somebody removed it. */
  unheld(): ClusterBuilder {
    return this.#but({ metadata: { ...this.subject.metadata, finalizers: [] } });
  }

  /** Its cluster was recorded while it was only observed. */
  observedBefore(): ClusterBuilder {
    return this.unheld().withStatus({ observedOnly: true });
  }

  /** The status records that deploying (or cloning) it was begun. */
  announced(type: 'Deploy' | 'Clone' = 'Deploy', target = 'orders', generation?: number): ClusterBuilder {
    return this.withStatus({ operation: { type, target, startedAt: CREATED_AT, generation } });
  }

  withCondition(
    type: string,
    status: Condition['status'],
    reason: string,
    generation = this.subject.metadata.generation ?? 0,
  ): ClusterBuilder {
    const condition = {
      type,
      status,
      reason,
      message: 'As before',
      observedGeneration: generation,
      lastTransitionTime: '2026-11-20T11:00:00Z',
    };
    const others = (this.subject.status.conditions ?? []).filter((other) => other.type !== type);
    return this.withStatus({ observedGeneration: generation, conditions: [...others, condition] });
  }

  /** As it was when it last ran and everything was right. */
  healthy(): ClusterBuilder {
    return this.owned()
      .withCondition('Ready', 'True', 'Running')
      .withCondition('Synced', 'True', 'AsSpecified')
      .withCondition('CredentialsSecured', 'True', 'FactoryLoginRetired')
      .withCondition('Available', 'True', 'LoginWorks')
      .withStatus({
        endpoint: ENDPOINT,
        credentials: { secretName: 'orders-admin', secretResourceVersion: '5', endpoint: ENDPOINT },
      });
  }

  deleting(): ClusterBuilder {
    const metadata = { ...this.subject.metadata, deletionTimestamp: '2026-11-20T11:59:00Z' };
    return this.#but({ metadata, deleting: true });
  }

  /** Another object of the same name. */
  another(): ClusterBuilder {
    return this.#but({ metadata: { ...this.subject.metadata, uid: 'e7c1b0de-0000-4000-8000-000000000003' } });
  }

  annotated(name: string, value: string): ClusterBuilder {
    const annotations = { ...this.subject.metadata.annotations, [`${GROUP}/${name}`]: value };
    return this.#but({ metadata: { ...this.subject.metadata, annotations } });
  }

  generation(generation: number): ClusterBuilder {
    return this.#but({ metadata: { ...this.subject.metadata, generation } });
  }
}

/** `shop/orders`, new: nothing is known of a cluster in the cloud. */
export function aCluster(): ClusterBuilder {
  return new ClusterBuilder({
    key: 'shop/orders',
    metadata: METADATA,
    spec: databaseClusterDefinition.spec.parse(CLUSTER_SPEC),
    status: { observedGeneration: -1 },
    deleting: false,
    lookNow: false,
  });
}

/** A cluster as the cloud shows it, matching the spec of `aCluster`. */
export function aCloudCluster(changes: Partial<Cluster> = {}): Cluster {
  return {
    id: 'orders',
    status: 'running',
    createdAt: CREATED_MS,
    version: '3.5.0',
    provider: 'gcp',
    region: 'europe-west2',
    machineType: 'c2d-highcpu-4',
    storageType: 'standard-rwo',
    storageSizeGB: 100,
    serverCount: 1,
    isFree: false,
    servers: [{ address: 'orders.test:443', status: 'running' }],
    ...changes,
  };
}

export class ObservationBuilder {
  readonly seen: SpaceSeen;

  constructor(seen: SpaceSeen) {
    this.seen = seen;
  }

  with(changes: Partial<SpaceSeen>): ObservationBuilder {
    return new ObservationBuilder({ ...this.seen, ...changes });
  }

  /** The cluster has this status, and servers to match. */
  status(status: string): ObservationBuilder {
    const { cluster = aCloudCluster() } = this.seen;
    if (status === 'running') return this.with({ cluster: { ...cluster, status }, endpoint: ENDPOINT });
    return this.with({ cluster: { ...cluster, status, servers: [] }, endpoint: undefined });
  }

  cluster(changes: Partial<Cluster>): ObservationBuilder {
    return this.with({ cluster: { ...(this.seen.cluster ?? aCloudCluster()), ...changes } });
  }

  missing(): ObservationBuilder {
    return this.with({ cluster: undefined, endpoint: undefined });
  }

  login(login: LoginObservation): ObservationBuilder {
    return this.with({ login });
  }

  /** The logins were tried, with this result. */
  tried(found: Partial<Extract<LoginObservation, { login: 'tried' }>>): ObservationBuilder {
    return this.login({
      login: 'tried',
      secretName: 'orders-admin',
      secretVersion: '5',
      next: 'none',
      isAwaited: false,
      working: 'current',
      factoryAlive: false,
      verifyInMs: 600_000,
      ...found,
    });
  }
}

/** The cluster runs as specified, and its login was verified. */
export function anObservation(): ObservationBuilder {
  return new ObservationBuilder({
    space: 'seen',
    place: PLACE,
    canDestroy: true,
    id: 'orders',
    cluster: aCloudCluster(),
    lookalikes: [],
    renameTaken: false,
    endpoint: ENDPOINT,
    login: { login: 'settled', verifyInMs: 600_000 },
    mayLandUntilMs: NOW_MS,
    self: 'this-process',
    cloneSource: undefined,
  });
}

/** The space does not say anything about its clusters. */
export function noSpace(space: 'waiting' | 'refused', starting = false): ClusterObservation {
  return space === 'waiting'
    ? { space, reason: 'WaitingForSpace', message: 'Waiting for DatabaseSpace "production"', starting }
    : { space, reason: 'SpaceNotAllowed', message: 'DatabaseSpace "production" does not admit it: have it added' };
}

export class SpaceBuilder {
  readonly subject: SpaceSubject;

  constructor(subject: SpaceSubject) {
    this.subject = subject;
  }

  with(spec: Readonly<Record<string, unknown>>): SpaceBuilder {
    return new SpaceBuilder({
      ...this.subject,
      spec: databaseSpaceDefinition.spec.parse({ ...this.subject.spec, ...spec }),
    });
  }

  withReady(status: Condition['status']): SpaceBuilder {
    const condition = { type: 'Ready', status, reason: 'Before', message: '', lastTransitionTime: '' };
    return new SpaceBuilder({ ...this.subject, status: { ...this.subject.status, conditions: [condition] } });
  }

  but(changes: Partial<SpaceSubject>): SpaceBuilder {
    return new SpaceBuilder({ ...this.subject, ...changes });
  }
}

/** `shop/production`, with the API tokens and the factory login of the simulator's space of that name. */
export function aSpace(): SpaceBuilder {
  return new SpaceBuilder({
    key: 'shop/production',
    metadata: { ...METADATA, name: 'production', uid: 'e7c1b0de-0000-4000-8000-000000000002' },
    spec: databaseSpaceDefinition.spec.parse({
      baseURL: 'https://cloud.simulator.test',
      teamID: 'acme',
      spaceID: 'production',
      apiTokens: [
        { level: 'read', secretRef: { name: 'cloud-read' } },
        { level: 'write', secretRef: { name: 'cloud-write' } },
        { level: 'admin', secretRef: { name: 'cloud-admin' } },
      ],
      defaultCredentialsSecretRef: { name: 'factory-login' },
    }),
    status: { observedGeneration: -1 },
    deleting: false,
    lookNow: false,
  });
}

export function aSpaceObservation(
  changes: Partial<CloudSeen> = {},
  needs: Partial<Omit<SpaceObservation, 'cloud'>> = {},
): SpaceObservation {
  const cloud = {
    place: 'space "production" of team "acme"',
    refused: [],
    exchanged: true,
    listError: undefined,
    failingSinceMs: undefined,
    isPartial: false,
    inventory: { total: 2, managed: 1, own: 1, unmanaged: [{ clusterID: 'other', state: 'running' }] },
    versions: ['3.5.0'],
    canDestroy: true,
    ...changes,
  };
  return {
    neededBy: [],
    hasDependents: false,
    goesAfter: undefined,
    keptSecrets: [],
    staleSecrets: [],
    freeSecrets: [],
    leavingSecrets: [],
    cloud,
    ...needs,
  };
}

/** The parts of a decision that tables compare: `Ready` as "status reason", the other summary, and what is done. */
export function outline(decision: Decision<unknown, { readonly do: string }>) {
  const conditions = decision.conditions === 'keep' ? [] : decision.conditions;
  const ready = conditions.find((condition) => condition.type === 'Ready');
  const wait = [
    ...(decision.retry === undefined ? [] : [decision.retry]),
    ...(decision.requeueAfterMs === undefined ? [] : [`${decision.requeueAfterMs} ms`]),
  ];
  return {
    ready: decision.conditions === 'keep' ? 'as before' : `${ready?.status} ${ready?.reason}`,
    summary: conditions.find(({ type }) => type === 'Reconciling' || type === 'Stalled')?.type ?? 'none',
    steps: (decision.steps ?? []).map((step) => step.do),
    comesBack: wait.join(', ') || 'when something changes',
    ...(decision.release === true ? { released: true } : {}),
  };
}

/** The condition of a decision. */
export function conditionOf(decision: Decision<unknown, unknown>, type: string) {
  return decision.conditions === 'keep' ? undefined : decision.conditions.find((condition) => condition.type === type);
}
