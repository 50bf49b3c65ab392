import { GROUP } from '../../src/base/group.ts';
import type { DatabaseObservation, DatabaseSeen, DatabaseSubject } from '../../src/kinds/database/observation.ts';
import { DATABASE_FINALIZER } from '../../src/kinds/database/resource.ts';
import { databaseDefinition } from '../../src/kinds/database/schema.ts';
import { hashOf } from '../../src/kinds/database/sources/schema-digest.ts';
import type { SourceSeen } from '../../src/kinds/database/sources/schema-plan.ts';
import type { Condition } from '../../src/kube/condition.ts';
import { CREATED_AT } from './builders.ts';

/*
 * Starting points for tests of decisions about a Database: a new one, and a server on which nothing is wrong. Each `with`
 * returns a new value and leaves the old one unchanged.
 */

/** Two sources, the second one inline. */
export const SOURCES: readonly SourceSeen[] = [
  { source: 'configmap/orders-schema/base', hash: hashOf('one'), resourceVersion: '7' },
  { source: 'inline/1', hash: hashOf('two') },
];
/** Digest of the server's schema after they were applied. */
export const FOUND = hashOf('as applied');

export class DatabaseBuilder {
  readonly subject: DatabaseSubject;

  constructor(subject: DatabaseSubject) {
    this.subject = subject;
  }

  #but(changes: Partial<DatabaseSubject>): DatabaseBuilder {
    return new DatabaseBuilder({ ...this.subject, ...changes });
  }

  /** Sets fields of the spec, as in a manifest. */
  with(spec: Readonly<Record<string, unknown>>): DatabaseBuilder {
    return this.#but({ spec: databaseDefinition.spec.parse({ ...this.subject.spec, ...spec }) });
  }

  withStatus(status: Partial<DatabaseSubject['status']>): DatabaseBuilder {
    return this.#but({ status: { ...this.subject.status, ...status } });
  }

  /** Puts the two sources of SOURCES in its spec. */
  withSchema(): DatabaseBuilder {
    const configMapKeyRef = { name: 'orders-schema', key: 'base' };
    return this.with({ schema: [{ configMapKeyRef }, { inline: 'two' }] });
  }

  /** The database on the server is known to be this object's. */
  owned(): DatabaseBuilder {
    return this.held().withStatus({ name: 'orders', cluster: CREATED_AT });
  }

  held(): DatabaseBuilder {
    return this.#but({ metadata: { ...this.subject.metadata, finalizers: [DATABASE_FINALIZER] } });
  }

  /** The status records that creating it was begun. */
  announced(): DatabaseBuilder {
    const operation = { type: 'CreateDatabase', target: 'orders', startedAt: CREATED_AT };
    return this.held().withStatus({ cluster: CREATED_AT, operation });
  }

  /** SOURCES were applied to its schema. */
  applied(): DatabaseBuilder {
    const appliedSchema = SOURCES.map((source) => ({ ...source, appliedAt: CREATED_AT }));
    return this.owned().withSchema().withStatus({ appliedSchema, schemaHash: FOUND });
  }

  withReady(status: Condition['status'], reason: string): DatabaseBuilder {
    const observedGeneration = this.subject.metadata.generation ?? 0;
    const lastTransitionTime = '2026-11-20T11:00:00Z';
    const condition = { type: 'Ready', status, reason, message: 'As before', observedGeneration, lastTransitionTime };
    return this.withStatus({ observedGeneration, conditions: [condition] });
  }

  deleting(deletionPolicy = 'Delete'): DatabaseBuilder {
    const metadata = { ...this.subject.metadata, deletionTimestamp: '2026-11-20T11:59:00Z' };
    return this.with({ deletionPolicy }).#but({ metadata, deleting: true });
  }

  annotated(name: string, value: string): DatabaseBuilder {
    const annotations = { [`${GROUP}/${name}`]: value };
    return this.#but({ metadata: { ...this.subject.metadata, annotations } });
  }
}

/** `shop/orders` on cluster `orders`, new: nothing is known of a database. */
export function aDatabase(): DatabaseBuilder {
  return new DatabaseBuilder({
    key: 'shop/orders',
    metadata: {
      name: 'orders',
      namespace: 'shop',
      uid: 'e7c1b0de-0000-4000-8000-000000000003',
      resourceVersion: '7',
      generation: 1,
      creationTimestamp: '2026-11-20T09:59:00Z',
    },
    spec: databaseDefinition.spec.parse({ clusterRef: { name: 'orders' } }),
    status: { observedGeneration: -1 },
    deleting: false,
    lookNow: false,
  });
}

/** The server answers and has the database; its schema is not looked at. */
export function aServer(changes: Partial<DatabaseSeen> = {}): DatabaseSeen {
  return {
    server: 'open',
    cluster: 'orders',
    identity: CREATED_AT,
    leaving: false,
    name: 'orders',
    elsewhereForMs: undefined,
    claimedBy: undefined,
    existence: 'exists',
    absence: undefined,
    attemptedAtMs: Date.parse(CREATED_AT),
    doneAtMs: undefined,
    schema: { schema: 'notLooked' },
    self: 'this-process',
    checkInMs: 600_000,
    ...changes,
  };
}

/** Like `aServer`, with SOURCES and a schema. */
export function aSchema(
  changes: Partial<Extract<DatabaseSeen['schema'], { schema: 'seen' }>> = {},
  more: Partial<DatabaseSeen> = {},
): DatabaseSeen {
  return aServer({ schema: { schema: 'seen', sources: SOURCES, found: FOUND, tryAgainInMs: 0, ...changes }, ...more });
}

type Waiting = Extract<DatabaseObservation, { server: 'waiting' }>;

/** The server cannot be used. */
export function noServer(why: Waiting['why'], changes: Partial<Waiting> = {}): Waiting {
  const reasons = {
    missing: 'ClusterNotFound',
    leaving: 'ClusterDeleting',
    shared: 'WaitingForCluster',
    suspended: 'ClusterSuspended',
    notReady: 'WaitingForCluster',
  } as const;
  const message = `Waiting for DatabaseCluster "orders": ${why}`;
  return {
    server: 'waiting',
    why,
    reason: reasons[why],
    message,
    starting: false,
    destroyed: false,
    rests: false,
    ...changes,
  };
}

export const NOT_ALLOWED: DatabaseObservation = {
  server: 'refused',
  reason: 'ClusterNotAllowed',
  message: 'DatabaseCluster "orders" does not admit namespace "shop": have it added',
};
