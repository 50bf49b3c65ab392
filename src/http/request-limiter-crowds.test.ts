import { expect, test } from 'vitest';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { RequestLimiter } from './request-limiter.ts';

const PATIENCE_MS = 5_000;
const RETRY = { initialMs: 1_000, maxMs: 15_000 };
const CROWD = 20;

/**
 * Crowds whose members each want turn after turn, and after a minute 20 parties that want a single turn. The other side lets one
 * request a second through. A member that has waited some seconds leaves, and comes back after a while, like a pass. Resolves to
 * the seconds until each single party had its turn.
 */
async function singlesBeside(crowds: number): Promise<readonly number[]> {
  const clock = virtualClock();
  const random = createSeededRandom(1);
  const limiter = new RequestLimiter(clock);
  const passes = onePerSecond(clock.monotonic);
  const later = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const turn = async (party: object) => {
    for (let failures = 0; ; failures++) {
      const patience = new AbortController();
      const cancel = clock.after(PATIENCE_MS, () => patience.abort());
      const waited = await limiter.take(party, false, patience.signal);
      cancel();
      if (!patience.signal.aborted) {
        if (passes()) return limiter.letThrough(party, 'get', waited);
        limiter.wasRefused(party, 'get', clock.monotonic());
      }
      const backoffMs = Math.min(RETRY.maxMs, RETRY.initialMs * 2 ** failures) * random.float();
      await later(Math.max(limiter.waitMs(party), RETRY.initialMs, backoffMs));
    }
  };
  const forEver = async (party: object) => {
    for (;;) await turn(party);
  };
  for (let crowd = 0; crowd < crowds; crowd++) {
    const party = {};
    for (let member = 0; member < CROWD; member++) void forEver(party);
  }
  await clock.advance(60_000);
  const beganAt = clock.monotonic();
  const took: number[] = [];
  for (let single = 0; single < 20; single++) {
    void turn({}).then(() => took.push((clock.monotonic() - beganAt) / 1_000));
  }
  await clock.advance(300_000);
  return took;
}

function onePerSecond(now: () => number): () => boolean {
  let next = 0;
  return () => {
    if (now() < next) return false;
    next = now() + 1_000;
    return true;
  };
}

test.each([1, 10, 30])(
  'RequestLimiter starves nobody beside %i crowds, although nobody waits for long',
  async (crowds) => {
    const took = await singlesBeside(crowds);
    expect(took).toHaveLength(20);
    expect(Math.max(...took)).toBeLessThan(240);
  },
);
