import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { RequestLimiter } from './request-limiter.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));
const MINUTE_MS = 60_000;

function aLimiter() {
  const clock = manualClock();
  const limiter = new RequestLimiter(clock);
  const gone: string[] = [];
  const parties: Record<string, object> = {};
  const partyOf = (name: string) => {
    parties[name] ??= {};
    return parties[name];
  };
  /** The name of a request begins with that of its party. */
  const take = (name: string, { routine = false, signal }: { routine?: boolean; signal?: AbortSignal } = {}) =>
    limiter.take(partyOf(name[0] ?? ''), routine, signal).then((waited) => {
      if (!signal?.aborted) gone.push(name);
      return waited;
    });
  const refused = (name: string, retryAfterMs?: number) =>
    limiter.wasRefused(partyOf(name), 'get', clock.monotonic(), retryAfterMs);
  const advance = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  /** Returns how many of a crowd of requests get their turn in one second. */
  const ratePerSecond = async () => {
    await advance(1);
    const before = gone.length;
    const leave = new AbortController();
    for (let count = 0; count < 200; count++) void take(`r${count}`, { signal: leave.signal });
    await advance(1_000);
    leave.abort();
    return gone.length - before;
  };
  return { clock, limiter, gone, partyOf, take, refused, advance, ratePerSecond };
}

