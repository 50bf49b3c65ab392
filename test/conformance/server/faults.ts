import { expect } from 'vitest';
import { Session } from '../../../src/database/session.ts';
import type { Fault } from '../../../src/simulator/faults/faults.ts';
import { section } from '../check.ts';
import { failure, type ServerSetting, serverClientOf, signedIn } from '../server-setting.ts';

function powersOf({ powers }: ServerSetting): NonNullable<ServerSetting['powers']> {
  if (powers === undefined) throw new Error('This needs the simulator');
  return powers;
}

function strike(setting: ServerSetting, fault: Fault): void {
  powersOf(setting).simulator.faults.add({ times: 1, ...fault, match: { api: 'server', ...fault.match } });
}

/** What a client makes of everything that can go wrong on the way. */
export const serverFaultChecks = [
  ...section<ServerSetting>('Faults', ['simulator'], {
    'a lost answer to a new password is reported as such, and one of the two passwords works': async (setting) => {
      const { simulator, clusterID } = powersOf(setting);
      const { username } = setting.login;
      strike(setting, { effect: 'lostAnswer', match: { operation: 'updateUser' } });
      const session = new Session(serverClientOf(setting), setting.login);
      const error = await failure(session.updateUser(username, 'another-password'));
      expect(error).toMatchObject({ name: 'ApiError', kind: 'lost', effectUnknown: true, retryable: false });
      expect(simulator.count('updateUser')).toBe(1);
      expect(simulator.passwordIs(clusterID, username, 'another-password')).toBe(true);
      expect(await failure(session.signIn())).toMatchObject({ kind: 'unauthorized', operation: 'signIn' });
    },
    'a lost answer to a new user or database is reported as such, and it is sent once': async (setting) => {
      const { simulator } = powersOf(setting);
      strike(setting, { effect: 'lostAnswer', match: { operation: 'createUser' } });
      strike(setting, { effect: 'lostAnswer', match: { operation: 'createDatabase' } });
      const { client, token } = await signedIn(setting);
      expect(await failure(client.createUser(token, 'app', 'x'))).toMatchObject({ kind: 'lost', effectUnknown: true });
      expect(await failure(client.createDatabase(token, 'app'))).toMatchObject({ kind: 'lost', effectUnknown: true });
      expect([simulator.count('createUser'), simulator.count('createDatabase')]).toEqual([1, 1]);
      expect(await client.getUser(token, 'app')).toBeDefined();
      expect(await client.getDatabase(token, 'app')).toBeDefined();
    },
    'cut JSON, broken bodies and pages of HTML are errors': async (setting) => {
      const { client, token } = await signedIn(setting);
      for (const [effect, kind] of [
        ['truncated', 'badAnswer'],
        ['brokenBody', 'lost'],
        ['html', 'unavailable'],
      ] as const) {
        strike(setting, { effect, match: { operation: 'listUsers' } });
        expect(await failure(client.listUsers(token))).toMatchObject({ name: 'ApiError', kind });
      }
      expect(await client.listUsers(token)).toEqual([setting.login.username]);
    },
    'a broken connection costs a Get nothing': async (setting) => {
      const { client, token } = await signedIn(setting);
      strike(setting, { effect: 'reset', match: { operation: 'listUsers' } });
      expect(await client.listUsers(token)).toEqual([setting.login.username]);
    },
    '429 names a time, and all calls wait for it': async (setting) => {
      const { client, token } = await signedIn(setting);
      strike(setting, { effect: '429', match: { operation: 'listUsers' }, retryAfterSeconds: 20 });
      expect(await failure(client.listUsers(token))).toMatchObject({ kind: 'throttled', retryAfterMs: 20_000 });
      expect(await failure(client.listDatabases(token))).toMatchObject({ kind: 'throttled', status: undefined });
      powersOf(setting).advance(21_000);
      expect(await client.listDatabases(token)).toEqual([]);
    },
    'a token that ends early costs a session one sign-in': async (setting) => {
      const session = new Session(serverClientOf(setting), setting.login);
      await session.signIn();
      strike(setting, { effect: 'expiredToken', match: { operation: 'createUser' } });
      await session.use((client, token) => client.createUser(token, 'app', 'x'));
      const { simulator } = powersOf(setting);
      expect([simulator.count('signIn'), simulator.count('createUser')]).toEqual([2, 2]);
    },
    'a server that is down is unreachable, and nothing is lost': async (setting) => {
      const { client, token } = await signedIn(setting);
      const { simulator } = powersOf(setting);
      const fault = simulator.faults.add({ effect: 'outage', match: { api: 'server' } });
      await setting.pause();
      const error = await failure(client.createUser(token, 'app', 'x'));
      expect(error).toMatchObject({ name: 'ApiError', status: undefined });
      simulator.faults.remove(fault);
    },
    'no error shows a secret, even if the server repeats the whole request': async (setting) => {
      powersOf(setting).simulator.setKnobs({ echoSecrets: true });
      const { client, token } = await signedIn(setting);
      const errors = [
        await failure(client.signIn({ ...setting.login, password: 'canary-password-1' })),
        await failure(client.createUser(token, setting.login.username, 'canary-password-2')),
        await failure(client.updateUser(token, 'missing', 'canary-password-3')),
        await failure(client.getSchema(token, 'missing')),
      ];
      for (const error of errors) {
        expect(error).toMatchObject({ name: 'ApiError' });
        const text = JSON.stringify({ ...(error instanceof Error ? error : {}), message: String(error) });
        expect(text).toContain('[redacted]');
        expect(text).not.toMatch(/canary/);
        expect(text).not.toContain(token);
      }
    },
  }),
];
