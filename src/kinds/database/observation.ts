import type { Subject } from '../../runtime/kind.ts';
import type { NoServer } from '../server/dependents.ts';
import { isComposed, isIdentifier, notComposed } from '../server-schema.ts';
import type { DatabaseSpec, DatabaseStatus } from './schema.ts';
import type { SchemaPlan, SourceSeen } from './schema-plan.ts';

export type DatabaseSubject = Subject<DatabaseSpec, DatabaseStatus>;

/** What was seen of one database; no schema texts in it. Variants, so that nothing impossible can be written. */
export type DatabaseObservation =
  | NoServer
  /** Whatever the server holds makes no difference. */
  | { readonly server: 'notNeeded' }
  | DatabaseSeen;

export interface DatabaseSeen {
  readonly server: 'open';
  /** Name of the DatabaseCluster. */
  readonly cluster: string;
  /** When the cluster was created: with another value it is another one. */
  readonly identity: string;
  /** The DatabaseCluster is being deleted. */
  readonly leaving: boolean;
  /** Of the database. */
  readonly name: string;
  /** For how long this process has seen the cluster as another one than the one that the database is on; undefined: it is that one. */
  readonly elsewhereForMs: number | undefined;
  /** The object, `namespace/name`, that stands for this database before this one; undefined: none does. */
  readonly claimedBy: string | undefined;
  /** settled: nothing has changed since it was last found to be right, and it is not time to look again. */
  readonly existence: 'notLooked' | 'settled' | 'exists' | 'absent';
  /** When the operation in the status may have been asked of the server last (wall clock); undefined: it surely was not. */
  readonly attemptedAtMs: number | undefined;
  readonly schema: SchemaObservation;
  /** Names this process. */
  readonly self: string;
  /** When it is to be looked at again; undefined: never by itself. */
  readonly checkInMs: number | undefined;
}

export type SchemaObservation =
  /** There is no database of ours whose schema could be looked at, or the spec has none. */
  | { readonly schema: 'notLooked' }
  | { readonly schema: 'sourceMissing'; readonly lasting: boolean; readonly reason: string; readonly message: string }
  | {
      readonly schema: 'seen';
      /** As the spec lists them. */
      readonly sources: readonly SourceSeen[];
      /** Digest of the schema that the server has. */
      readonly found: string;
      /** In how many milliseconds sources that were refused are tried again; not positive: now. */
      readonly tryAgainInMs: number;
    };

/** One effect. */
export type DatabaseStep =
  | { readonly do: 'CreateDatabase'; readonly name: string; readonly identity: string }
  | { readonly do: 'DeleteDatabase'; readonly name: string; readonly identity: string }
  /** Runs the plan in a transaction that is closed without effect. */
  | { readonly do: 'TrySchema'; readonly name: string; readonly identity: string; readonly plan: SchemaPlan }
  | { readonly do: 'ApplySchema'; readonly name: string; readonly identity: string; readonly plan: SchemaPlan }
  /** The object is let go although its database may stay where it is. */
  | { readonly do: 'TellLeft'; readonly name: string; readonly message: string };

/** Name of the database on the server. */
export function databaseName({ metadata, spec }: Pick<DatabaseSubject, 'metadata' | 'spec'>): string {
  return spec.name ?? metadata.name;
}

/** There is, or may be, a database of the object's own. */
export function owns({ status }: Pick<DatabaseSubject, 'status'>): boolean {
  return status.name !== undefined || status.operation !== undefined;
}

/** Why there can be no such database; undefined: there can. The API server checks most of it, but an object may be older than that. */
export function refusalOfName(subject: Pick<DatabaseSubject, 'metadata' | 'spec' | 'status'>): string | undefined {
  const name = databaseName(subject);
  if (!isIdentifier(name))
    return `No server takes "${name}" as the name of a database: it must begin with a letter or underscore, and go on with letters, digits, underscores and hyphens. Create another Database with spec.name`;
  // Of one that is its own it is known that the server takes it.
  return owns(subject) || isComposed(name) ? undefined : notComposed(name, 'name');
}

/** Whether the spec says anything of the schema. */
export function hasSchema({ spec }: Pick<DatabaseSubject, 'spec'>): boolean {
  return spec.schema !== undefined && spec.schema.length > 0;
}

/** The database is surely this object's: it was created or taken over for it, on this very cluster. */
export function isOurs({ status }: Pick<DatabaseSubject, 'status'>, seen: { name: string; identity: string }): boolean {
  return status.name === seen.name && status.cluster === seen.identity;
}

/** Another name than the object's, which never changes: somebody has written to the status, and what it says proves nothing. */
export function strangeName({ status }: Pick<DatabaseSubject, 'status'>, seen: { name: string; identity: string }) {
  return status.cluster === seen.identity && status.name !== seen.name ? status.name : undefined;
}

/** When another cluster was created, on which there is, or may be, a database of this object's, as its status has it. */
export function recordedElsewhere({ status }: Pick<DatabaseSubject, 'status'>, seen: { identity: string }) {
  const isRecorded = status.name !== undefined || status.operation !== undefined;
  return isRecorded && status.cluster !== seen.identity ? status.cluster : undefined;
}

/** Creating it on this very cluster was written down. */
export function isAnnounced({ status }: Pick<DatabaseSubject, 'status'>, seen: { name: string; identity: string }) {
  return status.operation?.target === seen.name && status.cluster === seen.identity;
}
