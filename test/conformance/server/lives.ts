import { expect } from 'vitest';
import { section } from '../check.ts';
import { kindsOnServer } from '../kinds-on-server.ts';
import { failure, newName, type ServerSetting, serverClientOf, signedIn } from '../server-setting.ts';

/* Whole life cycles, run by the operator's own code: its requests to a server, in its order. */

const NAME = 'define attribute name, value string;';
const PERSON = 'define entity person, owns name;';

export const lifeChecks = [
  ...section<ServerSetting>('Whole lives', ['queries'], {
    'a database is created with its schema, changed, and deleted': async (setting) => {
      const { database } = await kindsOnServer(setting);
      const { client, token } = await signedIn(setting);
      const name = newName(setting);
      try {
        await database.create(name, { schema: [{ inline: NAME }, { inline: PERSON }], deletionPolicy: 'Delete' });
        await database.until(name, 'True DatabaseReady');
        expect(await client.getSchema(token, name)).toMatch(/entity person/);

        // The second source is wrong, so nothing of the first is there either.
        const age = { inline: 'define attribute age, value integer;' };
        await database.edit(name, { schema: [{ inline: NAME }, { inline: PERSON }, age, { inline: 'define x y z' }] });
        const refused = await database.until(name, 'False SchemaRefused');
        expect(JSON.stringify(refused?.status)).toContain('inline/3');
        expect(await client.getSchema(token, name)).not.toContain('age');

        await database.edit(name, { schema: [{ inline: NAME }, { inline: PERSON }, age] });
        await database.until(name, 'True DatabaseReady');
        expect(await client.getSchema(token, name)).toContain('age');

        await database.remove(name);
        await database.until(name, 'gone');
        expect(await client.listDatabases(token)).not.toContain(name);
      } finally {
        await client.deleteDatabase(token, name).catch(() => undefined);
      }
    },
    'a database that existed before does not become ours': async (setting) => {
      const { database } = await kindsOnServer(setting);
      const { client, token } = await signedIn(setting);
      const name = newName(setting);
      await client.createDatabase(token, name);
      try {
        await database.create(name, { schema: [{ inline: NAME }], deletionPolicy: 'Delete' });
        await database.until(name, 'False DatabaseExists');
        expect(await client.getSchema(token, name)).not.toContain('name');
        await database.edit(name, { adoptionPolicy: 'IfExists' });
        await database.until(name, 'True DatabaseReady');
        expect(await client.getSchema(token, name)).toContain('name');
      } finally {
        await client.deleteDatabase(token, name).catch(() => undefined);
      }
    },
  }),

  ...section<ServerSetting>('Whole lives', ['users'], {
    'a user is created, signs in with what the Secret holds, gets another password, and is deleted': async (
      setting,
    ) => {
      const { user, secret } = await kindsOnServer(setting);
      const client = serverClientOf(setting);
      const { token } = await signedIn(setting);
      const name = newName(setting);
      const login = () => {
        const { username, password } = secret(`${name}-connection`);
        return { username: String(username), password: String(password) };
      };
      try {
        await user.create(name);
        await user.until(name, 'True LoginWorks');
        const before = login();
        await client.signIn(before);

        await user.annotate(name, { 'mooring.dev/rotate-at': 'now' });
        await user.until(name, 'True LoginWorks');
        const after = login();
        expect(after.password).not.toBe(before.password);
        await client.signIn(after);
        expect(await failure(client.signIn(before))).toMatchObject({ kind: 'unauthorized' });

        await user.remove(name);
        await user.until(name, 'gone');
        expect(await client.listUsers(token)).not.toContain(name);
        expect(await failure(client.signIn(after))).toMatchObject({ kind: 'unauthorized' });
      } finally {
        await client.deleteUser(token, name).catch(() => undefined);
      }
    },
  }),
];
