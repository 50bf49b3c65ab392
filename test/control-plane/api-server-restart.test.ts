import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createUndiciTransport } from '../../src/base/http.ts';
import { systemRandom } from '../../src/base/random.ts';
import { type AnyObject, CONFIG_MAPS, isGone, KubeError } from '../../src/kube/api.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { loadKubeConnection } from '../../src/kube/config.ts';
import { Informer } from '../../src/runtime/informer.ts';
import { type StartOptions, startControlPlane } from '../../tools/control-plane/start.ts';
import { waitUntil } from '../support/control-plane.ts';

const namespace = 'default';

/** An Informer of ConfigMaps on an API server of its own, and what it asked for. */
async function aCase(options: StartOptions = {}) {
  const controlPlane = await startControlPlane(options);
  const { server, tls, authorize } = await loadKubeConnection(systemClock, controlPlane.kubeconfig);
  const transport = createUndiciTransport(tls);
  const requests: string[] = [];
  const api = createKubeClient({
    server,
    transport,
    authorize,
    userAgent: 'mooring-test',
    onRequest: ({ verb, code }) => requests.push(`${verb} ${code}`),
  });
  const failures: unknown[] = [];
  const informer = new Informer<AnyObject>({
    api,
    resource: CONFIG_MAPS,
    namespaces: [namespace],
    transform: (object) => object,
    clock: systemClock,
    random: systemRandom,
    onFailure: (error) => failures.push(error),
  });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
    await transport.close();
    await controlPlane.stop();
  });
  const create = (name: string) => api.create(CONFIG_MAPS, namespace, { metadata: { name }, data: {} });
  const sees = (name: string) => informer.store.get(`${namespace}/${name}`) !== undefined;
  return { controlPlane, api, requests, failures, informer, stop, create, sees };
}

test('An API server that was killed and started again knows no older version, and an Informer follows it all the same', async () => {
  const { controlPlane, api, requests, stop, create, sees } = await aCase();
  const before = await create('before');
  // So that it is older than the newest, of which alone the next one knows.
  await create('meanwhile');
  await waitUntil(() => sees('meanwhile'), { what: 'it sees what is there' });

  await controlPlane.killApiServer();
  await controlPlane.restartApiServer();
  await api.delete(CONFIG_MAPS, { namespace, name: 'before' }, { uid: before.metadata.uid });
  await create('after');
  await waitUntil(() => sees('after') && !sees('before'), { what: 'it sees what happened since' });
  // Each list was the begin of a watch.
  expect(requests.filter((request) => request.startsWith('list'))).toEqual([]);

  const { resourceVersion } = before.metadata;
  const refusal = async () => {
    try {
      for await (const _ of api.watch(CONFIG_MAPS, { namespace, resourceVersion, timeoutSeconds: 5 }, stop.signal));
    } catch (error) {
      return error;
    }
    return undefined;
  };
  // Until the storage is there it asks for patience.
  let refused = await refusal();
  for (; refused instanceof KubeError && refused.status === 429; refused = await refusal())
    expect(refused.retryAfterMs).toBeGreaterThan(0);
  expect(refused).toSatisfy(isGone);
});

test('An Informer lists in pages where the API server cannot stream lists, and nobody is told of it', async () => {
  const { requests, failures, informer, create, sees } = await aCase({ featureGates: 'WatchList=false' });
  await informer.synced;
  await create('after');
  await waitUntil(() => sees('after'), { what: 'it watches on' });
  expect(requests.toSorted()).toEqual(['create 201', 'list 200', 'watch 200', 'watch 422']);
  expect(failures).toEqual([]);
});
