import { expect } from 'vitest';
import type { QueryAnswer } from '../../../src/database/query-answer.ts';
import type { Concept } from '../../../src/database/schema.ts';
import { section } from '../check.ts';
import { raw } from '../raw.ts';
import {
  change,
  countOf,
  either,
  failure,
  rawSignedIn,
  read,
  type ServerSetting,
  type SignedIn,
  whileTimePasses,
  withDatabase,
} from '../server-setting.ts';

const SCHEMA = `define
  attribute name, value string;
  attribute age, value integer;
  entity person, owns name, owns age, plays friendship:friend;
  relation friendship, relates friend @card(0..2);`;
const DATA = `insert
  $ada isa person, has name "Ada", has age 36;
  $bob isa person, has name "Bob", has age 41;
  $f isa friendship, links (friend: $ada, friend: $bob);`;
const PEOPLE = 'match $p isa person;';

async function withPeople(
  setting: ServerSetting,
  use: (name: string, session: SignedIn) => Promise<void>,
): Promise<void> {
  await withDatabase(setting, async (name, session) => {
    await change(session, name, 'schema', SCHEMA);
    await change(session, name, 'write', DATA);
    await use(name, session);
  });
}

function conceptsOf(answer: QueryAnswer, variable: string): (Concept | undefined)[] {
  if (answer.answerType !== 'conceptRows') throw new Error(`No rows, but ${answer.answerType}`);
  return answer.answers.map((row) => row.get(variable));
}

const person = { kind: 'entityType', label: 'person', valueType: undefined };

