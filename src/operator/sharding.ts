import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type Random, uuid } from '../base/random.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { placeInFull, placeOf } from '../kinds/databasespace/place.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import type { DatabaseSpaceSpec } from '../kinds/databasespace/schema.ts';
import type { KubeApi } from '../kube/api.ts';
import { type KubeObject, type ObjectKey, objectKey, splitKey } from '../kube/object.ts';
import type { KeyGate } from '../runtime/controller.ts';
import type { LeaseTimes } from '../runtime/leader-election.ts';
import type { Informers } from './informers.ts';
import { Membership } from './membership.ts';

type Sharded = 'spaces' | 'clusters' | 'users' | 'databases';

/** Of a controller, what changes when shards do. */
export interface ShardedController {
  revisit(key: ObjectKey, delayMs: number): void;
  letGo(key: ObjectKey): void;
}

export type ShardedControllers = Readonly<Record<Sharded, ShardedController>>;

export interface ShardingOptions extends Partial<LeaseTimes> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Of the replicas' Leases. */
  readonly namespace: string;
  /** Of the Lease that a single leader would hold. */
  readonly name: string;
}

/** How long clusters of a shard that is taken over wait for the first look at their space, as at a start. */
const FIRST_LOOK_MS = 2_000;
/** A key may come to be ours without a change of members, as when its space appears. */
const ROUNDS_A_SWEEP = 15;
/** So many objects come or go at once; then others have their turn. */
const SLICE = 50;
const KINDS: readonly Sharded[] = ['spaces', 'clusters', 'users', 'databases'];

/**
 * Which objects this replica works on: those of the shards that it owns. A shard is a space in the cloud, whichever
 * DatabaseSpaces name it, with all that lives in it. What comes to be ours is looked at as at a start, and what is no longer
 * ours is forgotten: its space is not listed any more.
 */
