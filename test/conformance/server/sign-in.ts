import { expect } from 'vitest';
import { Session } from '../../../src/database/session.ts';
import { section } from '../check.ts';
import { expectErrorObject, raw } from '../raw.ts';
import { failure, type ServerSetting, serverClientOf, signedIn } from '../server-setting.ts';

const signIn = (setting: ServerSetting, body: unknown) => raw(setting, { method: 'POST', path: '/v1/signin', body });

export const signInChecks = [
  ...section<ServerSetting>('Sign in', [], {
    'the answer is a token that works': async (setting) => {
      const { client, token } = await signedIn(setting);
      await client.listDatabases(token);
    },
    'each token works, even if there are several': async (setting) => {
      const first = await signedIn(setting);
      const second = await signedIn(setting);
      await first.client.listDatabases(first.token);
      await second.client.listDatabases(second.token);
    },
    'a wrong password is 401': async (setting) => {
      const login = { ...setting.login, password: 'no-such-password' };
      expectErrorObject(await signIn(setting, login), 401);
      const error = await failure(serverClientOf(setting).signIn({ ...login, password: 'canary-wrong-password' }));
      expect(error).toMatchObject({ name: 'ApiError', kind: 'unauthorized', status: 401, operation: 'signIn' });
      expect(String(error)).not.toContain('canary');
    },
    'an unknown user is 401': async (setting) => {
      expectErrorObject(await signIn(setting, { username: 'no-such-user', password: 'x' }), 401);
    },
    'a malformed body is 400': async (setting) => {
      for (const body of ['{"username":', {}, { username: setting.login.username }, { username: 1, password: 2 }, []]) {
        expect((await signIn(setting, body)).status).toBe(400);
      }
    },
  }),
  ...section<ServerSetting>('Version', [], {
    'it needs no token': async (setting) => {
      const { distribution, version } = await serverClientOf(setting).version();
      expect(distribution).not.toBe('');
      expect(version).toMatch(/^\d+\.\d+/);
    },
  }),
  ...section<ServerSetting>('Health check', [], {
    'it is 204, empty, without a token': async (setting) => {
      await serverClientOf(setting).health();
      expect(await raw(setting, { method: 'GET', path: '/health' })).toMatchObject({ status: 204, text: '' });
    },
  }),
  ...section<ServerSetting>('Authentication', ['simulator'], {
    'tokens end with a restart of the server, and a session signs in again': async (setting) => {
      const session = new Session(serverClientOf(setting), setting.login);
      await session.signIn();
      setting.powers?.simulator.restartServers(setting.powers.clusterID);
      await Promise.all(Array.from({ length: 5 }, () => session.use((client, token) => client.listDatabases(token))));
      expect(setting.powers?.simulator.count('signIn')).toBe(2);
    },
    'a session signs in again when its token is too old': async (setting) => {
      const session = new Session(serverClientOf(setting), setting.login);
      await session.signIn();
      setting.powers?.advance(24 * 3_600_000);
      expect(await session.use((client, token) => client.listDatabases(token))).toEqual([]);
      expect(setting.powers?.simulator.count('signIn')).toBe(2);
    },
  }),
];
