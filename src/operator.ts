import { aborted } from './base/abort.ts';
import { sleep } from './base/clock.ts';
import { DATABASES } from './kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from './kinds/databasecluster/resource.ts';
import type { SpaceConnections } from './kinds/databasespace/connection/connections.ts';
import { DATABASE_SPACES } from './kinds/databasespace/resource.ts';
import { DATABASE_USERS } from './kinds/databaseuser/resource.ts';
import { splitKey } from './kube/object.ts';
import { actingUnder, type OwnLease } from './operator/acting.ts';
import { createControllers } from './operator/controllers.ts';
import { FirstLists } from './operator/first-lists.ts';
import { firstLook } from './operator/first-look.ts';
import { Gauges } from './operator/gauges.ts';
import { collectionsOf, createInformers, type Informers } from './operator/informers.ts';
import { RefusedLogin } from './operator/refused-login.ts';
import type { ControllerDependencies } from './operator/wiring.ts';
import { fencedApi, fencedTransport } from './runtime/fence.ts';

export interface OperatorDependencies extends ControllerDependencies {
  /** How to learn about Secrets: `get` neither lists nor watches them. Default: watch. */
  readonly secrets?: 'watch' | 'get' | undefined;
  /** The Lease to act under; undefined: this process acts alone, without one. */
  readonly lease: OwnLease | undefined;
}

export interface Operator {
  /** Works until the signal aborts; resolves when running work has ended. Rejects if the lease was lost. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns why it is not ready to work yet; undefined if it is. */
  notReady(): string | undefined;
  /** Reports whether it acts, rather than standing by for another process that does. */
  acts(): boolean;
  /** Returns what is stuck; undefined if nothing is. */
  stuck(): string | undefined;
  /** Returns why it must not change anything now; undefined if it may. */
  fence(): string | undefined;
}

/** A pass that takes this long hangs: every call that it makes has a shorter limit. */
const STUCK_MS = 15 * 60_000;
/** How long running work may take to end after the signal. */
const DRAIN_MS = 20_000;
/** How long the Events of the last passes may then take. */
const EVENTS_MS = 500;

/** The whole operator over its seams; production and simulation differ only in the dependencies. */
export function createOperator(given: OperatorDependencies): Operator {
  const { clock, log } = given;
  const login = new RefusedLogin(clock);
  // They only read, so no fence stops them.
  const firstLists = new FirstLists();
  const informers = createInformers({ ...given, firstLists, onWatchFailure: login.failed.bind(login) });
  const acting = actingUnder(given.lease, given, informers);
  const { fence } = acting;
  const fenced: ControllerDependencies = {
    ...given,
    api: fencedApi(given.api, fence),
    transport: (ca) => fencedTransport(given.transport(ca), fence),
  };
  const { spaces, inSpaces, sharded, connections, shutDownEvents } = createControllers(fenced, informers, {
    gateOf: (kind) => acting.share?.gateOf(kind),
    actsSinceMs: (kind, key) => acting.share?.actsSinceMs(kind, key) ?? leadingSinceMs,
  });
  const collections = collectionsOf(informers);
  let leading = false;
  /** Until then another process may have acted, however long this one has stood by. */
  let leadingSinceMs = clock.now();
  /** It should act, but clusters wait for the first look at their spaces. */
  let looking = false;
  const acts = () => leading && fence() === undefined;
  showInMetrics(given, informers, connections, acts);

  /** Works until the signal aborts; running work then has some time to end. */
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
      // It does not end by itself; a failure is reported at once.
      await Promise.race([working, aborted(signal)]);
      // A process that may no longer change anything has nothing to finish.
      if (fence() === undefined) await Promise.race([working, sleep(clock, DRAIN_MS, kill.signal)]);
      // They need the Lease, too. But whoever waits for it must not wait for long.
      await Promise.race([shutDownEvents(), sleep(clock, EVENTS_MS, kill.signal)]);
    } finally {
      // Even if a controller failed: Events that are tried again would keep the process.
      void shutDownEvents();
      kill.abort();
      leading = false;
    }
  }

  return {
    fence,
    acts,
    async run(signal) {
      // Whatever ends first ends everything, including a lost lease.
      const end = new AbortController();
      const stop = AbortSignal.any([signal, end.signal]);
      const watching = Promise.all(collections.map(({ informer }) => informer.run(stop)));
      watching.catch(() => end.abort());
      let lost = false;
      try {
        await Promise.race([Promise.all(collections.map(({ informer }) => informer.synced)), aborted(stop)]);
        if (stop.aborted) return;
        await acting.run(stop, sharded, work);
        lost = !signal.aborted;
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
      const waiting = firstLists.waiting(collections);
      if (waiting !== undefined) return waiting;
      if (looking) return 'Waiting for the first look at the spaces';
      // One that shares spaces begins to work before it has found out whether it may.
      const refused = acts() ? undefined : acting.refused();
      return refused === undefined ? undefined : `Waiting for its Lease: ${refused}`;
    },
    stuck() {
      const now = clock.monotonic();
      for (const { queue } of [spaces, ...inSpaces]) {
        for (const [key, { began }] of queue.processing)
          if (now - began > STUCK_MS) return `A pass of ${key} does not end`;
      }
      return undefined;
    },
  };
}

/** Counts the objects as they change, and shows at each scrape what they and the spaces are like. */
function showInMetrics(
  { clock, metrics }: OperatorDependencies,
  { spaces, clusters, users, databases }: Informers,
  connections: SpaceConnections,
  acts: () => boolean,
): void {
  const gauges = new Gauges(() => clock.now());
  gauges.watch(DATABASE_SPACES.kind, spaces);
  gauges.watch(DATABASE_CLUSTERS.kind, clusters);
  gauges.watch(DATABASE_USERS.kind, users);
  gauges.watch(DATABASES.kind, databases);
  metrics.onScrape(() => ({
    ...gauges.told(),
    spaces: [...connections.all()].map(([key, { poller }]) => {
      const { listedAtMs, intervalMs } = poller;
      return { ...splitKey(key), listedAtMs, intervalMs };
    }),
    leader: acts(),
  }));
}
