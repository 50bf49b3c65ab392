import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { LeaderElector } from '../../src/runtime/leader-election.ts';
import { adminKubeconfig, makeNamespace, waitUntil } from '../support/control-plane.ts';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 200 };

test('LeaderElectors on a real API server: one leads, keeps leading, and hands over when told to stop', async () => {
  const { server, tls, authorize } = await loadKubeConnection(systemClock, adminKubeconfig());
  const transport = createUndiciTransport(tls);
  const api = createKubeClient({ server, transport, authorize, userAgent: 'mooring-test' });
  const namespace = await makeNamespace();
  const candidates = ['one', 'two'].map((identity) => {
    const stop = new AbortController();
    const failures: unknown[] = [];
    const elector = new LeaderElector({
      ...TIMES,
      api,
      clock: systemClock,
      random: systemRandom,
      namespace,
      name: 'mooring',
      identity,
      onFailure: (error) => failures.push(error),
    });
    const ended = elector.run(stop.signal, {
      onStartedLeading: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      onStoppedLeading: () => {},
    });
    return { identity, stop, elector, ended, failures };
  });
  const leaders = () => candidates.filter(({ elector }) => elector.isLeader());
  const first = await waitUntil(() => leaders()[0], { what: 'somebody leads' });
  const renewed = async () => JSON.stringify(await api.get(LEASES, { namespace, name: 'mooring' }));
  const before = await renewed();
  await waitUntil(async () => (await renewed()) !== before, { what: 'the Lease is renewed' });
  expect(leaders()).toEqual([first]);
  first.stop.abort();
  await first.ended;
  const second = await waitUntil(() => leaders()[0], { what: 'the other one leads' });
  expect(second).not.toBe(first);
  expect(await api.get(LEASES, { namespace, name: 'mooring' })).toMatchObject({
    spec: { holderIdentity: second.identity, leaseTransitions: 1, leaseDurationSeconds: 3 },
  });
  second.stop.abort();
  await second.ended;
  expect(candidates.flatMap(({ failures }) => failures)).toEqual([]);
  await transport.close();
});
