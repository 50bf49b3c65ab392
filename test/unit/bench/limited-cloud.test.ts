import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/simulator/seeded-random.ts';
import { createSimulator } from '../../../src/simulator/simulator.ts';
import { JOURNAL_PATH, limitedCloud } from '../../bench/limited-cloud.ts';
import { RateLimit } from '../../bench/rate-limit.ts';
import { manualClock } from '../../support/clock.ts';

describe('RateLimit', () => {
  it("lets a second's worth through at once, then as many as the rate says, and tells when to come again", () => {
    const limit = new RateLimit(2, 0);
    expect([limit.refuse(0), limit.refuse(0), limit.refuse(0)]).toEqual([undefined, undefined, 1]);
    expect([limit.refuse(500), limit.refuse(500)]).toEqual([undefined, 1]);
    expect([limit.refuse(60_000), limit.refuse(60_000), limit.refuse(60_000)]).toEqual([undefined, undefined, 1]);
  });
});

describe('limitedCloud()', () => {
  const cloudWith = (requestsPerSecond: number | undefined) => {
    const clock = manualClock();
    const simulator = createSimulator({ clock, random: createSeededRandom(1) });
    const limited = limitedCloud(simulator, requestsPerSecond);
    const ask = async (
      path: string,
      { method = 'GET', authority = new URL(simulator.baseURL).host, body = '' } = {},
    ) => {
      const outcome = await limited.handle({ authority, method, path, headers: {}, body });
      return outcome.kind === 'answer' ? outcome.answer : undefined;
    };
    const journal = async () => JSON.parse((await ask(JOURNAL_PATH))?.body ?? '');
    return { clock, simulator, ask, journal };
  };
  const CLUSTERS = '/api/v1/team/acme/spaces/staging/clusters';

  it('answers 429 with Retry-After to more requests than it takes, and to the next one when there is room again', async () => {
    const { clock, ask } = cloudWith(1);
    expect((await ask(CLUSTERS))?.status).toBe(400);
    expect(await ask(CLUSTERS)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    await clock.advance(1000);
    expect((await ask(CLUSTERS))?.status).toBe(400);
  });

  it('limits neither servers nor what measures it', async () => {
    const { ask } = cloudWith(1);
    await ask(CLUSTERS);
    expect((await ask('/_simulator/counters'))?.status).toBe(200);
    expect(await ask('/api/v1/users', { authority: '127.0.0.1:1' })).toBeUndefined();
  });

  it('keeps a journal of who asked for what, refused or not', async () => {
    const { clock, ask, journal } = cloudWith(1);
    await ask(`${CLUSTERS}/deploy`, { method: 'POST', body: '{"id":"orders"}' });
    await ask('/api/v1/auth', { method: 'POST' });
    await ask(`${CLUSTERS}/users/suspend`, { method: 'POST' });
    await ask(CLUSTERS);
    await ask('/_simulator/counters');
    const at = clock.now();
    expect(await journal()).toEqual([
      { at, method: 'POST', space: 'staging', cluster: 'orders', deploys: true, status: 400 },
      { at, method: 'POST', space: '', cluster: '', deploys: false, status: 429 },
      { at, method: 'POST', space: 'staging', cluster: 'users', deploys: false, status: 429 },
      { at, method: 'GET', space: 'staging', cluster: '', deploys: false, status: 429 },
    ]);
  });

  it('notes when a request arrived, however late it is answered', async () => {
    const { clock, ask, journal, simulator } = cloudWith(undefined);
    simulator.setKnobs({ latencyMs: [500, 500] });
    const at = clock.now();
    const asked = ask(CLUSTERS);
    await clock.advance(500);
    await asked;
    expect(await journal()).toMatchObject([{ at, status: 400 }]);
  });

  it('limits nothing without a limit', async () => {
    const { ask } = cloudWith(undefined);
    for (let count = 0; count < 20; count++) expect((await ask(CLUSTERS))?.status).toBe(400);
  });
});
