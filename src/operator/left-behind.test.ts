import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { database, user } from '../../test/support/manifests.ts';
import { aWorldOfOperators, readyIn } from '../../test/support/operators.ts';
import { HttpError } from '../base/transport.ts';
import { DATABASES } from '../kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { type AnyObject, CONFIG_MAPS, SECRETS } from '../kube/api.ts';

/** What forgets by itself: it has a limit. */
const HAS_A_LIMIT = ['base/collections/recent.ts', 'base/collections/buckets.ts'];

/** From now on notes each Map and Set that gets a key like that, and returns those that still have one, by who gave it to them. */
function watchKeys(like: RegExp): () => readonly string[] {
  const places: { readonly held: WeakRef<Map<unknown, unknown> | Set<unknown>>; readonly by: string }[] = [];
  const known = new WeakSet<object>();
  const { set } = Map.prototype;
  const { add } = Set.prototype;
  const note = (held: Map<unknown, unknown> | Set<unknown>, key: unknown) => {
    if (typeof key !== 'string' || !like.test(key) || known.has(held)) return;
    known.add(held);
    const lines = (new Error().stack ?? '').split('\n').filter((line) => line.includes('/src/'));
    const [by = '', above = ''] = lines.filter((line) => !line.includes('left-behind'));
    if (by.includes('/simulator/') || by.includes('/sandbox/')) return;
    if (!HAS_A_LIMIT.some((file) => by.includes(file))) places.push({ held: new WeakRef(held), by: `${by}${above}` });
  };
  Map.prototype.set = function (key, value) {
    note(this, key);
    return set.call(this, key, value);
  };
  Set.prototype.add = function (value) {
    note(this, value);
    return add.call(this, value);
  };
  const end = () => Object.assign(Map.prototype, { set }) && Object.assign(Set.prototype, { add });
  onTestFinished(() => void end());
  return () => {
    end();
    v8.setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    return places.flatMap(({ held, by }) => {
      const keys = [...(held.deref()?.keys() ?? [])].filter((key) => typeof key === 'string' && like.test(key));
      return keys.length === 0 ? [] : [`${keys.join()} ${by}`];
    });
  };
}

test('The operator keeps nothing of objects that came and went, whatever went wrong meanwhile', async () => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock, network } = world;
  await world.addSpace(0);
  world.replica();
  await clock.advance(10_000);
  const left = watchKeys(/preview/);
  let calls = 0;
  network.fault = async (request, go) => {
    const nth = calls++ % 5;
    const answer = nth === 1 ? undefined : await go();
    if (nth === 1 || nth === 3) throw new HttpError('lost', 'No answer', { isUnanswered: true });
    return answer ?? expect.unreachable(request.url);
  };
  const clusterRef = { name: 'preview' };
  await world.addCluster(0, 'preview', { deletionPolicy: 'Delete' });
  for (const name of ['preview', 'preview-in-vain']) {
    const own = { passwordSecretRef: { name: `${name}-mine` } };
    await kube.create(DATABASE_USERS, 'shop', user({ clusterRef, ...own }, {}, name));
    const schema = [{ configMapKeyRef: { name: `${name}-schema`, key: 'tql' } }];
    await kube.create(DATABASES, 'shop', database({ clusterRef, schema, deletionPolicy: 'Delete' }, {}, name));
  }
  await clock.advance(600_000);
  const password = Buffer.from('of a person').toString('base64');
  await kube.create(SECRETS, 'shop', { metadata: { name: 'preview-mine' }, data: { password } });
  const tql = 'define entity person;';
  await kube.create(CONFIG_MAPS, 'shop', { metadata: { name: 'preview-schema' }, data: { tql } });
  await clock.advance(1_200_000);
  network.fault = undefined;
  await clock.advance(600_000);
  const kinds = [DATABASE_USERS, DATABASES, DATABASE_CLUSTERS];
  const isReady = (object: AnyObject) => readyIn(object)?.status === 'True';
  const of = (name: string) => kinds.flatMap((kind) => kube.all(kind).filter(({ metadata }) => metadata.name === name));
  expect([of('preview').map(isReady), of('preview-in-vain').map(isReady)]).toEqual([
    [true, true, true],
    [false, false],
  ]);
  for (const kind of [...kinds, SECRETS, CONFIG_MAPS])
    for (const { metadata } of kube.all(kind).filter(({ metadata: { name } }) => name.startsWith('preview'))) {
      await kube.delete(kind, { namespace: 'shop', name: metadata.name }, { uid: metadata.uid });
      await clock.advance(60_000);
    }
  expect(kinds.flatMap((kind) => kube.all(kind))).toEqual([]);
  await clock.advance(3_600_000);
  expect(left()).toEqual([]);
});
