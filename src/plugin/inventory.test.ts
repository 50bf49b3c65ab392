import { describe, expect, it, test } from 'vitest';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import { definitions } from '../kinds/definitions.ts';
import { type AnyObject, type KubeApi, KubeError, type Resource } from '../kube/api.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { loadInventory, namesIn } from './inventory.ts';
import { nameOf } from './item.ts';
import { resourceOf } from './kinds.ts';

const kube = () => new FakeKube({ now: () => 0, random: createSeededRandom(1) });
const resource = (kind: string): Resource => {
  const definition = definitions.find((each) => each.kind === kind);
  if (definition === undefined) throw new Error(kind);
  return resourceOf(definition);
};
const put = (to: FakeKube, kind: string, namespace: string, name: string, spec: object = {}) =>
  to.create(resource(kind), namespace, { metadata: { name }, spec });
const on = (name: string, namespace: string) => ({ clusterRef: { name, namespace } });

/** Counts the requests; `forbids`: which of them it refuses. */
function counting(to: FakeKube, forbids: (verb: string, plural: string, namespace?: string) => boolean = () => false) {
  const calls: string[] = [];
  const ask = <T>(verb: string, { plural }: Resource, namespace: string | undefined, answer: () => Promise<T>) => {
    calls.push(`${verb} ${plural} ${namespace ?? '*'}`);
    if (!forbids(verb, plural, namespace)) return answer();
    return Promise.reject(new KubeError(`cannot ${verb} ${plural}`, { status: 403, reason: 'Forbidden' }));
  };
  const api: Pick<KubeApi, 'get' | 'list'> = {
    get: (what, ref) => ask<AnyObject | undefined>('get', what, ref.namespace, () => to.get(what, ref)),
    list: (what, options) => ask('list', what, options.namespace, () => to.list(what, options)),
  };
  return { api: api as KubeApi, calls };
}

const { signal } = new AbortController();

describe('loadInventory()', () => {
  it('lists each kind once, and reads the few things elsewhere by name', async () => {
    const server = kube();
    await put(server, 'DatabaseUser', 'shop', 'app', on('orders', 'platform'));
    await put(server, 'DatabaseUser', 'shop', 'other', on('gone', 'platform'));
    await put(server, 'DatabaseCluster', 'platform', 'orders', { spaceRef: { name: 'production' } });
    await put(server, 'DatabaseSpace', 'platform', 'production');
    const { api, calls } = counting(server);
    const { items, hidden } = await loadInventory(api, 'shop', signal);
    expect(items.map(nameOf)).toEqual([
      'DatabaseUser shop/app',
      'DatabaseUser shop/other',
      'DatabaseCluster platform/orders',
      'DatabaseSpace platform/production',
    ]);
    expect([...hidden]).toEqual([]);
    expect(calls).toHaveLength(4 + 2 + 1);
  });

  it('lists elsewhere instead of making many reads', async () => {
    const server = kube();
    for (let index = 0; index < 50; index++) {
      await put(server, 'DatabaseUser', 'shop', `app-${index}`, on(`c-${index}`, 'platform'));
      await put(server, 'DatabaseCluster', 'platform', `c-${index}`, { spaceRef: { name: 'production' } });
    }
    await put(server, 'DatabaseCluster', 'platform', 'of-others', { spaceRef: { name: 'production' } });
    const { api, calls } = counting(server);
    const { items } = await loadInventory(api, 'shop', signal);
    expect(items).toHaveLength(100);
    expect(items.map(nameOf)).not.toContain('DatabaseCluster platform/of-others');
    expect(calls).toHaveLength(4 + 1 + 1);
  });

  it('shows what may be listed, says what may not, and does not call hidden objects absent', async () => {
    const server = kube();
    await put(server, 'DatabaseUser', 'shop', 'app', on('orders', 'shop'));
    await put(server, 'DatabaseUser', 'shop', 'far', on('orders', 'platform'));
    const { api } = counting(server, (_verb, plural) => plural === 'databaseclusters');
    const { items, hidden, refused } = await loadInventory(api, 'shop', signal);
    expect(items).toHaveLength(2);
    expect([...hidden]).toEqual(['DatabaseCluster shop/orders', 'DatabaseCluster platform/orders']);
    expect(refused).toEqual(['cannot list databaseclusters']);
  });

  it('fails if nothing may be listed', async () => {
    const { api } = counting(kube(), () => true);
    await expect(loadInventory(api, 'shop', signal)).rejects.toThrow('cannot list databasespaces');
  });
});

test('namesIn() names all, however many there are: completion has no others', async () => {
  const server = kube();
  for (let index = 0; index < 600; index++) await put(server, 'DatabaseUser', 'shop', `app-${index}`);
  const { api, calls } = counting(server);
  expect(await namesIn(api, databaseUserDefinition, 'shop', signal)).toHaveLength(600);
  expect(calls).toHaveLength(2);
});
