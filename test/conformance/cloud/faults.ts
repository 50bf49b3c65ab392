import { expect } from 'vitest';
import type { Fault } from '../../../src/simulator/faults/faults.ts';
import { section } from '../check.ts';
import { type CloudSetting, clientOf, type Powers } from '../cloud-setting.ts';

function powersOf(setting: CloudSetting): Powers {
  if (setting.powers === undefined) throw new Error('This needs the simulator');
  return setting.powers;
}

function strike(setting: CloudSetting, fault: Fault): void {
  powersOf(setting).simulator.faults.add({ times: 1, ...fault, match: { api: 'cloud', ...fault.match } });
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** What a client makes of everything that can go wrong on the way ("Errors"). */
export const cloudFaultChecks = [
  ...section<CloudSetting>('Faults', ['simulator'], {
    'a broken connection costs a Get nothing': async (setting) => {
      strike(setting, { effect: 'reset', match: { operation: 'list' } });
      expect(await clientOf(setting).list()).toEqual([]);
      expect(powersOf(setting).simulator.count('list')).toBe(2);
    },
    'a lost answer to a deploy is reported as such, and it is sent once': async (setting) => {
      strike(setting, { effect: 'lostAnswer', match: { operation: 'deploy' } });
      const client = clientOf(setting);
      const error = await failure(client.deploy({ ...setting.deployment, id: 'orders' }));
      expect(error).toMatchObject({
        name: 'ApiError',
        kind: 'lost',
        status: undefined,
        effectUnknown: true,
        retryable: false,
      });
      expect(powersOf(setting).simulator.count('deploy')).toBe(1);
      expect(await client.get('orders')).toMatchObject({ id: 'orders' });
    },
    'a connection that breaks before a deploy is done looks the same': async (setting) => {
      strike(setting, { effect: 'reset', match: { operation: 'deploy' } });
      const client = clientOf(setting);
      const error = await failure(client.deploy({ ...setting.deployment, id: 'orders' }));
      expect(error).toMatchObject({ kind: 'lost', effectUnknown: true });
      expect(await client.get('orders')).toBeUndefined();
    },
    'a body that breaks off is a lost answer': async (setting) => {
      strike(setting, { effect: 'brokenBody', match: { operation: 'deploy' } });
      const error = await failure(clientOf(setting).deploy({ ...setting.deployment, id: 'orders' }));
      expect(error).toMatchObject({ kind: 'lost', effectUnknown: true });
    },
    'cut JSON is an answer that makes no sense': async (setting) => {
      strike(setting, { effect: 'truncated', match: { operation: 'deploy' } });
      const error = await failure(clientOf(setting).deploy({ ...setting.deployment, id: 'orders' }));
      expect(error).toMatchObject({ kind: 'badAnswer', status: 200, effectUnknown: true, retryable: false });
    },
    'a cut list is an error, never a shorter list': async (setting) => {
      const { simulator } = powersOf(setting);
      for (const id of ['a', 'b', 'c']) simulator.deployForeign({ id });
      strike(setting, { effect: 'truncated', match: { operation: 'list' } });
      const client = clientOf(setting);
      expect(await failure(client.list())).toMatchObject({ kind: 'badAnswer', operation: 'list' });
      strike(setting, { effect: 'brokenBody', match: { operation: 'list' } });
      expect(await failure(client.list())).toMatchObject({ kind: 'lost', operation: 'list' });
      expect(await client.list()).toHaveLength(3);
    },
    'a page of HTML is recognized by its status': async (setting) => {
      strike(setting, { effect: 'html', match: { operation: 'list' } });
      const error = await failure(clientOf(setting).list());
      expect(error).toMatchObject({ kind: 'unavailable', status: 502, serverMessage: undefined });
    },
    '429 names a time, and all calls wait for it': async (setting) => {
      strike(setting, { effect: '429', match: { operation: 'list' }, retryAfterSeconds: 30 });
      const client = clientOf(setting);
      expect(await failure(client.list())).toMatchObject({ kind: 'throttled', status: 429, retryAfterMs: 30_000 });
      expect(await failure(client.list())).toMatchObject({ kind: 'throttled', status: undefined });
      powersOf(setting).advance(31_000);
      expect(await client.list()).toEqual([]);
    },
    '503 names a time too': async (setting) => {
      strike(setting, { effect: '5xx', match: { operation: 'list' }, retryAfterSeconds: 7 });
      expect(await failure(clientOf(setting).list())).toMatchObject({
        kind: 'unavailable',
        status: 503,
        retryAfterMs: 7_000,
      });
    },
    'a token that ends early costs one exchange': async (setting) => {
      const client = clientOf(setting, ['read']);
      await client.list();
      strike(setting, { effect: 'expiredToken', match: { operation: 'list' } });
      expect(await client.list()).toEqual([]);
      expect(powersOf(setting).simulator.count('exchangeToken')).toBe(2);
    },
    'an outage costs little and ends by itself': async (setting) => {
      const { simulator, advance } = powersOf(setting);
      const client = clientOf(setting, ['read']);
      await client.list();
      const fault = simulator.faults.add({ effect: 'outage', match: { api: 'cloud' } });
      const before = simulator.count('list');
      for (let minute = 0; minute < 10; minute++) {
        for (let call = 0; call < 20; call++) {
          expect(await failure(client.list())).toMatchObject({ name: 'ApiError', retryable: true });
        }
        advance(60_000);
      }
      // Five that open the breaker, each sent twice as a GET, and a probe a minute.
      expect(simulator.count('list') - before).toBeLessThanOrEqual(20);
      simulator.faults.remove(fault);
      const first = client.list();
      advance(1_000);
      expect(await first).toEqual([]);
    },
    'no error shows a secret, even if the service repeats the whole request': async (setting) => {
      const { simulator } = powersOf(setting);
      simulator.setKnobs({ echoSecrets: true });
      const client = clientOf(setting);
      const errors = [
        await failure(client.suspend('missing')),
        await failure(client.deploy({ ...setting.deployment, id: 'a', version: '0.0.1' })),
        await failure(
          clientOf({
            ...setting,
            credentials: [{ level: 'read', clientID: 'x', clientSecret: 'canary-secret-77' }],
          }).list(),
        ),
      ];
      for (const error of errors) {
        expect(error).toMatchObject({ name: 'ApiError' });
        const text = JSON.stringify({ ...(error instanceof Error ? error : {}), message: String(error) });
        expect(text).toContain('[redacted]');
        expect(text).not.toMatch(/canary|access-[0-9a-zA-Z]{8}|secret-\d/);
      }
    },
  }),
];
