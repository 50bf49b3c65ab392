import { expect } from 'vitest';
import { Session } from '../../../src/database/session.ts';
import { section } from '../check.ts';
import { expectErrorObject, raw } from '../raw.ts';
import {
  failure,
  newName,
  rawSignedIn,
  type ServerSetting,
  serverClientOf,
  signedIn,
  withUser,
} from '../server-setting.ts';

export const userChecks = [
  ...section<ServerSetting>('Users', ['users'], {
    'a created one is listed, can be read and can sign in, and no longer once it is deleted': async (setting) => {
      const { client, token } = await signedIn(setting);
      const login = { username: newName(setting), password: 'a password: "ö" \\ 2' };
      await client.createUser(token, login.username, login.password);
      expect(await client.listUsers(token)).toContain(login.username);
      expect(await client.getUser(token, login.username)).toEqual({ username: login.username });
      const theirs = await signedIn(setting, login);
      await theirs.client.listDatabases(theirs.token);
      await client.deleteUser(token, login.username);
      expect(await client.listUsers(token)).not.toContain(login.username);
      expect(await client.getUser(token, login.username)).toBeUndefined();
      expect(await failure(client.signIn(login))).toMatchObject({ kind: 'unauthorized' });
      expect(await failure(client.listDatabases(theirs.token))).toMatchObject({ kind: 'unauthorized' });
    },
    'creating one that exists is 400, and the password stays': async (setting) => {
      await withUser(setting, async (login, { client, token }) => {
        const error = await failure(client.createUser(token, login.username, 'another-password'));
        expect(error).toMatchObject({ name: 'ApiError', kind: 'invalid', status: 400, effectUnknown: false });
        await client.signIn(login);
        expect(await failure(client.signIn({ ...login, password: 'another-password' }))).toMatchObject({ status: 401 });
      });
    },
    'a missing one is 404 to Get, Update and Delete': async (setting) => {
      const path = '/v1/users/no-such-user';
      expectErrorObject(await rawSignedIn(setting, { method: 'GET', path }), 404);
      expectErrorObject(await rawSignedIn(setting, { method: 'PUT', path, body: { password: 'x' } }), 404);
      expectErrorObject(await rawSignedIn(setting, { method: 'DELETE', path }), 404);
      const { client, token } = await signedIn(setting);
      expect(await client.getUser(token, 'no-such-user')).toBeUndefined();
      expect(await failure(client.deleteUser(token, 'no-such-user'))).toMatchObject({ kind: 'notFound' });
      expect(await failure(client.updateUser(token, 'no-such-user', 'x'))).toMatchObject({ kind: 'notFound' });
    },
    'Create and Update without a password are 400': async (setting) => {
      await withUser(setting, async ({ username }) => {
        for (const body of [{}, { password: 1 }, '{"password"']) {
          const create = { method: 'POST', path: `/v1/users/${newName(setting)}`, body } as const;
          expect((await rawSignedIn(setting, create)).status).toBe(400);
          const update = { method: 'PUT', path: `/v1/users/${username}`, body } as const;
          expect((await rawSignedIn(setting, update)).status).toBe(400);
        }
      });
    },
    'the default user cannot be deleted': async (setting) => {
      const { client, token } = await signedIn(setting);
      const error = await failure(client.deleteUser(token, setting.login.username));
      expect(error).toMatchObject({ name: 'ApiError', kind: 'invalid', status: 400 });
      await client.signIn(setting.login);
    },
    'Update sets the password: the old one no longer works': async (setting) => {
      await withUser(setting, async (login, { client, token }) => {
        await client.updateUser(token, login.username, 'another-password');
        await client.signIn({ ...login, password: 'another-password' });
        expect(await failure(client.signIn(login))).toMatchObject({ kind: 'unauthorized' });
      });
    },
    "Update ends the user's tokens and transactions, even with the same password": async (setting) => {
      await withUser(setting, async (login, { client, token }) => {
        const theirs = await signedIn(setting, login);
        await client.updateUser(token, login.username, login.password);
        expect(await failure(client.listDatabases(theirs.token))).toMatchObject({ kind: 'unauthorized' });
        await client.listDatabases(token);
      });
    },
    'users change their own password, and their session signs in again': async (setting) => {
      await withUser(setting, async (login) => {
        const client = serverClientOf(setting);
        const session = new Session(client, login);
        await session.updateUser(login.username, 'another-password');
        expect(await failure(session.signIn())).toMatchObject({ kind: 'unauthorized', operation: 'signIn' });
        await new Session(client, { ...login, password: 'another-password' }).signIn();
      });
    },
    'only the default user may manage others': async (setting) => {
      await withUser(setting, async (login, admin) => {
        const { client, token } = await signedIn(setting, login);
        const other = newName(setting);
        const own = setting.login.username;
        expect(await failure(client.listUsers(token))).toMatchObject({ kind: 'forbidden', status: 403 });
        expect(await failure(client.getUser(token, own))).toMatchObject({ kind: 'forbidden', status: 403 });
        expect(await failure(client.createUser(token, other, 'x'))).toMatchObject({ kind: 'forbidden', status: 403 });
        expect(await failure(client.updateUser(token, own, 'x'))).toMatchObject({ kind: 'forbidden', status: 403 });
        expect(await failure(client.deleteUser(token, own))).toMatchObject({ kind: 'forbidden', status: 403 });
        expect(await admin.client.listUsers(admin.token)).not.toContain(other);
        const authorization = `Bearer ${token}`;
        expectErrorObject(await raw(setting, { method: 'GET', path: '/v1/users', authorization }), 403);
      });
    },
    'only the first 72 bytes of a password count, and no wrong one is accepted': async (setting) => {
      await withUser(setting, async (login, { client, token }) => {
        const long = 'x'.repeat(80);
        await client.updateUser(token, login.username, long);
        await client.signIn({ ...login, password: long });
        expect(await failure(client.signIn({ ...login, password: 'x'.repeat(71) }))).toMatchObject({ status: 401 });
      });
    },
  }),
];
