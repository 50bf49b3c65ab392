import { aborted } from './base/abort.ts';
import { type Clock, sleep } from './base/clock.ts';
import { messageOf } from './base/errors.ts';
import { uuid } from './base/random.ts';
import { DATABASES } from './kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from './kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from './kinds/databasespace/resource.ts';
import { DATABASE_USERS } from './kinds/databaseuser/resource.ts';
import type { KubeApi } from './kube/api.ts';
import type { LeaseTimes } from './kube/lease.ts';
import { createControllers } from './operator/controllers.ts';
import { Gauges, observedAt } from './operator/gauges.ts';
import { collectionsOf, createInformers } from './operator/informers.ts';
import { RefusedLogin } from './operator/refused-login.ts';
import { Sharding } from './operator/sharding.ts';
import type { ControllerDependencies } from './operator/wiring.ts';
import { fencedApi, fencedTransport } from './runtime/fence.ts';
import { LeaderElector } from './runtime/leader-election.ts';
import type { WorkQueue } from './runtime/workqueue.ts';

export interface OperatorDependencies extends ControllerDependencies {
  /** How Secrets are known: `get` neither lists nor watches them. Default: watch. */
  readonly secrets?: 'watch' | 'get' | undefined;
  /** The Lease to act under; undefined: alone, without one. */
  readonly lease: OwnLease | undefined;
  /** All replicas act, each on spaces of its own; they agree by Leases in the namespace of `lease`, and hold that one together. */
  readonly shardBySpace?: boolean | undefined;
}

interface OwnLease extends Partial<LeaseTimes> {
  readonly namespace: string;
  readonly name: string;
  /** For the Lease alone, so that its renewal waits for nothing else. Default: that for all. */
  readonly api?: KubeApi;
}

export interface Operator {
  /** Works until the signal aborts; resolves when what was in hand is done. Rejects when the lease was lost. */
  run(signal: AbortSignal): Promise<void>;
  /** Why it is not ready to work yet; undefined: it is. */
  notReady(): string | undefined;
  /** Whether it acts, or stands by for another process that does. */
  acts(): boolean;
  /** What is stuck; undefined: nothing is. */
  stuck(): string | undefined;
  /** Why it must not change anything now; undefined: it may. */
  fence(): string | undefined;
}

/** How long clusters wait at the start for the first look at their spaces: a cloud that hangs must not hold all up. */
const FIRST_LOOK_MS = 2_000;
/** A pass that takes so long hangs: every call that it makes has a shorter limit. */
const STUCK_MS = 15 * 60_000;
/** While attempts to take part fail, they follow one another sooner, though a request may hang. */
const REFUSED_MS = 10_000;
/** How long what is in hand may take to end after the signal. */
const DRAIN_MS = 20_000;

