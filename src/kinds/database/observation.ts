import type { Subject } from '../../runtime/kind.ts';
import type { Absence } from '../absences.ts';
import type { NoServer } from '../server/dependents.ts';
import { refusalOfServerName } from '../server-schema.ts';
import type { DatabaseSpec, DatabaseStatus } from './schema.ts';
import type { SchemaPlan, SourceSeen } from './sources/schema-plan.ts';

/** Reason of Ready: the server has such a database, and this object neither created it nor may take it over. */
export const DATABASE_EXISTS = 'DatabaseExists';

export type DatabaseSubject = Subject<DatabaseSpec, DatabaseStatus>;

/** What was seen of one database, without schema texts. A union, so that impossible states cannot be written. */
export type DatabaseObservation =
  /** `areSourcesChanged`: they need not be those that were applied. Absent: not checked. */
  | (NoServer & { readonly areSourcesChanged?: boolean })
  /** What the server holds makes no difference. */
  | { readonly server: 'notNeeded' }
  | DatabaseSeen;

export interface DatabaseSeen {
  readonly server: 'open';
  /** The DatabaseCluster's name. */
  readonly cluster: string;
  /** When the cluster was created: another value means another cluster. */
  readonly identity: string;
  /** The DatabaseCluster is being deleted. */
  readonly leaving: boolean;
  /** The database's name. */
  readonly name: string;
  /** How long this process has seen another cluster than the one that the database is on; undefined: it is that one. */
  readonly elsewhereForMs: number | undefined;
  /** The object, `namespace/name`, that comes before this one for the database; undefined: none does. */
  readonly claimedBy: string | undefined;
  /** settled: nothing has changed since it was last verified, and it is not time to look again. */
  readonly existence: 'notLooked' | 'settled' | 'exists' | 'absent';
  /** The database is this object's, is not to be seen, and may still be there. Undefined: none of that is in doubt. */
  readonly absence: Absence | undefined;
  /** When the operation in the status may last have been asked of the server (wall clock); undefined: it surely was not. */
  readonly attemptedAtMs: number | undefined;
  /** When the server told this process that it had done the operation in the status (wall clock); undefined: it has not. */
  readonly doneAtMs: number | undefined;
  readonly schema: SchemaObservation;
  /** The name of this process. */
  readonly self: string;
  /** When to look again; undefined: never by itself. */
  readonly checkInMs: number | undefined;
}

export type SchemaObservation =
  /** There is no database of ours to look at, or the spec has no schema. */
  | { readonly schema: 'notLooked' }
  | {
      readonly schema: 'sourceMissing';
      readonly lasting: boolean;
      readonly reason: string;
      readonly message: string;
      /** For how long. */
      readonly forMs: number;
    }
  | {
      readonly schema: 'seen';
      /** In the order of the spec. */
      readonly sources: readonly SourceSeen[];
      /** Digest of the server's schema. */
      readonly found: string;
      /** In how many milliseconds refused sources are tried again; zero or less: now. */
      readonly tryAgainInMs: number;
    };

/** One effect. */
export type DatabaseStep =
  | { readonly do: 'CreateDatabase'; readonly name: string; readonly identity: string }
  | { readonly do: 'DeleteDatabase'; readonly name: string; readonly identity: string }
  /** Runs the plan in a transaction that is closed without effect. */
  | { readonly do: 'TrySchema'; readonly name: string; readonly identity: string; readonly plan: SchemaPlan }
  | { readonly do: 'ApplySchema'; readonly name: string; readonly identity: string; readonly plan: SchemaPlan }
  /** Reports that the object goes although its database may stay. */
  | { readonly do: 'TellLeft'; readonly name: string; readonly message: string };

/** Returns the database's name on the server. */
export function databaseName({ metadata, spec }: Pick<DatabaseSubject, 'metadata' | 'spec'>): string {
  return spec.name ?? metadata.name;
}

/** Reports whether there is, or may be, a database of the object's own. */
export function owns({ status }: Pick<DatabaseSubject, 'status'>): boolean {
  return status.name !== undefined || status.operation !== undefined;
}

/** Returns why no database can have this name; undefined: one can. */
export function refusalOfName(subject: Pick<DatabaseSubject, 'metadata' | 'spec' | 'status'>): string | undefined {
  const words = { thing: 'a database', instead: 'another Database', field: 'name' };
  return refusalOfServerName(databaseName(subject), owns(subject), words);
}

/** Reports whether the spec has schema sources. */
export function hasSchema({ spec }: Pick<DatabaseSubject, 'spec'>): boolean {
  return spec.schema !== undefined && spec.schema.length > 0;
}

/** Reports whether the database is surely this object's: created or taken over for it, on this very cluster. */
export function isOurs({ status }: Pick<DatabaseSubject, 'status'>, seen: { name: string; identity: string }): boolean {
  return status.name === seen.name && status.cluster === seen.identity;
}

/**
 * Returns the field of the status that somebody must have edited, and what it says, so that the status proves nothing: an object's name
 * never changes, and the cluster is recorded with it. Undefined: none is known to be wrong.
 */
export function editedField({ status }: Pick<DatabaseSubject, 'status'>, seen: { name: string; identity: string }) {
  const { name, cluster } = status;
  if (cluster === undefined) return owns({ status }) ? { field: 'status.cluster', says: 'is missing' } : undefined;
  const isOther = cluster === seen.identity && name !== undefined && name !== seen.name;
  return isOther ? { field: 'status.name', says: `is "${name}"` } : undefined;
}

/** If the status names a database that is, or may be, on another cluster, returns when that cluster was created. */
export function recordedElsewhere({ status }: Pick<DatabaseSubject, 'status'>, seen: { identity: string }) {
  return owns({ status }) && status.cluster !== seen.identity ? status.cluster : undefined;
}

/** Reports whether creating the database on this very cluster was written down. */
export function isAnnounced({ status }: Pick<DatabaseSubject, 'status'>, seen: { name: string; identity: string }) {
  return status.operation?.target === seen.name && status.cluster === seen.identity;
}
