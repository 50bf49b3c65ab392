import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type Random, uuid } from '../base/random.ts';
import { Seldom } from '../base/seldom.ts';
import type { KubeApi } from '../kube/api.ts';
import type { LeaseTimes } from '../kube/lease.ts';
import { LeaderElector } from '../runtime/leader-election.ts';
import type { Share } from './controllers.ts';
import type { Informers } from './informers.ts';
import { type ShardedControllers, Sharding } from './replicas/sharding.ts';

/** The Lease to act under. */
export interface OwnLease extends Partial<LeaseTimes> {
  readonly namespace: string;
  readonly name: string;
  /** Used for Leases alone, so that their renewal waits for nothing else. Default: the API for everything. */
  readonly api?: KubeApi;
  /** All replicas act, each on its own spaces. They agree by Leases in this namespace, and hold this one together. */
  readonly shardBySpace?: boolean;
}

/** How a process comes to act, and on what: alone on everything, as the leader, or with others that share the spaces. */
export interface Acting {
  /** Returns why it must not change anything now; undefined if it may. */
  fence(): string | undefined;
  /** The objects that are its own; undefined: all, while it works. */
  readonly share: Share | undefined;
  /** Runs `work` once it may act, and tells it when to stop. Resolves when that has ended, and early if the Lease is lost. */
  run(signal: AbortSignal, controllers: ShardedControllers, work: (stop: AbortSignal) => Promise<void>): Promise<void>;
  /** Returns why it cannot take part; undefined if nothing is known against it. */
  refused(): string | undefined;
}

export interface ActingDependencies {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly namespaces?: readonly string[] | undefined;
  readonly instance: string;
}

/** Failed attempts to take part follow one another sooner than this, even if a request hangs. */
const REFUSED_MS = 10_000;
/** They follow one another every two seconds: a line in this time is enough for each thing that is wrong. */
const TELL_EVERY_MS = 60_000;

/** `lease` undefined: this process acts alone, without one. */
export function actingUnder(lease: OwnLease | undefined, given: ActingDependencies, informers: Informers): Acting {
  if (lease === undefined) return ALONE;
  return lease.shardBySpace === true ? asReplica(lease, given, informers) : asLeader(lease, given);
}

const ALONE: Acting = {
  fence: () => undefined,
  share: undefined,
  run: (signal, _controllers, work) => work(signal),
  refused: () => undefined,
};

function asLeader(lease: OwnLease, { api, clock, random, log, instance }: ActingDependencies): Acting {
  const { failed, refused } = attempts('Cannot take or renew the lease', clock, log);
  const elector = new LeaderElector({
    api,
    clock,
    random,
    ...lease,
    identity: `${instance}_${uuid(random)}`,
    onFailure: failed,
  });
  return {
    fence: () => (elector.isLeader() ? undefined : 'another process may lead by now'),
    share: undefined,
    run(signal, _controllers, work) {
      log.info({}, 'Caches are filled; waiting for the lease');
      const onStoppedLeading = () => log.info({}, 'The lease is given up');
      return elector.run(signal, { onStartedLeading: work, onStoppedLeading });
    },
    refused,
  };
}

function asReplica({ api: leases, ...lease }: OwnLease, given: ActingDependencies, informers: Informers): Acting {
  const { failed, refused } = attempts('Cannot agree with other replicas on spaces', given.clock, given.log);
  const sharding = new Sharding({ ...given, ...lease, leases: leases ?? given.api, onFailure: failed }, informers);
  return {
    fence: () => (sharding.isMember() ? undefined : 'another process may have its spaces by now'),
    share: sharding,
    run: (signal, controllers, work) => sharding.run(signal, controllers, work),
    refused,
  };
}

/** Logs failed attempts to take part, and knows whether the last one counts still. */
function attempts(what: string, clock: Clock, log: Log) {
  let last: { readonly atMs: number; readonly message: string } | undefined;
  const told = new Seldom(clock, TELL_EVERY_MS);
  return {
    failed(error: unknown) {
      const message = messageOf(error);
      last = { atMs: clock.monotonic(), message };
      if (told.isDue(message)) log.warn({ err: error }, `${what}: ${message}`);
    },
    refused: () => (last !== undefined && clock.monotonic() - last.atMs < REFUSED_MS ? last.message : undefined),
  };
}
