import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import { kubeApiContract } from '../contract/kube-api.ts';
import { adminKubeconfig, makeNamespace, mustKubectl } from '../support/control-plane.ts';
import { installCrds, openApi } from './api.ts';

let api: KubeApi;
let close: () => Promise<void>;

beforeAll(async () => {
  const raw = await openApi(adminKubeconfig());
  await installCrds(raw);
  await raw.close();
  const { server, tls, authorize } = await loadKubeConnection(systemClock, adminKubeconfig());
  const transport = createUndiciTransport(tls);
  api = createKubeClient({ server, transport, authorize, userAgent: 'mooring-test' });
  close = () => transport.close();
});

afterAll(() => close());

kubeApiContract(async () => ({
  api,
  makeNamespace,
  terminateNamespace: async (namespace) => {
    await mustKubectl(['delete', 'namespace', namespace, '--wait=false']);
  },
}));
