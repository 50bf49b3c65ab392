import { describe, expect, it } from 'vitest';
import { encoded } from '../../../test/support/secrets.ts';
import { HttpError, type HttpRequest } from '../../base/transport.ts';
import { DATABASE_USERS } from '../../kinds/databaseuser/resource.ts';
import { SECRETS } from '../../kube/api.ts';
import { FakeKube } from '../../sandbox/fake-kube.ts';
import { virtualClock } from '../../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../simulator/seeded-random.ts';
import { sessionFor } from './server.ts';

const URI = 'https://server.example.com:8443';
const { signal } = new AbortController();

/** A namespace with users of cluster `orders`; those that are bound have a Secret. `places`: the namespace of a user's cluster. */
async function aNamespace(
  users: Readonly<Record<string, boolean>>,
  reason = 'LoginWorks',
  places: Readonly<Record<string, string>> = {},
) {
  const clock = virtualClock();
  const random = createSeededRandom(1);
  const kube = new FakeKube({ now: clock.now, random, statusDefaults: { databaseusers: { observedGeneration: -1 } } });
  for (const [name, bound] of Object.entries(users)) {
    const { metadata } = await kube.create(DATABASE_USERS, 'shop', {
      metadata: { name },
      spec: { clusterRef: { name: 'orders', namespace: places[name] } },
    });
    if (!bound) continue;
    const { resourceVersion } = metadata;
    const ready = { type: 'Ready', status: 'True', reason, message: '', lastTransitionTime: '2026-11-20T10:00:00Z' };
    const binding = { name: `${name}-connection` };
    const status = { observedGeneration: 1, username: name, binding, conditions: [ready] };
    await kube.patch(
      DATABASE_USERS,
      { namespace: 'shop', name },
      { metadata: { resourceVersion }, status },
      { subresource: 'status' },
    );
    // As while the password is being replaced.
    const texts = { username: name, password: 'sesame', nextPassword: 'coming', uri: URI };
    await kube.create(SECRETS, 'shop', { metadata: { name: `${name}-connection` }, data: encoded(texts) });
  }
  const asked: { url: string; serverName: string | undefined }[] = [];
  const transport = (_ca: string | undefined, serverName?: string) => (request: HttpRequest) => {
    asked.push({ url: request.url, serverName });
    return Promise.reject(new HttpError('unreachable', 'Nobody listens'));
  };
  const sign = (given: { user?: string; server?: string } = {}) =>
    sessionFor(
      { api: kube, clock, random, transport },
      { namespace: 'shop', cluster: 'orders', user: given.user, server: given.server, reach: ' --context prod' },
      signal,
    );
  return { sign, asked };
}

describe('sessionFor()', () => {
  it('says that the cluster is suspended before it calls a server that does not run', async () => {
    const { sign, asked } = await aNamespace({ app: true }, 'ClusterSuspended');
    await expect(sign()).rejects.toThrow(
      'is suspended: kubectl mooring resume databasecluster/orders --namespace shop --context prod',
    );
    expect(asked).toEqual([]);
  });

  it('says what to do if the server cannot be reached from here', async () => {
    const { sign, asked } = await aNamespace({ app: true });
    await expect(sign()).rejects.toThrow(/Nobody listens[\s\S]*kubectl port-forward[\s\S]*--server=/);
    expect(asked).toEqual([{ url: `${URI}/v1/signin`, serverName: undefined }]);
  });

  it("expects the server's own certificate at the end of a forwarded port", async () => {
    const { sign, asked } = await aNamespace({ app: true });
    await expect(sign({ server: 'https://127.0.0.1:9443' })).rejects.toThrow(/Check --server/);
    expect(asked).toEqual([{ url: 'https://127.0.0.1:9443/v1/signin', serverName: 'server.example.com' }]);
  });

  it('says who can sign in, or why nobody can', async () => {
    const none = await aNamespace({});
    await expect(none.sign()).rejects.toThrow(
      'No DatabaseUser of cluster "orders" in namespace "shop" can sign in: create one',
    );
    const waiting = await aNamespace({ app: false });
    await expect(waiting.sign()).rejects.toThrow('none of app has a Secret yet');
    const two = await aNamespace({ app: true, report: true, late: false });
    await expect(two.sign()).rejects.toThrow('Say with --user which');
    await expect(two.sign({ user: 'late' })).rejects.toThrow('(those that have: app, report)');
  });

  it('signs in as a user here of a cluster in another namespace', async () => {
    const { sign, asked } = await aNamespace({ app: true }, 'LoginWorks', { app: 'platform' });
    await expect(sign()).rejects.toThrow('Nobody listens');
    expect(asked).toHaveLength(1);
    const suspended = await aNamespace({ app: true }, 'ClusterSuspended', { app: 'platform' });
    await expect(suspended.sign()).rejects.toThrow('resume databasecluster/orders --namespace platform');
  });

  it('takes the cluster here if there are several of that name, unless the user is named', async () => {
    const { sign, asked } = await aNamespace({ app: true, far: true }, 'LoginWorks', { far: 'platform' });
    await expect(sign()).rejects.toThrow('Nobody listens');
    await expect(sign({ user: 'far' })).rejects.toThrow('Nobody listens');
    expect(asked).toHaveLength(2);
    const elsewhere = await aNamespace({ app: true, far: true }, 'LoginWorks', { app: 'till', far: 'platform' });
    await expect(elsewhere.sign()).rejects.toThrow('Say with --user which');
  });
});