describe('RequestLimiter', () => {
  it('holds nobody back before the first 429', async () => {
    const { clock, limiter, take } = aLimiter();
    for (let count = 0; count < 1_000; count++) expect(await take(`a${count}`)).toBe(false);
    expect([clock.timers(), limiter.sinceMs, limiter.waitMs({})]).toEqual([0, undefined, 0]);
  });

  it('holds everybody back after a 429, for the requested time and then at a limited rate', async () => {
    const { clock, limiter, gone, take, refused, advance } = aLimiter();
    refused('a', 2_000);
    expect(limiter.sinceMs).toBe(clock.now());
    void take('a1');
    void take('b1');
    await advance(1_999);
    expect(gone).toEqual([]);
    await advance(1);
    expect(gone).toEqual(['a1']);
    await advance(40);
    expect(gone).toEqual(['a1', 'b1']);
    expect(clock.timers()).toBe(0);
  });

  it('holds nobody back for longer than some seconds except the party that was told to wait', async () => {
    const { gone, take, refused, advance } = aLimiter();
    refused('a', 10 * MINUTE_MS);
    void take('b1');
    await advance(5_000);
    expect(gone).toEqual(['b1']);
  });

  it('lets parties take turns, whatever each of them asks for', async () => {
    const { gone, take, refused, advance } = aLimiter();
    refused('a', 1_000);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void take(name);
    await advance(2_000);
    expect(gone).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it.each([
    [3, 'one in ten turns', [0, 10, 20]],
    [100, 'one in five, as they would wait for half a minute otherwise', [0, 5, 10, 15, 20]],
  ])('gives %d routine requests the first turn after a 429, and then %s', async (waiting, _, turns) => {
    const { gone, take, refused, advance } = aLimiter();
    refused('a', 1_000);
    for (let count = 1; count <= waiting; count++) void take('r', { routine: true });
    for (let count = 1; count <= 100; count++) void take('u');
    await advance(2_000);
    expect(gone.slice(0, 24).flatMap((name, turn) => (name === 'r' ? [turn] : []))).toEqual(turns);
  });

  it('goes on at once if nobody has asked for a while', async () => {
    const { take, refused, advance } = aLimiter();
    refused('a');
    await advance(10_000);
    expect(await take('a1')).toBe(false);
  });

  it('lets those who give up leave, and leaves no timer behind', async () => {
    const { clock, gone, take, refused, advance } = aLimiter();
    refused('a', 1_000);
    const leave = new AbortController();
    const left = [take('a1', { signal: leave.signal }), take('b1', { signal: leave.signal, routine: true })];
    expect(clock.timers()).toBe(1);
    leave.abort();
    await Promise.all(left);
    expect(clock.timers()).toBe(0);
    await take('a2', { signal: AbortSignal.abort() });
    void take('c1');
    await advance(2_000);
    expect(gone).toEqual(['a2', 'c1'].slice(1));
  });

  it('says how long a party would wait', async () => {
    const { limiter, partyOf, take, refused } = aLimiter();
    refused('a', 1_000);
    for (const name of ['a1', 'a2', 'a3', 'b1']) void take(name);
    void take('l1', { routine: true });
    // At 25 requests a second.
    expect(['a', 'b', 'c'].map((name) => limiter.waitMs(partyOf(name)))).toEqual([160, 120, 80]);
  });

  it('counts one time of trouble once, however many requests are refused in it', async () => {
    const { limiter, partyOf, clock, refused, ratePerSecond } = aLimiter();
    const sentAt = clock.monotonic();
    for (const name of ['a', 'b', 'c', 'd']) limiter.wasRefused(partyOf(name), 'get', sentAt, 1_000);
    clock.advance(500);
    refused('e', 500);
    clock.advance(500);
    expect(await ratePerSecond()).toBe(26);
  });

  it('does not slow down repeatedly within a second, even if all spaces are refused one operation', async () => {
    const { limiter, partyOf, clock, ratePerSecond } = aLimiter();
    for (let space = 0; space < 50; space++) {
      limiter.wasRefused(partyOf(`space ${space}`), 'versions', clock.monotonic());
      clock.advance(20);
    }
    expect(await ratePerSecond()).toBeGreaterThan(20);
    limiter.letThrough(partyOf('space 0'), 'get', false);
    expect(limiter.wasRefused(partyOf('space 50'), 'versions', clock.monotonic()), 'of concern to others').toBe(false);
  });

  it('sets the rate to what was let through since the last 429, but cuts at most three quarters at once', async () => {
    const { clock, limiter, partyOf, refused, ratePerSecond } = aLimiter();
    const letThrough = (count: number) => {
      for (let each = 0; each < count; each++) limiter.letThrough(partyOf('a'), 'get', false);
    };
    refused('a');
    clock.advance(10_000);
    letThrough(80);
    refused('a');
    expect(await ratePerSecond()).toBe(8);
    letThrough(1);
    clock.advance(10_000);
    refused('a');
    expect(await ratePerSecond()).toBe(2);
  });

  it.each([
    ['doubles in five seconds of full use after a first 429', 0, 25],
    ['rises by half a request a second if a second one showed what is let through', 250, 0.5],
  ])('raises the rate only if it is used: it %s', async (_, between, raise) => {
    const { limiter, partyOf, refused, advance, ratePerSecond } = aLimiter();
    const letThrough = (count: number, waited: boolean) => {
      for (let each = 0; each < count; each++) limiter.letThrough(partyOf('a'), 'get', waited);
    };
    refused('a');
    await advance(10_000);
    letThrough(between, false);
    if (between > 0) refused('a');
    await advance(10_000);
    const rate = await ratePerSecond();
    letThrough(250, false);
    await advance(60_000);
    expect(await ratePerSecond()).toBe(rate);
    // Five seconds, while the rate doubles.
    letThrough(Math.round((25 * 5) / Math.LN2), true);
    const raised = (await ratePerSecond()) - rate;
    expect(Math.abs(raised - raise), `${raised} more`).toBeLessThanOrEqual(3);
  });

  it('knows nothing of the limit yet after 429s without anybody being let through', async () => {
    const { limiter, clock, partyOf, refused, take } = aLimiter();
    for (let count = 0; count < 300; count++) {
      refused('a');
      refused('b');
      clock.advance(1_000);
    }
    // One request in ten seconds, and then one in four.
    limiter.letThrough(partyOf('b'), 'get', true);
    for (const name of ['b1', 'b2', 'b3']) void take(name);
    expect(limiter.waitMs(partyOf('c'))).toBeCloseTo(10_000 / (1 + (10 * Math.LN2) / 5));
  });

  it('learns nothing about others from a party that is always refused', async () => {
    const { limiter, partyOf, refused, clock, ratePerSecond } = aLimiter();
    for (let count = 0; count < 10; count++) {
      refused('a');
      limiter.letThrough(partyOf('b'), 'get', false);
      clock.advance(10_000);
    }
    expect(await ratePerSecond()).toBe(27);
  });

  it('isolates an operation that is always refused: others neither wait nor slow down for it', async () => {
    const { clock, limiter, partyOf, take, ratePerSecond } = aLimiter();
    const deployRefused = () => limiter.wasRefused(partyOf('a'), 'deploy', clock.monotonic(), 5_000);
    expect(deployRefused()).toBe(true);
    clock.advance(5_000);
    for (let count = 0; count < 20; count++) {
      limiter.letThrough(partyOf('a'), 'get', await take('a'));
      expect(deployRefused()).toBe(false);
      clock.advance(40);
      expect(await take('b')).toBe(false);
      clock.advance(5_000);
    }
    expect(await ratePerSecond()).toBeGreaterThanOrEqual(26);
    clock.advance(15 * MINUTE_MS);
    await take('b');
    expect([limiter.sinceMs, deployRefused(), limiter.sinceMs]).toEqual([undefined, false, undefined]);
  });

  it('makes nobody wait again for an operation that is refused first after each pause', async () => {
    const { clock, limiter, partyOf, gone, take, advance } = aLimiter();
    const deployRefused = () => limiter.wasRefused(partyOf('a'), 'deploy', clock.monotonic(), 5_000);
    deployRefused();
    await advance(5_000);
    void take('b1', { routine: true });
    expect(deployRefused()).toBe(false);
    await advance(50);
    expect(gone).toEqual(['b1']);
  });

  it('does not treat the number of requests as the limit if it is below the rate', async () => {
    const { clock, limiter, partyOf, take, refused, ratePerSecond } = aLimiter();
    refused('a');
    for (let cuts = 0; cuts < 10; cuts++) {
      for (let each = 0; each < 120; each++) {
        clock.advance(500);
        expect(await take('a')).toBe(false);
        limiter.letThrough(partyOf('a'), 'get', false);
      }
      refused('a');
    }
    expect(await ratePerSecond()).toBeGreaterThanOrEqual(2);
  });

  it('begins with half more than the rate that was let through in the last half minute, if that was higher', async () => {
    const { clock, limiter, partyOf, refused, ratePerSecond } = aLimiter();
    for (let each = 0; each < 6_000; each++) {
      clock.advance(20);
      limiter.letThrough(partyOf('a'), 'get', false);
    }
    refused('a');
    const rate = await ratePerSecond();
    expect([rate >= 72, rate <= 76], `${rate} a second`).toEqual([true, true]);
  });

  it('slows down if nobody at all is let through, even if all were refused before', async () => {
    const { refused, clock, ratePerSecond } = aLimiter();
    for (let count = 0; count < 30; count++) {
      refused('a');
      clock.advance(1_000);
    }
    expect(await ratePerSecond()).toBeLessThan(4);
  });

  it('lets one request through every ten seconds at least, however often nobody is', async () => {
    const { limiter, refused, clock, take, partyOf } = aLimiter();
    for (let count = 0; count < 300; count++) {
      refused('a');
      clock.advance(1_000);
    }
    for (let count = 0; count < 10; count++) {
      limiter.letThrough(partyOf('b'), 'get', false);
      refused('a');
      refused('b');
      clock.advance(1_000);
    }
    void take('b1');
    expect(limiter.waitMs(partyOf('c'))).toBe(10_000);
  });

  it('raises a low rate by a tenth in ten seconds of full use', async () => {
    const { limiter, refused, clock, take, partyOf } = aLimiter();
    for (let count = 0; count < 300; count++) {
      refused('a');
      clock.advance(1_000);
    }
    limiter.letThrough(partyOf('b'), 'get', false);
    refused('b');
    clock.advance(1_000);
    // One request in ten seconds.
    limiter.letThrough(partyOf('b'), 'get', true);
    // Two go at once: one, and one more for what nobody used.
    for (const name of ['b1', 'b2', 'b3']) void take(name);
    expect(limiter.waitMs(partyOf('c'))).toBeCloseTo(10_000 / 1.1);
  });

  it('listens to others soon, even if one was told to wait for long', async () => {
    const { refused, clock, ratePerSecond } = aLimiter();
    refused('a', 10 * MINUTE_MS);
    clock.advance(6_000);
    refused('b');
    clock.advance(1_000);
    expect(await ratePerSecond()).toBeLessThan(15);
  });

  it('forgets the limit some time after the last 429, and not before', async () => {
    const { clock, limiter, take, refused } = aLimiter();
    refused('a');
    clock.advance(10 * MINUTE_MS);
    await take('a1');
    expect(limiter.sinceMs).toBeDefined();
    clock.advance(1);
    await take('a2');
    expect(limiter.sinceMs).toBeUndefined();
  });
});

const LEARNED_MS = 10_000;

interface Cloud {
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** All of 10 spaces ask without end, the first with ten workers, for this many minutes. The cloud answers after 50 ms. */
async function crowd({ ratePerSecond, burst }: Cloud, minutes: number) {
  const { clock, limiter, partyOf } = aLimiter();
  const served: number[] = Array.from({ length: 10 }, () => 0);
  const refused: number[] = [];
  let tokens = burst;
  let filledAt = 0;
  const passes = () => {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * ratePerSecond);
    filledAt = now;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
  const later = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const hand = async (space: number) => {
    const party = partyOf(String(space));
    for (;;) {
      const waited = await limiter.take(party, false);
      const sentAt = clock.monotonic();
      const passed = passes();
      await later(50);
      if (passed) {
        if (sentAt > LEARNED_MS) served[space] = (served[space] ?? 0) + 1;
        limiter.letThrough(party, 'get', waited);
        await later(20);
      } else {
        refused.push(clock.monotonic());
        limiter.wasRefused(party, 'get', sentAt, 1_000);
        await later(1_500);
      }
    }
  };
  for (let count = 0; count < 10; count++) void hand(0);
  for (let space = 1; space < 10; space++) void hand(space);
  for (let elapsed = 0; elapsed < minutes * MINUTE_MS; elapsed += 10) {
    clock.advance(10);
    await settle();
  }
  return { served, refused };
}

describe.each<Cloud>([
  { ratePerSecond: 10, burst: 10 },
  { ratePerSecond: 10, burst: 1 },
  { ratePerSecond: 2, burst: 60 },
  { ratePerSecond: 40, burst: 40 },
  { ratePerSecond: 40, burst: 10 },
  { ratePerSecond: 100, burst: 100 },
])('RequestLimiter with a cloud that lets $ratePerSecond a second through, $burst at once', (cloud) => {
  it('finds the rate, is rarely refused, and gives all spaces equal shares', async () => {
    const minutes = 3;
    const { served, refused } = await crowd(cloud, minutes);
    const total = served.reduce((sum, count) => sum + count, 0);
    // Requests sent before there was anything to learn from do not count.
    const later = refused.filter((at) => at > LEARNED_MS).length;
    const most = (cloud.ratePerSecond * (minutes * MINUTE_MS - LEARNED_MS)) / 1000;
    const squares = served.reduce((sum, count) => sum + count * count, 0);
    const figures = {
      used: total / most,
      goodput: total / (total + later),
      jain: (total * total) / (served.length * squares),
    };
    expect(figures.used).toBeGreaterThan(0.8);
    expect(figures.goodput).toBeGreaterThan(0.95);
    expect(figures.jain).toBeGreaterThan(0.99);
    expect(refused.length - later).toBeLessThan(30);
  });
});
