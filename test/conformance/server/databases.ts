import { expect } from 'vitest';
import { section } from '../check.ts';
import { raw } from '../raw.ts';
import {
  change,
  either,
  failure,
  newName,
  rawSignedIn,
  type ServerSetting,
  signedIn,
  withDatabase,
} from '../server-setting.ts';

const SCHEMA = `define
  attribute name, value string;
  entity person, owns name;
  fun people() -> { person }: match $p isa person; return { $p };`;

export const databaseChecks = [
  ...section<ServerSetting>('Databases', [], {
    'a created one is listed and can be read, and is gone once it is deleted': async (setting) => {
      const { client, token } = await signedIn(setting);
      const name = newName(setting);
      await client.createDatabase(token, name);
      expect(await client.listDatabases(token)).toContain(name);
      expect(await client.getDatabase(token, name)).toEqual({ name });
      await client.deleteDatabase(token, name);
      expect(await client.listDatabases(token)).not.toContain(name);
      expect(await client.getDatabase(token, name)).toBeUndefined();
    },
    'creating one that exists is refused, or does nothing in the field': async (setting) => {
      await withDatabase(setting, async (name) => {
        const { status } = await rawSignedIn(setting, { method: 'POST', path: `/v1/databases/${name}` });
        expect(status).toBe(either(setting, { document: 400, field: 200 }));
      });
    },
    'getting one that is missing is 404': async (setting) => {
      const { status } = await rawSignedIn(setting, { method: 'GET', path: '/v1/databases/no-such-database' });
      expect(status).toBe(404);
    },
    'deleting one that is missing is 404, or 400 in the field': async (setting) => {
      const { status } = await rawSignedIn(setting, { method: 'DELETE', path: '/v1/databases/no-such-database' });
      expect(status).toBe(either(setting, { document: 404, field: 400 }));
      const { client, token } = await signedIn(setting);
      const kind = either(setting, { document: 'notFound', field: 'invalid' });
      const error = await failure(client.deleteDatabase(token, 'no-such-database'));
      expect(error).toMatchObject({ name: 'ApiError', kind, effectUnknown: false });
    },
    'a name in letters of any language is one name': async (setting) => {
      const { client, token } = await signedIn(setting);
      const name = `größe-数据-${newName(setting)}`;
      await client.createDatabase(token, name);
      try {
        expect(await client.getDatabase(token, name)).toEqual({ name });
      } finally {
        await client.deleteDatabase(token, name);
      }
    },
  }),

  ...section<ServerSetting>('Get schema', [], {
    'a new database has none: an empty JSON string, or the plain word define in the field': async (setting) => {
      await withDatabase(setting, async (name, { client, token }) => {
        for (const path of [`/v1/databases/${name}/schema`, `/v1/databases/${name}/type-schema`]) {
          const answer = await raw(setting, { method: 'GET', path, authorization: `Bearer ${token}` });
          expect(answer.status).toBe(200);
          expect(answer.text.trim()).toBe(either(setting, { document: '""', field: 'define' }));
        }
        const expected = either(setting, { document: '', field: 'define' });
        expect((await client.getSchema(token, name)).trim()).toBe(expected);
        expect((await client.getTypeSchema(token, name)).trim()).toBe(expected);
      });
    },
    'of a missing database it is 404': async (setting) => {
      for (const what of ['schema', 'type-schema']) {
        const path = `/v1/databases/no-such-database/${what}`;
        expect((await rawSignedIn(setting, { method: 'GET', path })).status).toBe(404);
      }
      const { client, token } = await signedIn(setting);
      expect(await failure(client.getSchema(token, 'no-such-database'))).toMatchObject({ kind: 'notFound' });
    },
  }),
  ...section<ServerSetting>('Get schema', ['queries'], {
    'the schema holds types and functions, the type schema only types': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        await change(session, name, 'schema', SCHEMA);
        const schema = await session.client.getSchema(session.token, name);
        const types = await session.client.getTypeSchema(session.token, name);
        for (const text of [schema, types]) {
          expect(text.trim()).toMatch(/^define\b/);
          expect(text).toMatch(/entity\s+person/);
        }
        expect(schema).toMatch(/\bfun\s+people\b/);
        expect(types).not.toMatch(/\bfun\b/);
      });
    },
    'the text can be sent back as a schema query': async (setting) => {
      await withDatabase(setting, async (first, session) => {
        await withDatabase(setting, async (second) => {
          await change(session, first, 'schema', SCHEMA);
          const schema = await session.client.getSchema(session.token, first);
          await change(session, second, 'schema', schema);
          expect(await session.client.getSchema(session.token, second)).toBe(schema);
          // Nothing changes if it is defined already.
          await change(session, second, 'schema', schema);
          expect(await session.client.getSchema(session.token, second)).toBe(schema);
        });
      });
    },
  }),
];
