import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { yieldToEventLoop } from '../../base/pace.ts';
import { type Random, uuid } from '../../base/random.ts';
import type { KubeApi } from '../../kube/api.ts';
import type { LeaseTimes } from '../../kube/lease.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { KeyGate } from '../../runtime/controller.ts';
import type { Forgotten } from '../../runtime/kind.ts';
import type { WorkQueue } from '../../runtime/workqueue.ts';
import { FIRST_LOOK_MS } from '../first-look.ts';
import type { Informers } from '../informers.ts';
import { Membership } from './membership.ts';
import { type ByKind, byKind, SHARDED, type Sharded, Shards } from './shards.ts';
import { Unseen } from './unseen.ts';

type Sources = Readonly<Record<Sharded, Pick<Informers[Sharded], 'onChange'>>>;

/** What sharding uses of a controller. */
export interface ShardedController {
  enqueueAsNew(key: ObjectKey, delayMs: number): void;
  forget(key: ObjectKey, why: Forgotten): void;
  readonly queue: Pick<WorkQueue, 'addAfter'>;
}

export type ShardedControllers = Readonly<Record<Sharded, ShardedController>>;

export interface ShardingOptions extends Partial<LeaseTimes> {
  readonly api: Pick<KubeApi, 'get'>;
  /** For Leases. */
  readonly leases: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The watched namespaces; undefined: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** The namespace of the replicas' Leases. */
  readonly namespace: string;
  /** The name of the Lease that a single leader would hold. */
  readonly name: string;
  /** Called after each failed attempt to agree with other replicas. */
  readonly onFailure: (error: unknown) => void;
}

/** All keys are gone through after this many looks even if no member has changed: one may be ours since its space appeared. */
const LOOKS_A_SWEEP = 15;
/**
 * An object that has moved to our shard waits for this many rounds, in each of which all other replicas have renewed. The first look may
 * have begun before the move, and so may what had landed by the second. By the fourth, each has written a Lease since then, knowing that
 * one written after the move was there: in it is its running work.
 */
const ROUNDS_AFTER_A_MOVE = 4;
/** Steps of a sweep before other work has its turn. An object that comes or goes takes as long as `CHANGE_STEPS` that stay. */
const SLICE = 500;
const CHANGE_STEPS = 10;

/**
 * Decides which objects this replica works on: those in the shards that it owns. An object that becomes ours is looked at as at a start.
 * One that is no longer ours is forgotten; its space is not listed any more.
 */
export class Sharding {
  readonly #unseen: Unseen;
  readonly #membership: Membership;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #shards: Shards;
  /** The number of running passes per shard. */
  readonly #inHand = new Map<string, number>();
  /** By `kind key`, the shard for which the running pass was counted when it began. */
  readonly #begun = new Map<string, { readonly kind: Sharded; readonly key: ObjectKey; readonly shard: string }>();
  /** Objects that moved here from a shard that was not ours, as `kind key`, and the number of rounds by then. */
  readonly #moved = new Map<string, number>();
  /** Keys that became ours, and when; wall clock. */
  readonly #ours: ByKind<number> = byKind();
  /**
   * Keys whose passes the gate refused. If they become ours after all, nobody else has worked on them since. True: something waits for
   * a look, as their shard changed, or as they were ours and queued.
   */
  readonly #refused: ByKind<boolean> = byKind();
  #controllers: ShardedControllers | undefined;
  #looks = 0;
  #rounds = 0;
  #sweeping = false;
  #due = false;

