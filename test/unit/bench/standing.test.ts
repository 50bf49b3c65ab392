import { describe, expect, it } from 'vitest';
import type { SavedState } from '../../../src/simulator/saved-state.ts';
import { hashPassword } from '../../../src/simulator/server/state.ts';
import { standingClusters } from '../../bench/standing.ts';
import { copiesInCloud } from '../../bench/standing-cloud.ts';

const MODEL = { address: '127.0.0.1:11000', createdAt: 1000 };

describe('standingClusters()', () => {
  it('gives each cluster an address and a time of its own, in the spaces by turns', () => {
    const clusters = standingClusters(3, 1, ['one', 'two'], MODEL);
    expect(clusters.map(({ name, space, address, createdAt }) => ({ name, space, address, createdAt }))).toEqual([
      { name: 'standing-0', space: 'one', address: '127.0.0.1:11000', createdAt: 1000 },
      { name: 'standing-1', space: 'two', address: '127.0.0.1:11001', createdAt: 1001 },
      { name: 'standing-2', space: 'one', address: '127.0.0.1:11002', createdAt: 1002 },
    ]);
    expect(new Set(clusters.map(({ adminPassword }) => adminPassword)).size).toBe(3);
  });

  it.each([
    [3, 1],
    [3, 3],
    [3, 7],
    [1, 4],
  ])('shares users evenly: %i clusters, %i users', (count, users) => {
    const shares = standingClusters(count, users, ['one'], MODEL).map((cluster) =>
      cluster.users.map(({ name }) => name),
    );
    expect(shares.flat().toSorted()).toEqual(
      Array.from({ length: users }, (_, index) => `standing-user-${index}`).toSorted(),
    );
    const sizes = shares.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });
});

describe('copiesInCloud()', () => {
  const cluster = (id: string) => ({ id, defaultUser: 'admin', databases: [], version: '3.5.0' });
  const state = (...ids: readonly string[]) =>
    ({
      format: 'mooring-simulator-1',
      lastCreatedAt: 1000,
      teams: [],
      clusters: ids.map(cluster),
    }) as unknown as SavedState;

  it('puts copies of the one cluster there, whose logins are those that the objects name', () => {
    const wanted = standingClusters(2, 1, ['one', 'two'], MODEL);
    const { clusters, lastCreatedAt } = copiesInCloud(state('standing-0'), wanted);
    expect(lastCreatedAt).toBe(1001);
    expect(clusters).toMatchObject([
      {
        id: 'standing-0',
        spaceID: 'one',
        createdAt: 1000,
        version: '3.5.0',
        servers: [{ address: '127.0.0.1:11000' }],
      },
      {
        id: 'standing-1',
        spaceID: 'two',
        createdAt: 1001,
        version: '3.5.0',
        servers: [{ address: '127.0.0.1:11001' }],
      },
    ]);
    expect(clusters[0]?.users).toEqual([
      { username: 'admin', passwordHash: hashPassword(wanted[0]?.adminPassword ?? '') },
      { username: 'standing-user-0', passwordHash: hashPassword(wanted[0]?.users[0]?.password ?? '') },
    ]);
    expect(clusters[1]?.users.map(({ username }) => username)).toEqual(['admin']);
  });

  it.each([[[]], [['a', 'b']]])('refuses a cloud with %j in it, as there is no one model', (ids) => {
    expect(() => copiesInCloud(state(...ids), [])).toThrow('exactly one');
  });
});
