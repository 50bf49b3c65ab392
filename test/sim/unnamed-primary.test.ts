import { expect, test } from 'vitest';
import { SECRETS } from '../../src/kube/api.ts';
import { aCrowd } from './crowd.ts';
import { CLUSTERS, statusOf, USERS } from './view.ts';

const MINUTE_MS = 60_000;

async function* bodyOf(value: unknown): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(value));
}

test.each([
  ['names nobody', undefined],
  ['names the primary as only servers can reach it', '10.0.0.7:1729'],
])(
  'A user is created at the primary of three servers, although each other server %s',
  async (_, primaryAddress) => {
    const crowd = await aCrowd(['production']);
    const { clock, create, find, kube, setting } = crowd;
    void crowd.start();
    await create(CLUSTERS, 'orders', {
      spaceRef: { name: 'production' },
      provider: 'gcp',
      region: 'europe-west2',
      machineType: 'c2d-highcpu-4',
      storageSizeGB: 100,
      version: '2.29.1',
      serverCount: 3,
    });
    await clock.runUntil(() => crowd.isReady('orders'), 'the cluster is Ready', 5 * MINUTE_MS);
    const { servers = [], endpoint } = statusOf(find(CLUSTERS, 'orders'));
    const primary = servers.at(-1)?.address ?? '';
    expect(endpoint).not.toContain(primary);
    const contacted = new Set<string>();
    setting.atServers = async (request, pass) => {
      const { host, pathname } = new URL(request.url);
      contacted.add(host);
      if (request.method === 'GET' || pathname === '/v1/signin' || primary.startsWith(host)) return pass(request);
      const body = bodyOf({ code: 'C', message: 'Not the primary', primaryAddress });
      return { status: 421, headers: {}, body };
    };
    const begin = clock.monotonic();
    await create(USERS, 'app', { clusterRef: { name: 'orders' } });
    await clock.runUntil(() => crowd.readyOf(USERS, 'app')?.status === 'True', 'the user is Ready', 3 * MINUTE_MS);
    expect(clock.monotonic() - begin).toBeLessThan(2 * MINUTE_MS);
    // It stays where it works, and no login was sent to anything but a server that the cloud shows.
    const written = () => kube.all(SECRETS).map(({ metadata }) => metadata.resourceVersion);
    await clock.runUntil(() => crowd.isReady('orders'), 'the cluster is Ready again', MINUTE_MS);
    const before = written();
    await clock.advance(30 * MINUTE_MS);
    expect(written()).toEqual(before);
    expect(statusOf(find(CLUSTERS, 'orders')).endpoint).toContain(primary);
    expect([...contacted].every((host) => servers.some(({ address }) => address.startsWith(host)))).toBe(true);
    crowd.stop();
  },
  120_000,
);
