import { expect } from 'vitest';
import { section } from '../check.ts';
import { type CloudSetting, clientOf } from '../cloud-setting.ts';
import { expectErrorObject, raw } from '../raw.ts';

const exchange = (setting: CloudSetting, authorization: string | undefined) =>
  raw(setting, { method: 'POST', path: '/api/v1/auth', authorization });

const base64 = (text: string) => Buffer.from(text).toString('base64');

export const tokenExchangeChecks = [
  ...section<CloudSetting>('Token exchange', [], {
    'the answer is only the access token, as a plain string': async (setting) => {
      for (const { clientID, clientSecret } of setting.credentials) {
        const answer = await exchange(setting, `Basic ${clientID}:${clientSecret}`);
        expect(answer.status).toBe(200);
        expect(answer.text.trim()).toMatch(/^"?[\x21-\x7e]+"?$/);
        expect(answer.text.trim()).not.toMatch(/^[{[]/);
      }
    },
    'without a header it is 400': async (setting) => {
      expectErrorObject(await exchange(setting, undefined), 400);
    },
    'a header without a token is 400': async (setting) => {
      expectErrorObject(await exchange(setting, 'Basic'), 400);
    },
    'another scheme is 400': async (setting) => {
      const [credential] = setting.credentials;
      expectErrorObject(await exchange(setting, `Bearer ${credential?.clientID}:${credential?.clientSecret}`), 400);
    },
    'an unknown client id is 400': async (setting) => {
      expectErrorObject(await exchange(setting, 'Basic no-such-client:no-such-secret'), 400);
    },
    'a wrong client secret is 400': async (setting) => {
      const [credential] = setting.credentials;
      expectErrorObject(await exchange(setting, `Basic ${credential?.clientID}:no-such-secret`), 400);
    },
    'credentials as Base64 are 400: they go as they are': async (setting) => {
      const [credential] = setting.credentials;
      const encoded = base64(`${credential?.clientID}:${credential?.clientSecret}`);
      expectErrorObject(await exchange(setting, `Basic ${encoded}`), 400);
    },
    'the client gets a token for each of its credentials': async (setting) => {
      await clientOf(setting).authenticate();
    },
    'the client reports a wrong secret and does not show it': async (setting) => {
      const [credential] = setting.credentials;
      if (credential === undefined) throw new Error('There is no credential');
      const wrong = { ...credential, clientSecret: 'canary-wrong-secret' };
      const error = await clientOf({ ...setting, credentials: [wrong] })
        .authenticate()
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'ApiError', kind: 'unauthorized', status: 400, operation: 'authenticate' });
      expect(String(error)).not.toContain('canary');
    },
  }),
  ...section<CloudSetting>('Authentication', ['simulator'], {
    'an expired access token is 401, and the client gets another one by itself': async (setting) => {
      const client = clientOf(setting, ['read']);
      await client.list();
      setting.powers?.advance(3_600_001);
      await client.list();
      expect(setting.powers?.simulator.count('exchangeToken')).toBe(2);
      expect(setting.powers?.simulator.count('list')).toBe(3);
    },
    'after all tokens have ended, many calls cost one exchange': async (setting) => {
      const client = clientOf(setting, ['read']);
      await client.list();
      setting.powers?.simulator.endAccessTokens();
      await Promise.all(Array.from({ length: 10 }, () => client.list()));
      expect(setting.powers?.simulator.count('exchangeToken')).toBe(2);
    },
  }),
];