export const queryChecks = [
  ...section<ServerSetting>('Query response', ['queries'], {
    'a schema query is ok': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        expect(await change(session, name, 'schema', SCHEMA)).toMatchObject({ queryType: 'schema', answerType: 'ok' });
      });
    },
    'a write query returns rows of what it created': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        await change(session, name, 'schema', SCHEMA);
        const answer = await change(session, name, 'write', DATA);
        expect(answer).toMatchObject({ queryType: 'write', answerType: 'conceptRows', answers: { length: 1 } });
        expect(conceptsOf(answer, 'ada')).toEqual([
          { kind: 'entity', iid: expect.stringMatching(/^0x[0-9a-f]+$/), type: person },
        ]);
      });
    },
    'entities, relations and attributes come with their types': async (setting) => {
      await withPeople(setting, async (name, session) => {
        const query = 'match $f isa friendship, links (friend: $p); $p isa person, has name $n; $n == "Ada";';
        const answer = await read(session, name, query);
        expect(answer).toMatchObject({ queryType: 'read', warning: undefined });
        expect(conceptsOf(answer, 'f')).toEqual([
          {
            kind: 'relation',
            iid: expect.any(String),
            type: { kind: 'relationType', label: 'friendship', valueType: undefined },
          },
        ]);
        expect(conceptsOf(answer, 'p')).toEqual([{ kind: 'entity', iid: expect.any(String), type: person }]);
        expect(conceptsOf(answer, 'n')).toEqual([
          {
            kind: 'attribute',
            value: 'Ada',
            valueType: 'string',
            type: { kind: 'attributeType', label: 'name', valueType: 'string' },
          },
        ]);
      });
    },
    'without includeInstanceTypes they come without': async (setting) => {
      await withPeople(setting, async (databaseName, { client, token }) => {
        const answer = await client.oneShotQuery(token, {
          databaseName,
          transactionType: 'read',
          query: 'match $p isa person, has name $n;',
          commit: false,
          queryOptions: { includeInstanceTypes: false },
        });
        expect(conceptsOf(answer, 'p')).toEqual(
          Array(2).fill({ kind: 'entity', iid: expect.any(String), type: undefined }),
        );
        const name = { kind: 'attribute', value: expect.any(String), valueType: 'string', type: undefined };
        expect(conceptsOf(answer, 'n')).toEqual([name, name]);
      });
    },
    'types and roles are concepts too': async (setting) => {
      await withPeople(setting, async (name, session) => {
        const query = 'match relation $ft; $ft relates $role; entity $pt; $pt owns $at;';
        const answer = await read(session, name, query);
        expect(conceptsOf(answer, 'ft')).toContainEqual({
          kind: 'relationType',
          label: 'friendship',
          valueType: undefined,
        });
        expect(conceptsOf(answer, 'pt')).toContainEqual(person);
        expect(conceptsOf(answer, 'role')).toContainEqual({
          kind: 'roleType',
          label: 'friendship:friend',
          valueType: undefined,
        });
        expect(conceptsOf(answer, 'at')).toContainEqual({ kind: 'attributeType', label: 'age', valueType: 'integer' });
      });
    },
    'a computed value is a value': async (setting) => {
      await withPeople(setting, async (name, session) => {
        const answer = await read(session, name, 'match $p isa person, has age $a; let $next = $a + 1;');
        expect(conceptsOf(answer, 'next')).toContainEqual({ kind: 'value', value: 42, valueType: 'integer' });
      });
    },
    'a variable that is bound to nothing is absent or null': async (setting) => {
      await withPeople(setting, async (name, session) => {
        await change(session, name, 'write', 'insert $p isa person;');
        const answer = await read(session, name, 'match $p isa person; try { $p has name $n; };');
        expect(conceptsOf(answer, 'n')).toHaveLength(3);
        expect(conceptsOf(answer, 'n')).toContain(undefined);
      });
    },
    'fetch builds documents': async (setting) => {
      await withPeople(setting, async (name, session) => {
        const query = 'match $p isa person, has name $n; $n == "Bob"; fetch { "name": $n, "ages": [ $p.age ] };';
        expect(await read(session, name, query)).toMatchObject({
          answerType: 'conceptDocuments',
          answers: [{ name: 'Bob', ages: [41] }],
        });
      });
    },
  }),

  ...section<ServerSetting>('Query options', ['queries'], {
    'answers over the limit are cut, with a warning': async (setting) => {
      await withPeople(setting, async (databaseName, { client, token }) => {
        const queryOptions = { answerCountLimit: 1 };
        const body = { databaseName, transactionType: 'read', query: PEOPLE, commit: false, queryOptions };
        const authorization = `Bearer ${token}`;
        const { status } = await raw(setting, { method: 'POST', path: '/v1/query', authorization, body });
        expect(status).toBe(either(setting, { document: 200, field: 206 }));
        const answer = await client.oneShotQuery(token, { ...body, transactionType: 'read' });
        expect(countOf(answer)).toBe(1);
        expect(answer.warning).toBeTypeOf('string');
      });
    },
    'all changes of a write query are kept, even those whose answers were cut': async (setting) => {
      await withPeople(setting, async (databaseName, session) => {
        const answer = await session.client.oneShotQuery(session.token, {
          databaseName,
          transactionType: 'write',
          query: 'match $p isa person; insert $q isa person;',
          commit: true,
          queryOptions: { answerCountLimit: 1 },
        });
        expect(countOf(answer)).toBe(1);
        expect(answer.warning).toBeTypeOf('string');
        expect(countOf(await read(session, databaseName, PEOPLE))).toBe(4);
      });
    },
  }),

  ...section<ServerSetting>('One-shot query', ['queries'], {
    'commit says whether changes are kept': async (setting) => {
      await withPeople(setting, async (databaseName, session) => {
        const { client, token } = session;
        const request = { databaseName, transactionType: 'write', query: 'insert $p isa person;' } as const;
        await client.oneShotQuery(token, { ...request, commit: false });
        expect(countOf(await read(session, databaseName, PEOPLE))).toBe(2);
        await client.oneShotQuery(token, { ...request, commit: true });
        expect(countOf(await read(session, databaseName, PEOPLE))).toBe(3);
      });
    },
  }),
  ...section<ServerSetting>('One-shot query', [], {
    'on a missing database it is 404, or 400 in the field': async (setting) => {
      const body = { databaseName: 'no-such-database', transactionType: 'read', query: PEOPLE, commit: false };
      const { status } = await rawSignedIn(setting, { method: 'POST', path: '/v1/query', body });
      expect(status).toBe(either(setting, { document: 404, field: 400 }));
    },
    'a malformed body is 400': async (setting) => {
      await withDatabase(setting, async (databaseName) => {
        const bodies = [
          {},
          { databaseName, query: PEOPLE },
          { databaseName, transactionType: 'x', query: PEOPLE },
          '[',
        ];
        for (const body of bodies) {
          expect((await rawSignedIn(setting, { method: 'POST', path: '/v1/query', body })).status).toBe(400);
        }
      });
    },
    'text that is not a query is 400': async (setting) => {
      await withDatabase(setting, async (name, session) => {
        const error = await failure(read(session, name, 'this is no query'));
        expect(error).toMatchObject({ name: 'ApiError', kind: 'invalid', status: 400, operation: 'oneShotQuery' });
      });
    },
  }),

  ...section<ServerSetting>('Query in transaction', ['queries'], {
    'a syntax error leaves the transaction open': async (setting) => {
      await withPeople(setting, async (databaseName, { client, token }) => {
        const { transactionId } = await client.openTransaction(token, { databaseName, transactionType: 'write' });
        expect(await failure(client.query(token, transactionId, { query: 'nonsense' }))).toMatchObject({ status: 400 });
        expect(countOf(await client.query(token, transactionId, { query: PEOPLE }))).toBe(2);
        await client.closeTransaction(token, transactionId);
      });
    },
    'a change that fails is 400': async (setting) => {
      await withPeople(setting, async (databaseName, session) => {
        const { client, token } = session;
        const { transactionId } = await client.openTransaction(token, { databaseName, transactionType: 'write' });
        const error = await failure(client.query(token, transactionId, { query: 'insert $p isa no-such-type;' }));
        expect(error).toMatchObject({ name: 'ApiError', kind: 'invalid', status: 400 });
        await client.closeTransaction(token, transactionId);
        expect(countOf(await read(session, databaseName, PEOPLE))).toBe(2);
      });
    },
  }),
  ...section<ServerSetting>('Given rows', ['queries', 'simulator'], {
    'values and instances that are given bind the variables that the query declares': async (setting) => {
      await withPeople(setting, async (databaseName, { client, token }) => {
        const rowsField = either(setting, { document: 'given', field: 'givenRows' } as const);
        const { transactionId } = await client.openTransaction(token, { databaseName, transactionType: 'write' });
        const made = await client.query(token, transactionId, {
          query: 'given $n; insert $p isa person, has name == $n;',
          given: [
            { n: { kind: 'value', valueType: 'string', value: 'Cy' } },
            { n: { kind: 'value', valueType: 'string', value: 'Dee' } },
          ],
          rowsField,
        });
        expect(countOf(made)).toBe(2);
        const [first] = conceptsOf(made, 'p');
        if (first?.kind !== 'entity') throw new Error('No entity was made');
        const found = await client.query(token, transactionId, {
          query: 'given $p; match $p has name $n;',
          given: [{ p: { kind: 'entity', iid: first.iid } }],
          rowsField,
        });
        expect(conceptsOf(found, 'n')).toMatchObject([{ value: 'Cy' }]);
        await client.closeTransaction(token, transactionId);
      });
    },
  }),
  ...section<ServerSetting>('Errors', ['queries', 'simulator'], {
    'a query that runs out of time is 408': async (setting) => {
      await withPeople(setting, async (databaseName, { client, token }) => {
        setting.powers?.simulator.setKnobs({ queryMs: 60_000 });
        const request = { databaseName, transactionType: 'read', query: PEOPLE, commit: false } as const;
        const query = client.oneShotQuery(token, {
          ...request,
          transactionOptions: { transactionTimeoutMillis: 1_000 },
        });
        const error = await failure(whileTimePasses(setting, query));
        expect(error).toMatchObject({ name: 'ApiError', kind: 'unavailable', status: 408 });
        setting.powers?.simulator.setKnobs({ queryMs: 0 });
      });
    },
  }),
];
