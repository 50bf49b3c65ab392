import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { microTime } from '../../src/kube/object.ts';
import { operatorSign } from '../../src/plugin/operator-sign.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { waitUntil } from '../support/control-plane.ts';

const HOUR = 3_600_000;

// Its own API server: on a shared one, operators of other tests run.
test('The Leases of a real API server show whether an operator runs, however wrong a clock is', async () => {
  const controlPlane = await startControlPlane();
  const { server, tls, authorize } = await loadKubeConnection(systemClock, controlPlane.kubeconfig);
  const transport = createUndiciTransport(tls);
  onTestFinished(async () => {
    await transport.close();
    await controlPlane.stop();
  });
  const api = createKubeClient({ server, transport, authorize, userAgent: 'mooring-test' });
  const { signal } = new AbortController();
  const said = (aheadMs: number) => operatorSign(api, { ...systemClock, now: () => Date.now() + aheadMs }, signal);
  const everyLease = async () => (await api.list(LEASES, {}, signal)).items;
  // The API server's own Lease, renewed every 10 s: it shows what time it is.
  await waitUntil(async () => (await everyLease()).length > 0, { what: 'the API server has a Lease' });

  expect(await said(0)).toBeUndefined();
  const ref = { namespace: 'default', name: 'mooring' };
  const spec = (agoMs: number) => ({
    holderIdentity: 'pod-1',
    leaseDurationSeconds: 15,
    renewTime: microTime(Date.now() - agoMs),
  });
  await api.create(LEASES, ref.namespace, { metadata: { name: ref.name }, spec: spec(0) });
  for (const aheadMs of [0, HOUR, -HOUR]) expect(await said(aheadMs), String(aheadMs)).toBeUndefined();

  await api.patch(LEASES, ref, { spec: spec(10 * 60_000) });
  const sign = /^No operator seems to be running: Lease default\/mooring was last renewed (9|10)m ago/;
  for (const aheadMs of [0, HOUR]) expect(await said(aheadMs), String(aheadMs)).toMatch(sign);
});
