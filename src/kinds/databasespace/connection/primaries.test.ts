import { describe, expect, it } from 'vitest';
import { virtualClock } from '../../../sandbox/virtual-clock.ts';
import { Primaries } from './primaries.ts';

const ID = 'orders';
const urlOf = (address: string) => `https://${address}`;

/** A cluster whose servers all run. */
function aCluster() {
  const clock = virtualClock();
  const primaries = new Primaries(clock, () => true);
  const names = (by: string, address: string) => primaries.named(ID, urlOf(by), { address, url: urlOf(address) });
  const refuses = (by: string, running: readonly string[]) =>
    primaries.unnamed(
      ID,
      urlOf(by),
      running.map((address) => ({ address, url: address === 'forbidden' ? undefined : urlOf(address) })),
    );
  const followedFrom = (by: string) => primaries.namedBy(urlOf(by), ID);
  return { clock, names, refuses, followedFrom };
}

/**
 * All logins are at the server in use, which takes no changes and names the other one. Returns when they moved there, in minutes.
 * `besides`: what else is asked each minute.
 */
async function movesBetweenTwo(
  { clock, names }: ReturnType<typeof aCluster>,
  minutes: number,
  besides: (minute: number, used: string, other: string) => void = () => {},
): Promise<number[]> {
  const moves: number[] = [];
  let [used, other] = ['one', 'two'];
  for (let minute = 0; minute < minutes; minute++) {
    if (names(used, other)) {
      moves.push(minute);
      [used, other] = [other, used];
    }
    besides(minute, used, other);
    await clock.advance(60_000);
  }
  return moves;
}

describe('Servers that take no changes', () => {
  it('that name each other are followed less and less often, however seldom they are asked', async () => {
    const moves = await movesBetweenTwo(aCluster(), 90);
    expect(moves).toEqual([0, 1, 2, 3, 4, 6, 9, 15, 25, 35, 45, 55, 65, 75, 85]);
  });

  it.each([1, 2, 3, 5])(
    'that name each other are followed less and less often, though the one that is not in use is asked, too, every %i minutes',
    async (every) => {
      const cluster = aCluster();
      const ask = (minute: number, used: string, other: string) => {
        if (minute % every === 0) cluster.names(other, used);
      };
      const moves = await movesBetweenTwo(cluster, 90, ask);
      expect(moves).toEqual([0, 1, 2, 3, 4, 6, 9, 15, 25, 35, 45, 55, 65, 75, 85]);
    },
  );

  it.each(['one', 'two'])(
    'that name each other are followed less and less often, though a third names %s',
    async (it) => {
      const cluster = aCluster();
      const moves = await movesBetweenTwo(cluster, 90, () => cluster.names('three', it));
      expect(moves.length).toBeLessThan(20);
      expect(moves.filter((minute) => minute >= 60).length).toBeLessThan(5);
    },
  );

  it('are followed at once again after they have agreed for some time', async () => {
    const cluster = aCluster();
    await movesBetweenTwo(cluster, 90);
    await cluster.clock.advance(1_200_000);
    expect(cluster.names('two', 'one')).toBe(true);
    await cluster.clock.advance(5_000);
    expect(cluster.names('one', 'two')).toBe(true);
  });

  it('and name nobody are left for the next one after 20 seconds, for the one after that as if each had named it', async () => {
    const { clock, names, refuses, followedFrom } = aCluster();
    const running = ['one', 'two', 'forbidden', 'three'];
    expect(refuses('one', running)).toBe(false);
    await clock.advance(19_999);
    expect(refuses('one', running)).toBe(false);
    await clock.advance(1);
    expect([refuses('one', running), followedFrom('one')]).toEqual([true, 'two']);
    expect(refuses('two', running)).toBe(false);
    await clock.advance(20_000);
    expect([refuses('two', running), followedFrom('two')]).toEqual([true, 'three']);
    await clock.advance(5_000);
    expect([names('three', 'one'), followedFrom('three')]).toEqual([false, undefined]);
    await clock.advance(5_000);
    expect([names('three', 'one'), followedFrom('three')]).toEqual([true, 'one']);
  });

  it.each([
    ['the only one that runs', ['one'], 20_000],
    ['asked again after a long time', ['one', 'two'], 600_000],
  ])('and name nobody are kept if they are %s', async (_, running, afterMs) => {
    const { clock, refuses } = aCluster();
    refuses('one', running);
    await clock.advance(afterMs);
    expect(refuses('one', running)).toBe(false);
  });
});
