import { expect, test } from 'vitest';
import type { Log } from '../base/log.ts';
import { KubeError } from '../kube/api.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { actingUnder } from './acting.ts';
import { createInformers } from './informers.ts';

test('A replica that may not have its Lease says so once a minute, and at once if it is refused for another reason', async () => {
  const clock = virtualClock();
  const random = createSeededRandom(1);
  const api = new FakeKube({ now: clock.now, random });
  let why = 'may not get leases';
  Object.assign(api, { get: () => Promise.reject(new KubeError(why, { status: 403 })) });
  const lines: string[] = [];
  const log = { info: () => {}, warn: (_: object, message: string) => lines.push(message) } as unknown as Log;
  const given = { api, clock, random, log, namespaces: undefined, instance: 'one' };
  const acting = actingUnder(
    { namespace: 'mooring', name: 'mooring' },
    given,
    createInformers({ ...given, onWatchFailure: () => true }),
  );
  const stop = new AbortController();
  const controllers: Parameters<typeof acting.run>[1] = [] as never;
  const ended = acting.run(stop.signal, controllers, async () => {});
  await clock.advance(3_600_000);
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.length).toBeLessThanOrEqual(61);
  expect(acting.refused()).toBe('may not get leases');
  why = 'no answer';
  lines.length = 0;
  await clock.advance(5_000);
  expect(lines).toEqual(['Cannot take or renew the lease: no answer']);
  for (let tries = 0; tries < 10; tries++) {
    why = tries % 2 === 0 ? 'closed' : 'no answer';
    await clock.advance(3_000);
  }
  expect(lines.slice(1)).toEqual(['Cannot take or renew the lease: closed']);
  stop.abort();
  await clock.advance(60_000);
  await ended;
});
