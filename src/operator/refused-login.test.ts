import { expect, test } from 'vitest';
import { HttpError } from '../base/transport.ts';
import { KubeError } from '../kube/api.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { collectionsOf, createInformers } from './informers.ts';
import { RefusedLogin } from './refused-login.ts';

const HOUR_MS = 3_600_000;

const refusal = (status: number) => new KubeError('Refused', { status });

/** Runs everything that the operator watches on an API server that refuses each watch and list. Returns the log. */
async function refused(error: Error) {
  const clock = virtualClock();
  const random = createSeededRandom(1);
  const api = new FakeKube({ now: clock.now, random });
  const refuse = () => Promise.reject(error);
  Object.assign(api, { list: refuse, watch: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }) });
  const login = new RefusedLogin(clock);
  const logged: { readonly at: number; readonly message: string }[] = [];
  const log = { warn: (_: object, message: string) => logged.push({ at: clock.monotonic(), message }) };
  const onWatchFailure = login.failed.bind(login);
  const informers = createInformers({ api, clock, random, namespaces: undefined, log, onWatchFailure });
  const collections = collectionsOf(informers);
  const stop = new AbortController();
  for (const { informer } of collections) void informer.run(stop.signal);
  await clock.advance(HOUR_MS);
  stop.abort();
  const problem = login.problem(collections.map(({ plural }) => plural));
  return { logged, problem };
}

test('An operator that the API server does not let in says so once a minute, not for each kind', async () => {
  const { logged, problem } = await refused(refusal(401));
  expect(logged[0]?.message).toMatch(/does not accept this operator's login \(401\).*give it a new one/);
  const pauses = logged.slice(1).map(({ at }, index) => at - (logged[index]?.at ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(60_000);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(90_000);
  expect(problem).toMatch(/has not accepted this operator's login for \d+ minutes/);
});

test('An operator that may not watch any kind says so for each', async () => {
  const { logged, problem } = await refused(refusal(403));
  expect(new Set(logged.map(({ message }) => /Cannot watch (\w+)/.exec(message)?.[1])).size).toBe(6);
  expect(problem).toBeUndefined();
});

test('An operator that no API server answers says so once a minute, not for each kind', async () => {
  const { logged, problem } = await refused(new HttpError('unreachable', 'connect ECONNREFUSED'));
  expect(logged[0]?.message).toMatch(/ECONNREFUSED. The same failure of other kinds is not logged$/);
  expect(logged.length).toBeGreaterThan(30);
  expect(logged.length).toBeLessThanOrEqual(61);
  // It comes back by itself.
  expect(problem).toBeUndefined();
});
