import { expect, test } from 'vitest';
import { CONFIG_MAPS, type Resource, SECRETS } from '../kube/api.ts';
import { LAST_APPLIED } from '../kube/object.ts';
import { Informer } from '../runtime/informer.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { createInformers, withoutBallast } from './informers.ts';

const METADATA = { name: 'orders', namespace: 'shop', uid: 'u', resourceVersion: '7' };

test('Objects are kept without managedFields and without the annotation of kubectl apply, otherwise in full', () => {
  const annotations = { 'example.com/team': 'shop' };
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}' };
  const managedFields = [{ manager: 'kubectl' }];
  const object = {
    spec: { a: 1 },
    metadata: { ...METADATA, annotations: { ...annotations, ...applied }, managedFields },
  };
  expect(withoutBallast(object)).toEqual({ spec: { a: 1 }, metadata: { ...METADATA, annotations } });
  const plain = { spec: { a: 1 }, metadata: METADATA };
  expect(withoutBallast(plain)).toEqual(plain);
});

test.each([
  ['streamed', true],
  ['read in pages', false],
])(
  'Only metadata of Secrets and ConfigMaps is requested, and little of it kept, if lists are %s',
  async (_, streamsLists) => {
    const clock = virtualClock();
    const random = createSeededRandom(1);
    const api = new FakeKube({ now: clock.now, random, streamsLists });
    const asked: { readonly plural: string; readonly metadataOnly: boolean | undefined }[] = [];
    const [list, watch] = [api.list.bind(api), api.watch.bind(api)];
    api.list = (resource, options) => {
      asked.push({ plural: resource.plural, metadataOnly: options.metadataOnly });
      return list(resource, options);
    };
    api.watch = (resource, options, signal) => {
      asked.push({ plural: resource.plural, metadataOnly: options.metadataOnly });
      return watch(resource, options, signal);
    };
    const given = { api, clock, random, namespaces: undefined, log: { warn: () => {} }, onWatchFailure: () => false };
    const { secrets, configMaps } = createInformers(given);
    if (!(secrets instanceof Informer)) throw new Error('Secrets are not watched');
    const created = (resource: Resource, name: string) => {
      // What kubectl apply stores of a Secret is all of its data again.
      const annotations = { [LAST_APPLIED]: '{"data":{"password":"Y2FuYXJ5"}}', 'example.com/note': 'canary' };
      const metadata = { name, labels: { login: 'canary' }, annotations };
      return api.create(resource, 'shop', { kind: resource.kind, metadata, data: { password: 'Y2FuYXJ5' } });
    };
    const both = [SECRETS, CONFIG_MAPS];
    const stop = new AbortController();
    await Promise.all(both.map((resource) => created(resource, 'listed')));
    const running = [secrets, configMaps].map((each) => each.run(stop.signal));
    await clock.advance(60_000);
    await Promise.all(both.map((resource) => created(resource, 'watched')));
    await clock.advance(60_000);
    for (const { store } of [secrets, configMaps])
      for (const name of ['listed', 'watched'])
        expect(store.get(`shop/${name}`)).toEqual({
          metadata: { name, namespace: 'shop', uid: expect.any(String), resourceVersion: expect.any(String) },
        });
    expect(new Set(asked.map(({ plural }) => plural))).toEqual(new Set(both.map(({ plural }) => plural)));
    expect(asked.filter(({ metadataOnly }) => metadataOnly !== true)).toEqual([]);
    stop.abort();
    await Promise.all(running);
  },
);
