import { expect, test } from 'vitest';
import { cluster } from '../../test/support/manifests.ts';
import { createLog } from '../base/log.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { EVENTS } from '../kube/api.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { createInformers } from './informers.ts';
import { createMetrics } from './metrics.ts';
import { Wiring } from './wiring.ts';

test('Wiring has an Event for what an object leaves behind, however often it told of something else before', async () => {
  const clock = virtualClock();
  const random = createSeededRandom(1);
  const api = new FakeKube({ now: clock.now, random });
  const log = createLog({ level: 'silent', format: 'json', write: () => {} });
  const informers = createInformers({ api, clock, random, log, namespaces: undefined, onWatchFailure: () => false });
  const wiring = new Wiring(
    {
      api,
      clock,
      random,
      log,
      transport: () => () => Promise.reject(new Error('Nothing is asked')),
      metrics: createMetrics(clock, { version: '', node: '' }),
      concurrency: 1,
      urlPolicy: { allowHTTP: true, allowedBaseURLs: undefined, allowedNetworks: undefined },
      instance: 'a',
      namespaces: undefined,
    },
    informers,
  );
  const stop = new AbortController();
  void informers.clusters.run(stop.signal);
  await api.create(DATABASE_CLUSTERS, 'shop', cluster({}, {}, 'orders'));
  await clock.settle();
  const onDrift = wiring.driftCorrected('DatabaseCluster', informers.clusters);
  // Two who set a field to and fro.
  for (let count = 0; count < 40; count++) onDrift('shop/orders', 'machineType', `Set back for the ${count}th time`);
  wiring.warn('DatabaseCluster', 'ClusterLeft', informers.clusters)('shop/orders', 'It may still be there');
  await clock.advance(1_000);
  stop.abort();
  const told = api.all(EVENTS).map(({ reason, type }) => `${type} ${reason}`);
  expect(told).toHaveLength(26);
  expect(told).toContain('Warning ClusterLeft');
});