export class Sharding {
  readonly #informers: Pick<Informers, Sharded>;
  readonly #api: KubeApi;
  readonly #membership: Membership;
  readonly #log: Log;
  readonly #shards = new WeakMap<KubeObject, string>();
  /** How many passes are in hand for a shard, and of which shard each pass was when it began. */
  readonly #inHand = new Map<string, number>();
  readonly #begun = new Map<string, string>();
  readonly #ours = {
    spaces: new Set<string>(),
    clusters: new Set<string>(),
    users: new Set<string>(),
    databases: new Set<string>(),
  };
  /** Keys that were turned away: this replica may have them again, and nobody else has heard of them. */
  readonly #refused: Readonly<Record<Sharded, Set<ObjectKey>>> = {
    spaces: new Set(),
    clusters: new Set(),
    users: new Set(),
    databases: new Set(),
  };
  #controllers: ShardedControllers | undefined;
  #rounds = 0;
  #sweeping = false;
  #due = false;

  constructor({ random, log, ...options }: ShardingOptions, informers: Pick<Informers, Sharded>) {
    this.#informers = informers;
    this.#api = options.api;
    this.#log = log;
    this.#membership = new Membership({
      ...options,
      identity: uuid(random),
      inHand: () => this.#inHand.keys(),
      onChange: (changed) => {
        if (changed || this.#hasRefused() || ++this.#rounds % ROUNDS_A_SWEEP === 0) void this.#sweep();
      },
      onFailure: (error) => log.warn({ err: error }, `Cannot agree with other replicas on spaces: ${messageOf(error)}`),
    });
  }

  isMember(): boolean {
    return this.#membership.isMember();
  }

  /** What the controllers ask before they begin a pass. */
  gateOf(kind: Sharded): KeyGate {
    return {
      begin: async (key) => {
        const unseen = this.#unseen(kind, key);
        const isUncertain = unseen !== undefined && (await this.#exists(unseen));
        const shard = this.#shardOf(kind, key);
        if (isUncertain || !this.#membership.owns(shard)) {
          this.#refused[kind].add(key);
          return false;
        }
        this.#begun.set(`${kind} ${key}`, shard);
        this.#inHand.set(shard, (this.#inHand.get(shard) ?? 0) + 1);
        return true;
      },
      end: (key) => {
        const shard = this.#begun.get(`${kind} ${key}`) ?? '';
        this.#begun.delete(`${kind} ${key}`);
        const left = (this.#inHand.get(shard) ?? 1) - 1;
        if (left === 0) this.#inHand.delete(shard);
        else this.#inHand.set(shard, left);
      },
    };
  }

  #hasRefused(): boolean {
    return KINDS.some((kind) => this.#refused[kind].size > 0);
  }

  /** As Membership.run. */
  run(signal: AbortSignal, controllers: ShardedControllers, work: (stop: AbortSignal) => Promise<void>): Promise<void> {
    this.#controllers = controllers;
    return this.#membership.run(signal, work);
  }

  /** In slices, as thousands of objects may come from a replica that died. One at a time: what changes meanwhile waits. */
  async #sweep(): Promise<void> {
    this.#due = true;
    if (this.#sweeping) return;
    this.#sweeping = true;
    const counts = { gained: 0, lost: 0 };
    while (this.#due) {
      this.#due = false;
      const owned = new Map<string, boolean>();
      for (const kind of KINDS) {
        for (const key of [...this.#informers[kind].store.keys()]) {
          if (!this.#settle(kind, key, owned, counts) || (counts.gained + counts.lost) % SLICE !== 0) continue;
          await setImmediate();
          owned.clear();
        }
        const { store } = this.#informers[kind];
        for (const key of this.#refused[kind]) if (store.get(key) === undefined) this.#refused[kind].delete(key);
        for (const key of this.#ours[kind]) {
          if (store.get(key) !== undefined) continue;
          this.#ours[kind].delete(key);
          // Its shard is not known any more, so nobody else may have forgotten what is held for it.
          this.#controllers?.[kind].letGo(key);
        }
      }
    }
    this.#sweeping = false;
    if (counts.gained + counts.lost > 0) this.#log.info(counts, 'Objects have come from and gone to other replicas');
  }

  /** Whether the object came to be ours, or is ours no longer. `owned`: what is known of shards at this moment. */
  #settle(
    kind: Sharded,
    key: ObjectKey,
    owned: Map<string, boolean>,
    counts: { gained: number; lost: number },
  ): boolean {
    const shard = this.#shardOf(kind, key);
    const isOurs = owned.get(shard) ?? this.#membership.owns(shard);
    owned.set(shard, isOurs);
    const [ours, refused] = [this.#ours[kind], this.#refused[kind]];
    if (isOurs && (!ours.has(key) || refused.has(key))) {
      refused.delete(key);
      ours.add(key);
      counts.gained++;
      this.#controllers?.[kind].revisit(key, kind === 'clusters' ? FIRST_LOOK_MS : 0);
      return true;
    }
    // While something is in hand the shard may yet stay ours, and then nobody else has looked at what was turned away.
    if (isOurs || this.#inHand.has(shard)) return false;
    refused.delete(key);
    if (!ours.delete(key)) return false;
    counts.lost++;
    this.#controllers?.[kind].letGo(key);
    return true;
  }

  #shardOf(kind: Sharded, key: ObjectKey): string {
    const object = this.#informers[kind].store.get(key);
    if (object === undefined) return key;
    if (kind === 'spaces') return this.#placeOf(object);
    const outer = outerOf(kind, object);
    return this.#shardOf(outer.kind, outer.key);
  }

  /** What says in which space the object is, and is not known here; undefined: all is known, or the object itself is gone. */
  #unseen(kind: Sharded, key: ObjectKey): Outer | undefined {
    const object = this.#informers[kind].store.get(key);
    if (object === undefined || kind === 'spaces') return undefined;
    const outer = outerOf(kind, object);
    const isSeen = this.#informers[outer.kind].store.get(outer.key) !== undefined;
    return isSeen ? this.#unseen(outer.kind, outer.key) : outer;
  }

  /** Whether it is there all the same: then another replica may know by now that what is in it is its own. */
  async #exists({ kind, key }: Outer): Promise<boolean> {
    try {
      const resource = kind === 'spaces' ? DATABASE_SPACES : DATABASE_CLUSTERS;
      return (await this.#api.get(resource, splitKey(key))) !== undefined;
    } catch (error) {
      this.#log.warn({ err: error }, `Cannot look for ${key}, so nobody knows whose it is: ${messageOf(error)}`);
      return true;
    }
  }

  #placeOf(object: KubeObject): string {
    const known = this.#shards.get(object);
    if (known !== undefined) return known;
    // As the API server has checked it.
    const shard = placeInFull(placeOf(object.spec as DatabaseSpaceSpec));
    this.#shards.set(object, shard);
    return shard;
  }
}

interface Ref {
  readonly name: string;
  readonly namespace?: string;
}

/** What an object is in. */
interface Outer {
  readonly kind: 'spaces' | 'clusters';
  readonly key: ObjectKey;
}

function outerOf(kind: Sharded, { metadata, spec }: KubeObject): Outer {
  const { spaceRef, clusterRef } = spec as { readonly spaceRef?: Ref; readonly clusterRef?: Ref };
  const ref = spaceRef ?? clusterRef;
  const key = objectKey(ref?.namespace ?? metadata.namespace ?? '', ref?.name ?? '');
  return { kind: kind === 'clusters' ? 'spaces' : 'clusters', key };
}
