import type { KubeApi } from '../../src/kube/api.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { LeaderElector } from '../../src/runtime/leader-election.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { type VirtualClock, virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { noChance } from './clock.ts';
import { processClock } from './process-clock.ts';

/** The Lease that candidates compete for. */
export const LEASE = { namespace: 'system', name: 'mooring' };

/** An API server with a clock, and the holder of its Lease. */
export function aWorld() {
  const clock = virtualClock();
  const api = new FakeKube({ now: clock.now, random: createSeededRandom(1) });
  const spec = () => (api.all(LEASES)[0]?.['spec'] ?? {}) as Readonly<Record<string, unknown>>;
  return { clock, api, spec, holder: () => spec()['holderIdentity'] };
}

/** One candidate with its own clock, connection and fate. Its work ends as soon as it is told to stop. */
export function aCandidate(
  world: { readonly clock: VirtualClock; readonly api: KubeApi },
  identity: string,
  options: { readonly skewMs?: number; readonly drainMs?: number } = {},
) {
  const clock = processClock(world.clock, options.skewMs);
  const log: string[] = [];
  const failures: unknown[] = [];
  const stop = new AbortController();
  /** What happens to its requests: 'cut' answers nothing, 'deaf' takes effect but the answer is lost. */
  const link: { state: 'up' | 'cut' | 'deaf'; hears: boolean } = { state: 'up', hears: true };
  const requests = { get: 0, list: 0, watch: 0, create: 0, patch: 0, delete: 0 };
  const never = new Promise<never>(() => {});
  const reach = async <T>(verb: keyof typeof requests, call: () => Promise<T>): Promise<T> => {
    await clock.running();
    requests[verb]++;
    if (link.state === 'cut') return never;
    const answer = await call();
    await clock.running();
    return link.state === 'deaf' ? never : answer;
  };
  const api: KubeApi = {
    get: (...args) => reach('get', () => world.api.get(...args)),
    list: (...args) => reach('list', () => world.api.list(...args)),
    async *watch(...args) {
      requests.watch++;
      for await (const event of world.api.watch(...args)) {
        await clock.running();
        if (link.hears && link.state !== 'cut') yield event;
      }
    },
    create: (...args) => reach('create', () => world.api.create(...args)),
    patch: (...args) => reach('patch', () => world.api.patch(...args)),
    delete: (...args) => reach('delete', () => world.api.delete(...args)),
  };
  const elector = new LeaderElector({
    ...LEASE,
    api,
    clock,
    random: noChance,
    identity,
    onFailure: (error) => failures.push(error),
  });
  const ended = elector.run(stop.signal, {
    onStartedLeading: async (signal) => {
      log.push('started');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      log.push('told to stop');
      if (options.drainMs !== undefined) await new Promise<void>((done) => clock.after(options.drainMs ?? 0, done));
    },
    onStoppedLeading: () => log.push('stopped'),
  });
  return { clock, elector, ended, log, failures, link, requests, stop, leads: () => elector.isLeader() };
}
