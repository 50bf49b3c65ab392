import { sleep } from '../../src/base/clock.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { Membership } from '../../src/operator/replicas/membership.ts';
import { LeaderElector } from '../../src/runtime/leader-election.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { type VirtualClock, virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { processClock } from './process-clock.ts';

export const NAMESPACE = 'system';
export const LEADER = 'mooring';
export const SHARDS = Array.from({ length: 30 }, (_, index) => `space-${index}`);

/** An empty Kubernetes cluster, and a clock. */
export function aWorld() {
  const clock = virtualClock();
  const api = new FakeKube({ now: clock.now, random: createSeededRandom(1) });
  /** The Leases of replicas. */
  const leases = () => api.all(LEASES).flatMap(({ metadata: { name } }) => (name === LEADER ? [] : [name]));
  return { clock, api, leases };
}

/** A process that acts alone. */
export function aLeader({ clock, api }: { readonly clock: VirtualClock; readonly api: KubeApi }, identity = 'leader') {
  const stop = new AbortController();
  const random = createSeededRandom(1);
  const elector = new LeaderElector({ api, clock, random, namespace: NAMESPACE, name: LEADER, identity });
  const ended = elector.run(stop.signal, {
    onStartedLeading: (told) => new Promise((resolve) => told.addEventListener('abort', () => resolve())),
    onStoppedLeading: () => {},
  });
  return { stop, ended, isLeader: () => elector.isLeader(), holds: () => (elector.isLeader() ? SHARDS : []) };
}

/** One replica with its own clock, connection and fate. Its work ends as soon as it is told to stop. */
export function aReplica(
  world: { readonly clock: VirtualClock; readonly api: KubeApi },
  identity: string,
  latencyMs: () => number = () => 0,
) {
  const clock = processClock(world.clock);
  const failures: unknown[] = [];
  const stop = new AbortController();
  /**
   * What happens to its requests: 'cut' answers nothing, 'deaf' takes effect but the answer is lost; 'deafToWrites': writes only.
   * 'blind': no list is answered.
   */
  const link: { state: 'up' | 'cut' | 'deaf' | 'deafToWrites' | 'blind' } = { state: 'up' };
  const inHand = new Set<string>();
  const never = new Promise<never>(() => {});
  const reach = async <T>(call: () => Promise<T>): Promise<T> => {
    await clock.running();
    await sleep(world.clock, latencyMs());
    if (link.state === 'cut') return never;
    const answer = await call();
    await sleep(world.clock, latencyMs());
    await clock.running();
    return link.state === 'deaf' ? never : answer;
  };
  const write = async <T>(call: () => Promise<T>): Promise<T> => {
    const answer = await reach(call);
    return link.state === 'deafToWrites' ? never : answer;
  };
  const api: KubeApi = {
    get: (...args) => reach(() => world.api.get(...args)),
    list: (...args) => reach(() => (link.state === 'blind' ? never : world.api.list(...args))),
    watch: (...args) => world.api.watch(...args),
    create: (...args) => write(() => world.api.create(...args)),
    patch: (...args) => write(() => world.api.patch(...args)),
    delete: (...args) => write(() => world.api.delete(...args)),
  };
  const state = { ended: false };
  const membership = new Membership({
    api,
    clock,
    namespace: NAMESPACE,
    name: LEADER,
    identity,
    inHand: () => inHand,
    onChange: () => {},
    onFailure: (error) => failures.push(error),
  });
  const ended = membership
    .run(stop.signal, (told) => new Promise((resolve) => told.addEventListener('abort', () => resolve())))
    .then(() => {
      state.ended = true;
    });
  /** The shards that it acts on: those it owns, and those with work that it has begun and may still finish. */
  const holds = () => SHARDS.filter((shard) => membership.owns(shard) || (inHand.has(shard) && membership.isMember()));
  const owned = () => SHARDS.filter((shard) => membership.owns(shard));
  return { identity, membership, clock, link, stop, inHand, holds, owned, ended, state, failures };
}

export const sorted = (...lists: readonly (readonly string[])[]) => lists.flat().sort();
