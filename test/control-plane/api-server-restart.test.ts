import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { GROUP, VERSION } from '../../src/base/group.ts';
import { systemRandom } from '../../src/base/random.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { type AnyObject, CONFIG_MAPS, isGone, type KubeApi, KubeError, type Resource } from '../../src/kube/api.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import { Informer } from '../../src/runtime/informer.ts';
import { run } from '../../tools/control-plane/run.ts';
import { type StartOptions, startControlPlane } from '../../tools/control-plane/start.ts';
import { waitUntil } from '../support/control-plane.ts';

const namespace = 'default';
const ROOT = join(import.meta.dirname, '../..');
/** One is nearly always enough. */
const MOST_RESTARTS = 6;

/** The error with which a watch from that version is refused. */
async function refusalOf(api: KubeApi, resource: Resource, resourceVersion: string): Promise<unknown> {
  const options = { resourceVersion, timeoutSeconds: 5 };
  try {
    for await (const _ of api.watch(resource, options, new AbortController().signal));
  } catch (error) {
    return error;
  }
  return undefined;
}

const isAsked = (error: unknown) => error instanceof KubeError && error.status === 429;

/** The same, once it is no longer told to wait. */
async function lastRefusalOf(api: KubeApi, resource: Resource, resourceVersion = '1'): Promise<unknown> {
  for (;;) {
    const refused = await refusalOf(api, resource, resourceVersion);
    if (!isAsked(refused)) return refused;
  }
}

/** An Informer of ConfigMaps on an API server of its own, and its requests. */
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
  const { controlPlane, api, requests, create, sees } = await aCase();
  const before = await create('before');
  // It is then older than the newest version, which only the next one knows.
  await create('meanwhile');
  await waitUntil(() => sees('meanwhile'), { what: 'it sees what is there' });

  await controlPlane.killApiServer();
  await controlPlane.restartApiServer();
  await api.delete(CONFIG_MAPS, { namespace, name: 'before' }, { uid: before.metadata.uid });
  await create('after');
  await waitUntil(() => sees('after') && !sees('before'), { what: 'it sees what happened since' });
  // Each list was the start of a watch.
  expect(requests.filter((request) => request.startsWith('list'))).toEqual([]);
  expect(await lastRefusalOf(api, CONFIG_MAPS, before.metadata.resourceVersion)).toSatisfy(isGone);
});

test('After a restart of the API server a watch is told to wait (429) until the storage of its kind is ready, then refused (410)', async () => {
  const { controlPlane, api, create } = await aCase();
  const apply = ['create', `--kubeconfig=${controlPlane.kubeconfig}`, '--filename=crds'];
  expect((await run(controlPlane.kubectl, apply, { cwd: ROOT })).code).toBe(0);
  const kinds = definitions.map(({ plural, kind }) => ({ group: GROUP, version: VERSION, plural, kind }));
  let refused: readonly unknown[] = [];
  // The first request for one of our kinds creates its storage, and half of the time comes before that is filled.
  for (let restart = 1; restart <= MOST_RESTARTS && !refused.some(isAsked); restart++) {
    await create(`before-${restart}`);
    await controlPlane.restartApiServer();
    refused = await Promise.all(kinds.map((kind) => refusalOf(api, kind, '1')));
  }
  expect(refused.find(isAsked)).toMatchObject({ reason: 'TooManyRequests', retryAfterMs: 1_000 });
  for (const kind of kinds) expect(await lastRefusalOf(api, kind)).toSatisfy(isGone);
});

test('An Informer lists in pages if the API server cannot stream lists, without reporting it', async () => {
  const { requests, failures, informer, create, sees } = await aCase({ featureGates: 'WatchList=false' });
  await informer.synced;
  await create('after');
  await waitUntil(() => sees('after'), { what: 'it watches on' });
  expect(requests.toSorted()).toEqual(['create 201', 'list 200', 'watch 200', 'watch 422']);
  expect(failures).toEqual([]);
});
