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
  const followedFrom = (by: string) => primaries.namedBy(urlOf(by), ID);
  return { clock, names, followedFrom };
}

/** All logins are at the server in use, which takes no changes and names the other one. Returns when they moved there, in minutes. */
async function movesBetweenTwo({ clock, names }: ReturnType<typeof aCluster>, minutes: number): Promise<number[]> {
  const moves: number[] = [];
  let [used, other] = ['one', 'two'];
  for (let minute = 0; minute < minutes; minute++) {
    if (names(used, other)) {
      moves.push(minute);
      [used, other] = [other, used];
    }
    await clock.advance(60_000);
  }
  return moves;
}

describe('Servers that take no changes', () => {
  it('that name each other are followed less and less often, however seldom they are asked', async () => {
    const moves = await movesBetweenTwo(aCluster(), 90);
    expect(moves).toEqual([0, 1, 2, 3, 4, 6, 9, 15, 25, 35, 45, 55, 65, 75, 85]);
  });

  it('are followed at once again after they have agreed for some time', async () => {
    const cluster = aCluster();
    await movesBetweenTwo(cluster, 90);
    await cluster.clock.advance(1_200_000);
    expect(cluster.names('two', 'one')).toBe(true);
    await cluster.clock.advance(5_000);
    expect(cluster.names('one', 'two')).toBe(true);
  });

  it('and name themselves are not followed, and keep nobody from following them to another one soon after', () => {
    const { names, followedFrom } = aCluster();
    expect([names('one', 'one'), followedFrom('one')]).toEqual([false, undefined]);
    expect([names('one', 'two'), followedFrom('one')]).toEqual([true, 'two']);
  });
});
