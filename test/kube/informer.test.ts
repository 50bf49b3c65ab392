import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { type AnyObject, KubeError } from '../../src/kube/api.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import { splitKey } from '../../src/kube/object.ts';
import { Informer } from '../../src/runtime/informer.ts';
import { adminKubeconfig, applyYaml, makeNamespace, mustKubectl, waitUntil } from '../support/control-plane.ts';

test('An Informer waits for an API that is installed later, says so, and recovers when it is removed and comes back', async () => {
  const { server, tls, authorize } = await loadKubeConnection(systemClock, adminKubeconfig());
  const transport = createUndiciTransport(tls);
  const api = createKubeClient({ server, transport, authorize, userAgent: 'mooring-test' });
  const namespace = await makeNamespace();
  const group = `g${randomUUID().slice(0, 8)}.example.com`;
  const resource = { group, version: 'v1', plural: 'gadgets', kind: 'Gadget' };
  const failures: unknown[] = [];
  const informer = new Informer<AnyObject>({
    api,
    resource,
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
    await mustKubectl(['delete', 'crd', `gadgets.${group}`, '--ignore-not-found', '--wait=false']);
    await transport.close();
  });
  const install = async () => {
    await applyYaml(JSON.stringify(crdOf(group)));
    await mustKubectl(['wait', '--for=condition=Established', `crd/gadgets.${group}`]);
  };
  const create = (name: string) =>
    api.create(resource, namespace, { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name } });
  const names = () => [...informer.store.keys()].map((key) => splitKey(key).name);
  const sees = (...expected: readonly string[]) =>
    waitUntil(() => names().join() === expected.join(), { what: `it sees ${expected.join()}` });

  await waitUntil(() => failures.some((error) => error instanceof KubeError && error.status === 404), { what: '404' });
  expect(informer.hasSynced()).toBe(false);
  await install();
  await create('a');
  await informer.synced;
  await sees('a');
  await mustKubectl(['delete', 'crd', `gadgets.${group}`]);
  await sees();
  await install();
  await create('b');
  await sees('b');
});

function crdOf(group: string) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
}
