import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { SECRETS } from '../kube/api.ts';
import { LEASES } from '../kube/lease.ts';
import { createKubeClients } from './kube-clients.ts';

test('A Lease is renewed while all other requests wait for an answer that does not come', async () => {
  const metadata = { name: 'mooring', uid: 'u', resourceVersion: '7' };
  const server = createServer((request, response) => {
    if (request.url?.includes('/leases/')) response.end(JSON.stringify({ metadata }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection = {
    server: `http://127.0.0.1:${port}`,
    namespace: 'mooring-system',
    inPod: false,
    tls: {},
    authorize: async () => ({}),
  };
  const { api, leases, close } = createKubeClients(connection, { userAgent: 'mooring/test' }, 8);
  const stop = new AbortController();
  onTestFinished(async () => {
    stop.abort();
    await close();
    server.closeAllConnections();
    server.close();
  });
  const ref = { namespace: 'mooring-system', name: 'mooring' };
  for (let count = 0; count < 200; count++) api.get(SECRETS, ref, stop.signal).catch(() => {});
  expect(await leases.patch(LEASES, ref, {})).toMatchObject({ metadata });
});

test('Certificates that cannot be read are what the error names', () => {
  const tls = { ca: () => 'no certificate', cert: () => 'none either', key: () => 'nor a key' };
  const connection = { server: 'https://api.test', namespace: 'shop', inPod: false, tls, authorize: async () => ({}) };
  const create = () => createKubeClients(connection, { userAgent: 'mooring/test' }, 8);
  expect(create).toThrow(/^The certificates or the key for the API server cannot be used: /);
});