  constructor({ random, log, ...options }: ShardingOptions, informers: Sources) {
    this.#shards = new Shards(options.namespaces);
    for (const kind of SHARDED) {
      informers[kind].onChange((key, _before, after) => {
        const left = this.#shards.see(kind, key, after);
        if (kind === 'spaces' || kind === 'clusters') this.#unseen.forget({ kind, key });
        // Everything in it moves to another shard too, even if the object is gone.
        if (left !== undefined && !this.#membership.owns(left)) this.#moved.set(`${kind} ${key}`, this.#rounds);
      });
    }
    this.#unseen = new Unseen({ ...options, log });
    this.#log = log;
    this.#clock = options.clock;
    this.#membership = new Membership({
      ...options,
      api: options.leases,
      identity: uuid(random),
      inHand: () => this.#shardsInHand(),
      onChange: (changed, renewed) => {
        this.#looks++;
        if (renewed) this.#rounds++;
        for (const [name, at] of this.#moved) if (this.#rounds - at >= ROUNDS_AFTER_A_MOVE) this.#moved.delete(name);
        if (changed || this.#hasRefused() || this.#looks % LOOKS_A_SWEEP === 0) void this.#sweep();
      },
    });
  }

  isMember(): boolean {
    return this.#membership.isMember();
  }

  /** The gate that the controllers ask before they begin a pass. */
  gateOf(kind: Sharded): KeyGate {
    return {
      begin: async (key) => {
        const unseen = this.#shards.unseen(kind, key);
        const isUncertain = unseen !== undefined && (await this.#unseen.mayExist(unseen));
        const shard = this.#shards.of(kind, key);
        const isMoving = isUncertain || this.#hasMoved(kind, key);
        if (isMoving || !this.#membership.owns(shard)) {
          // An object that was ours was queued for a reason, which still stands if it becomes ours again.
          this.#refused[kind].set(key, isMoving || this.#ours[kind].has(key) || this.#refused[kind].get(key) === true);
          return false;
        }
        this.#begun.set(`${kind} ${key}`, { kind, key, shard });
        // A sweep may not have reached it yet: what this pass leaves in memory must be forgotten when the shard is lost.
        if (!this.#ours[kind].has(key)) this.#ours[kind].set(key, this.#clock.now());
        this.#refused[kind].delete(key);
        this.#inHand.set(shard, (this.#inHand.get(shard) ?? 0) + 1);
        return true;
      },
      end: (key) => {
        const shard = this.#begun.get(`${kind} ${key}`)?.shard ?? '';
        this.#begun.delete(`${kind} ${key}`);
        const left = (this.#inHand.get(shard) ?? 1) - 1;
        if (left > 0) {
          this.#inHand.set(shard, left);
          return;
        }
        this.#inHand.delete(shard);
        // The shard was kept only until this pass ended.
        if (!this.#membership.owns(shard)) void this.#sweep();
      },
    };
  }

  /** Returns since when this process acts on the object, after another replica may have had it; wall clock. */
  actsSinceMs(kind: Sharded, key: ObjectKey): number {
    return this.#ours[kind].get(key) ?? this.#clock.now();
  }

  #hasRefused(): boolean {
    return SHARDED.some((kind) => this.#refused[kind].size > 0);
  }

  /** Like Membership.run. */
  run(signal: AbortSignal, controllers: ShardedControllers, work: (stop: AbortSignal) => Promise<void>): Promise<void> {
    this.#controllers = controllers;
    return this.#membership.run(signal, work);
  }

  /** Settles all keys, in slices, as a replica that died may leave thousands. One sweep at a time: changes meanwhile wait. */
  async #sweep(): Promise<void> {
    this.#due = true;
    if (this.#sweeping) return;
    this.#sweeping = true;
    const counts = { gained: 0, lost: 0 };
    let steps = 0;
    while (this.#due) {
      this.#due = false;
      const owned = new Map<string, boolean>();
      for (const kind of SHARDED) {
        for (const key of this.#shards.keys(kind)) {
          steps += this.#settle(kind, key, owned, counts) ? CHANGE_STEPS : 1;
          if (steps < SLICE) continue;
          await yieldToEventLoop();
          owned.clear();
          steps = 0;
        }
        for (const key of this.#refused[kind].keys()) if (!this.#shards.has(kind, key)) this.#refused[kind].delete(key);
        for (const key of this.#ours[kind].keys()) {
          if (this.#shards.has(kind, key)) continue;
          this.#ours[kind].delete(key);
          // Its shard is no longer known, so nothing else may have dropped what is remembered of it.
          this.#controllers?.[kind].forget(key, 'deleted');
        }
      }
    }
    this.#sweeping = false;
    if (counts.gained + counts.lost > 0) this.#log.info(counts, 'Objects have come from and gone to other replicas');
  }

  /** Takes an object that became ours, or drops one that no longer is; reports whether it did. `owned`: the shards known at this moment. */
  #settle(
    kind: Sharded,
    key: ObjectKey,
    owned: Map<string, boolean>,
    counts: { gained: number; lost: number },
  ): boolean {
    const shard = this.#shards.of(kind, key);
    const isOurs = owned.get(shard) ?? this.#membership.owns(shard);
    owned.set(shard, isOurs);
    const [ours, refused] = [this.#ours[kind], this.#refused[kind]];
    if (isOurs && (!ours.has(key) || refused.has(key))) {
      const unseen = this.#shards.unseen(kind, key);
      if (this.#hasMoved(kind, key) || (unseen !== undefined && this.#unseen.isPending(unseen))) return false;
      // In a shard just taken over, too, clusters wait for the first List of their space.
      const delayMs = kind === 'clusters' ? FIRST_LOOK_MS : 0;
      this.#controllers?.[kind].enqueueAsNew(key, delayMs);
      // Otherwise a stalled object would rest for minutes, as at a start.
      if (refused.get(key) === true) this.#controllers?.[kind].queue.addAfter(key, delayMs);
      refused.delete(key);
      if (!ours.has(key)) counts.gained++;
      ours.set(key, this.#clock.now());
      return true;
    }
    // While work is running the shard may yet stay ours, and then nobody else has looked at the refused keys.
    if (isOurs || this.#inHand.has(shard) || this.#begun.has(`${kind} ${key}`)) return false;
    refused.delete(key);
    if (!ours.delete(key)) return false;
    counts.lost++;
    this.#controllers?.[kind].forget(key, 'released');
    return true;
  }

  /** Returns, for each running pass, the shard that it began in and the one that its object is in by now. */
  #shardsInHand(): ReadonlySet<string> {
    const shards = new Set(this.#inHand.keys());
    for (const { kind, key } of this.#begun.values())
      if (this.#shards.has(kind, key)) shards.add(this.#shards.of(kind, key));
    return shards;
  }

  /** Reports whether the object, or one it is in, has just moved to another shard: another replica may still be working on it. */
  #hasMoved(kind: Sharded, key: ObjectKey): boolean {
    if (this.#moved.has(`${kind} ${key}`)) return true;
    const outer = this.#shards.outerOf(kind, key);
    return outer !== undefined && this.#hasMoved(outer.kind, outer.key);
  }
}
