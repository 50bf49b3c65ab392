import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { EVENTS } from '../../src/kube/api.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import { createEventRecorder } from '../../src/runtime/event-recorder.ts';
import { adminKubeconfig, makeNamespace, waitUntil } from '../support/control-plane.ts';

test('EventRecorder on a real API server: repetitions are counted in the series of one Event', async () => {
  const { server, tls, authorize } = await loadKubeConnection(systemClock, adminKubeconfig());
  const transport = createUndiciTransport(tls);
  onTestFinished(() => transport.close());
  const api = createKubeClient({ server, transport, authorize, userAgent: 'mooring-test' });
  const namespace = await makeNamespace();
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const recorder = createEventRecorder({
    api,
    clock: systemClock,
    random: systemRandom,
    instance: 'pod-1',
    onFailure,
  });
  const metadata = { namespace, name: 'orders', uid: 'uid-of-orders', resourceVersion: '7' };
  const object = { apiVersion: 'mooring.dev/v1alpha1', kind: 'DatabaseCluster', metadata, spec: {} };
  for (let count = 0; count < 3; count++) {
    recorder.record(object, { status: 'True', reason: 'Running', message: 'All is well' });
  }
  const counted = async () => {
    const { items } = await api.list(EVENTS, { namespace });
    return items.length === 1 && JSON.stringify(items).includes('"series":{"count":3');
  };
  await waitUntil(counted, { what: 'one Event of a series of three' });
  expect(failures).toEqual([]);
});
