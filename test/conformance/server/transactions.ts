import { expect } from 'vitest';
import type { TransactionType } from '../../../src/database/request.ts';
import { section } from '../check.ts';
import { expectRefusal, raw } from '../raw.ts';
import {
  change,
  countOf,
  either,
  failure,
  rawSignedIn,
  read,
  type ServerSetting,
  type SignedIn,
  signedIn,
  whileTimePasses,
  withDatabase,
  withUser,
} from '../server-setting.ts';

const TYPES: readonly TransactionType[] = ['read', 'write', 'schema'];
const SCHEMA = 'define entity person;';
const INSERT = 'insert $p isa person;';
const PEOPLE = 'match $p isa person;';

/** Longer than any check takes, in the time that passes in it. */
const LONG = { transactionTimeoutMillis: 24 * 3_600_000 };

async function open({ client, token }: SignedIn, databaseName: string, transactionType: TransactionType, options = {}) {
  const { transactionId } = await client.openTransaction(token, {
    databaseName,
    transactionType,
    transactionOptions: { ...LONG, ...options },
  });
  return transactionId;
}

export const transactionChecks = [
  ...section<ServerSetting>('Open transaction', [], {
    'each type has an id of its own, and can be closed': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const { client, token } = session;
        const ids = new Set<string>();
        for (const type of TYPES) {
          const id = await open(session, name, type);
          ids.add(id);
          await client.closeTransaction(token, id);
        }
        expect(ids.size).toBe(3);
      });
    },
    'on a missing database it is 404, or 400 in the field': async (setting) => {
      const body = { databaseName: 'no-such-database', transactionType: 'read' };
      const { status } = await rawSignedIn(setting, { method: 'POST', path: '/v1/transactions/open', body });
      expect(status).toBe(either(setting, { document: 404, field: 400 }));
    },
    'an unknown type and a body without a database are 400': async (setting) => {
      await withDatabase(setting, async (databaseName) => {
        for (const body of [{ databaseName, transactionType: 'admin' }, { transactionType: 'read' }, {}, '{']) {
          const request = { method: 'POST', path: '/v1/transactions/open', body } as const;
          expect((await rawSignedIn(setting, request)).status).toBe(400);
        }
      });
    },
    'a second schema transaction that does not get the lock in time is 400': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const first = await open(session, name, 'schema');
        const second = open(session, name, 'schema', { schemaLockAcquireTimeoutMillis: 50 });
        const error = await failure(whileTimePasses(setting, second));
        expect(error).toMatchObject({ name: 'ApiError', kind: 'invalid', status: 400, operation: 'openTransaction' });
        await session.client.closeTransaction(session.token, first);
      });
    },
    'a second schema transaction waits for the first to end': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const { client, token } = session;
        const first = await open(session, name, 'schema');
        const second = open(session, name, 'schema', { schemaLockAcquireTimeoutMillis: 3_600_000 });
        await setting.pause();
        await client.closeTransaction(token, first);
        await client.closeTransaction(token, await whileTimePasses(setting, second));
      });
    },
    'read and write transactions do not wait for the schema lock': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const { client, token } = session;
        const schema = await open(session, name, 'schema');
        await client.closeTransaction(token, await open(session, name, 'read'));
        await client.closeTransaction(token, schema);
      });
    },
  }),

  ...section<ServerSetting>('Transactions', [], {
    'an unknown one is 404 to Commit, Rollback and Query; Close may answer that it is closed': async (setting) => {
      const path = '/v1/transactions/00000000-0000-4000-8000-000000000000';
      expect((await rawSignedIn(setting, { method: 'POST', path: `${path}/commit` })).status).toBe(404);
      expect((await rawSignedIn(setting, { method: 'POST', path: `${path}/rollback` })).status).toBe(404);
      const query = { method: 'POST', path: `${path}/query`, body: { query: PEOPLE } } as const;
      expect((await rawSignedIn(setting, query)).status).toBe(404);
      const { status } = await rawSignedIn(setting, { method: 'POST', path: `${path}/close` });
      expect(status).toBe(either(setting, { document: 404, field: 200 }));
    },
    'closing twice is not an error for the client': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const id = await open(session, name, 'write');
        await session.client.closeTransaction(session.token, id);
        await session.client.closeTransaction(session.token, id);
      });
    },
    'a committed one is over: a second commit is 404': async (setting) => {
      await withDatabase(setting, async (name, { client, token, ...rest }) => {
        const id = await open({ client, token, ...rest }, name, 'write');
        await client.commitTransaction(token, id);
        expect(await failure(client.commitTransaction(token, id))).toMatchObject({ kind: 'notFound', status: 404 });
        expect(await failure(client.query(token, id, { query: PEOPLE }))).toMatchObject({ kind: 'notFound' });
      });
    },
    'a read transaction can be committed, or is 400 in the field': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const id = await open(session, name, 'read');
        const authorization = `Bearer ${session.token}`;
        const { status } = await raw(setting, { method: 'POST', path: `/v1/transactions/${id}/commit`, authorization });
        expect(status).toBe(either(setting, { document: 200, field: 400 }));
        await session.client.closeTransaction(session.token, id);
      });
    },
    'one that is rolled back can be closed': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const id = await open(session, name, 'write');
        await session.client.rollbackTransaction(session.token, id);
        await session.client.closeTransaction(session.token, id);
      });
    },
  }),

  ...section<ServerSetting>('Transactions', ['users'], {
    "another user's is 403": async (setting) => {
      await withUser(setting, async (login) => {
        await withDatabase(setting, async (name, session) => {
          const id = await open(session, name, 'write');
          const { client, token } = await signedIn(setting, login);
          expect(await failure(client.commitTransaction(token, id))).toMatchObject({ kind: 'forbidden', status: 403 });
          expect(await failure(client.rollbackTransaction(token, id))).toMatchObject({ kind: 'forbidden' });
          expect(await failure(client.closeTransaction(token, id))).toMatchObject({ kind: 'forbidden' });
          expect(await failure(client.query(token, id, { query: PEOPLE }))).toMatchObject({ kind: 'forbidden' });
          await session.client.closeTransaction(session.token, id);
        });
      });
    },
  }),

  ...section<ServerSetting>('States and transitions', ['queries'], {
    'commit keeps the changes, which others see only then': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const { client, token } = session;
        await change(session, name, 'schema', SCHEMA);
        const id = await open(session, name, 'write');
        await client.query(token, id, { query: INSERT });
        expect(countOf(await client.query(token, id, { query: PEOPLE }))).toBe(1);
        expect(countOf(await read(session, name, PEOPLE))).toBe(0);
        await client.commitTransaction(token, id);
        expect(countOf(await read(session, name, PEOPLE))).toBe(1);
      });
    },
    'close and rollback discard the changes': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const { client, token } = session;
        await change(session, name, 'schema', SCHEMA);
        for (const end of ['closeTransaction', 'rollbackTransaction'] as const) {
          const id = await open(session, name, 'write');
          await client.query(token, id, { query: INSERT });
          await client[end](token, id);
          await client.closeTransaction(token, id);
          expect(countOf(await read(session, name, PEOPLE))).toBe(0);
        }
      });
    },
    'a transaction that runs out of time is closed without its changes': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const { client, token } = session;
        await change(session, name, 'schema', SCHEMA);
        const id = await open(session, name, 'write', { transactionTimeoutMillis: 1_000 });
        await client.query(token, id, { query: INSERT });
        const gone = async (): Promise<unknown> => {
          for (;;) {
            const outcome = await client.query(token, id, { query: PEOPLE }).catch((error: unknown) => error);
            if (outcome instanceof Error) return outcome;
            await setting.pause();
          }
        };
        expect(await gone()).toMatchObject({ name: 'ApiError', kind: 'notFound', status: 404 });
        expect(countOf(await read(session, name, PEOPLE))).toBe(0);
      });
    },
    'a schema change is seen once it is committed': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const { client, token } = session;
        const id = await open(session, name, 'schema');
        await client.query(token, id, { query: SCHEMA });
        expect(await client.getSchema(token, name)).not.toContain('person');
        await client.commitTransaction(token, id);
        expect(await client.getSchema(token, name)).toContain('person');
      });
    },
    'a query that the transaction type does not allow is refused': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        await change(session, name, 'schema', SCHEMA);
        const id = await open(session, name, 'read');
        const path = `/v1/transactions/${id}/query`;
        const authorization = `Bearer ${session.token}`;
        expectRefusal(await raw(setting, { method: 'POST', path, authorization, body: { query: INSERT } }));
        await session.client.closeTransaction(session.token, id);
        expect(countOf(await read(session, name, PEOPLE))).toBe(0);
      });
    },
  }),
];