/** The whole operator over its seams; production and simulation differ in the dependencies only. */
export function createOperator(given: OperatorDependencies): Operator {
  const { lease, shardBySpace = false } = given;
  /** The last attempt to take part that failed, and when; monotonic clock. */
  let refused: { readonly atMs: number; readonly message: string } | undefined;
  const failing = (what: string) => (error: unknown) => {
    refused = { atMs: given.clock.monotonic(), message: messageOf(error) };
    given.log.warn({ err: error }, `${what}: ${messageOf(error)}`);
  };
  const elector = lease === undefined || shardBySpace ? undefined : electorFor(given, lease, failing);
  const fence = () => {
    if (sharding !== undefined) return sharding.isMember() ? undefined : 'another process may have its spaces by now';
    return elector === undefined || elector.isLeader() ? undefined : 'another process may lead by now';
  };
  const dependencies: OperatorDependencies = {
    ...given,
    api: fencedApi(given.api, fence),
    transport: (ca) => fencedTransport(given.transport(ca), fence),
  };
  const { clock, log, metrics } = dependencies;
  const login = new RefusedLogin(clock);
  const informers = createInformers({ ...dependencies, onWatchFailure: login.failed.bind(login) });
  const shared = lease && { ...given, ...lease, api: given.api, leases: lease.api ?? given.api };
  const onFailure = failing('Cannot agree with other replicas on spaces');
  const sharding = shardBySpace && shared ? new Sharding({ ...shared, onFailure }, informers) : undefined;
  const { spaces, inSpaces, sharded, connections } = createControllers(dependencies, informers, {
    gateOf: (kind) => sharding?.gateOf(kind),
    actsSinceMs: (kind, key) => (sharding === undefined ? leadingSinceMs : sharding.hasSinceMs(kind, key)),
  });
  const collections = collectionsOf(informers);
  let leading = false;
  /** Until then, however long this process has stood by, another one may have acted. */
  let leadingSinceMs = clock.now();
  /** It is to act, and clusters wait for the first look at their spaces. */
  let looking = false;
  const gauges = new Gauges();
  gauges.watch(DATABASE_SPACES.kind, informers.spaces);
  gauges.watch(DATABASE_CLUSTERS.kind, informers.clusters);
  gauges.watch(DATABASE_USERS.kind, informers.users);
  gauges.watch(DATABASES.kind, informers.databases);
  metrics.onScrape(() => ({
    ...gauges.told(clock.now()),
    spaces: [...connections.all()].flatMap(([key, { poller }]) =>
      observedAt(key, poller.listedAtMs, poller.intervalMs),
    ),
    leader: acts(),
  }));

  /** Works until the signal aborts; what is in hand then has some time to end. */
  async function work(signal: AbortSignal): Promise<void> {
    leading = true;
    leadingSinceMs = clock.now();
    looking = true;
    const counts = Object.fromEntries(collections.map(({ plural, informer }) => [plural, informer.store.size]));
    log.info(counts, 'Work begins');
    const kill = new AbortController();
    const working = Promise.all([
      spaces.run(signal, kill.signal),
      firstLook(spaces.queue, clock, signal).then(() => {
        looking = false;
        return Promise.all(inSpaces.map((each) => each.run(signal, kill.signal)));
      }),
    ]);
    try {
      // It does not end by itself; that it fails is told at once.
      await Promise.race([working, aborted(signal)]);
      // Whoever may not change anything any more has nothing to bring to an end.
      if (fence() === undefined) await Promise.race([working, sleep(clock, DRAIN_MS, kill.signal)]);
    } finally {
      kill.abort();
      leading = false;
    }
  }

  const acts = () => leading && fence() === undefined;
  return {
    fence,
    acts,
    async run(signal) {
      // Whatever ends first, ends all: a lost lease, too.
      const end = new AbortController();
      const stop = AbortSignal.any([signal, end.signal]);
      const watching = Promise.all(collections.map(({ informer }) => informer.run(stop)));
      watching.catch(() => end.abort());
      let lost = false;
      try {
        await Promise.race([Promise.all(collections.map(({ informer }) => informer.synced)), aborted(stop)]);
        if (!stop.aborted && sharding !== undefined) {
          await sharding.run(stop, sharded, work);
          lost = !signal.aborted;
        } else if (!stop.aborted && elector === undefined) await work(stop);
        else if (!stop.aborted && elector !== undefined) {
          log.info({}, 'Caches are filled; waiting for the lease');
          await elector.run(stop, {
            onStartedLeading: work,
            onStoppedLeading: () => log.info({}, 'The lease is given up'),
          });
          lost = !signal.aborted;
        }
      } finally {
        end.abort();
        connections.close();
        await watching;
      }
      if (lost) throw new Error('The lease was lost: this process ends, so that it starts anew with what is true now');
    },
    notReady() {
      const noLogin = login.problem(collections.map(({ plural }) => plural));
      if (noLogin !== undefined) return noLogin;
      const waiting = collections.filter(({ informer }) => !informer.hasSynced());
      if (waiting.length > 0) return `Waiting for the first list of ${waiting.map(({ plural }) => plural).join(', ')}`;
      if (looking) return 'Waiting for the first look at the spaces';
      const isRefused = refused !== undefined && clock.monotonic() - refused.atMs < REFUSED_MS;
      return isRefused && !leading ? `Waiting for its Lease: ${refused?.message}` : undefined;
    },
    stuck() {
      const now = clock.monotonic();
      for (const { queue } of [spaces, ...inSpaces]) {
        for (const [key, since] of queue.inProgress) if (now - since > STUCK_MS) return `A pass of ${key} does not end`;
      }
      return undefined;
    },
  };
}

/** `failing`: makes who is told of each attempt that fails. */
function electorFor(
  dependencies: OperatorDependencies,
  lease: OwnLease,
  failing: (what: string) => (error: unknown) => void,
): LeaderElector {
  const { api, clock, random, instance } = dependencies;
  return new LeaderElector({
    api,
    clock,
    random,
    ...lease,
    identity: `${instance}_${uuid(random)}`,
    onFailure: failing('Cannot take or renew the lease'),
  });
}

/** Clusters are judged by the List of their space; before it there is nothing to say of them but that they wait for it. */
async function firstLook(spaces: WorkQueue, clock: Clock, signal: AbortSignal): Promise<void> {
  const deadline = clock.monotonic() + FIRST_LOOK_MS;
  while ((spaces.depth > 0 || spaces.inProgress.size > 0) && clock.monotonic() < deadline && !signal.aborted) {
    await sleep(clock, 10, signal);
  }
}
