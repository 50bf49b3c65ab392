import { type Answer, empty, json, jsonText, plain, Refusal } from '../exchange/message.ts';
import { createDatabaseState } from './database-state.ts';
import { renderSchema } from './query/schema-text.ts';
import type { Database } from './state.ts';
import { requireName, requirePrimary, type ServerWorld } from './world.ts';

export function listDatabases({ state }: ServerWorld): Answer {
  return json(200, { databases: [...state.databases.keys()].map((name) => ({ name })) });
}

export function getDatabase(server: ServerWorld, name: string): Answer {
  return json(200, { name: databaseNamed(server, name, 404).name });
}

export function createDatabase(server: ServerWorld, name: string): Answer {
  requirePrimary(server);
  requireName('database', name);
  if (server.state.databases.has(name)) {
    const status = server.world.dialect.existingDatabaseStatus;
    if (status === 200) return empty(200);
    throw new Refusal(status, 'databaseExists', `Database ${name} already exists`);
  }
  server.state.databases.set(name, createDatabaseState(name));
  server.changed();
  return empty(200);
}

export function deleteDatabase(server: ServerWorld, name: string): Answer {
  requirePrimary(server);
  const database = databaseNamed(server, name, server.world.dialect.missingDatabaseStatus);
  for (const transaction of server.state.transactions.values()) {
    if (transaction.database === database) {
      throw new Refusal(400, 'databaseInUse', `Database ${name} has open transactions`);
    }
  }
  server.state.databases.delete(name);
  for (const wake of database.waiters) wake();
  server.changed();
  return empty(200);
}

/** Notes: the schema includes functions, the type schema only types. The dialect decides its form on the wire. */
export function getSchema(server: ServerWorld, name: string, what: 'all' | 'types'): Answer {
  const database = databaseNamed(server, name, 404);
  const { dialect } = server.world;
  const text = renderSchema(database.committed.schema, what) || dialect.undefinedSchema;
  return dialect.schemaText === 'plainText' ? plain(200, text) : jsonText(200, JSON.stringify(text));
}

/** The status for a missing database depends on who asks: see DialectRules.missingDatabaseStatus. */
export function databaseNamed({ state }: ServerWorld, name: string, missingStatus: number): Database {
  const database = state.databases.get(name);
  if (database === undefined) {
    throw new Refusal(missingStatus, 'databaseNotFound', `There is no database ${JSON.stringify(name)}`);
  }
  return database;
}
