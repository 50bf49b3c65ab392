/*
 * The Leases of all that may act besides this replica, as Membership uses them: those of the other replicas and that of a single leader.
 * Removes the Leases of those that have gone.
 */

import * as z from 'zod';
import type { Clock } from '../../base/clock.ts';
import { GROUP } from '../../base/group.ts';
import { REPLICA_LEASE_PREFIX } from '../../base/lease-names.ts';
import { type AnyObject, isConflict, isNotFound, type KubeApi } from '../../kube/api.ts';
import { actsForMs, GIVEN_BACK, isFree, LEASES, leaseSpecOf } from '../../kube/lease.ts';
import type { View } from './owners.ts';

/** The view that a replica acts on: identities, separated by commas. */
export const MEMBERS = `${GROUP}/members`;
/** Shards in use by this replica that are another one's under that view: percent-encoded, separated by commas. */
export const HELD = `${GROUP}/held`;
/** The holder of the single leader's Lease when there is no leader: all replicas together. */
export const REPLICAS = 'replicas';

/** What a replica publishes no more once it acts on nothing. */
export const WITHDRAWN = { [MEMBERS]: null, [HELD]: null };

/** Reports whether the replica gave its Lease back, or the Lease was taken from it. If a person edits the spec, what it published stays. */
export function isGivenBack(lease: AnyObject): boolean {
  return !leaseSpecOf(lease).holderIdentity && lease.metadata.annotations?.[MEMBERS] === undefined;
}

const replicaLease = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).nullish() }),
});

/** A Lease as last seen, and since when it has been seen unchanged. */
export interface Other {
  /** The version of its Lease; '' if the Lease is gone. */
  readonly version: string;
  readonly since: number;
  /** '' if it gave its Lease back. */
  readonly identity: string;
  /** It acts alone. */
  readonly isLeader: boolean;
  readonly view: View;
  /** As published. */
  readonly held: ReadonlySet<string>;
  /** It does not act for longer than this after a renewal. */
  readonly durationMs: number;
}

export interface OthersOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly namespace: string;
  /** The Lease of a single leader. */
  readonly name: string;
  /** The Lease of this replica. */
  readonly own: string;
  readonly leaseDurationMs: number;
  /**
   * Starts work on others' Leases. Its result shows in the next look; otherwise the work is tried again when their time is over once
   * more. A refusal or a slow answer must not keep this replica from renewing its own Lease.
   */
  readonly aside: (work: (limit: AbortSignal) => Promise<unknown>) => void;
  /** Called when a replica was found dead: its Lease is being taken from it. */
  readonly onDead: () => void;
}

export class Others {
  readonly #options: OthersOptions;
  /** By the name of the Lease. */
  readonly #seen = new Map<string, Other>();

  constructor(options: OthersOptions) {
    this.#options = options;
  }

  /** Returns those that may act besides this replica. */
  async look(limit: AbortSignal): Promise<readonly Other[]> {
    const { api, clock, namespace } = this.#options;
    const { items } = await api.list(LEASES, { namespace }, limit);
    limit.throwIfAborted();
    const now = clock.monotonic();
    for (const lease of items) this.#see(lease, now);
    const leases = new Map(items.map((lease) => [lease.metadata.name, lease]));
    const live = [...this.#seen].filter(([name, other]) => this.#mayAct(name, other, leases.get(name), now));
    return live.map(([, other]) => other);
  }

  /** Reports whether somebody leads alone, by the single leader's Lease as just read; undefined: there is none. */
  isLed(lease: AnyObject | undefined): boolean {
    const wasSeen = this.#seen.has(this.#options.name);
    // A leader whose Lease was deleted goes on until it finds that out.
    if (lease === undefined) return wasSeen;
    const spec = leaseSpecOf(lease);
    return spec.holderIdentity !== REPLICAS && !isFree(spec, wasSeen);
  }

  /** Reports whether it may act, as far as its Lease shows. Removes the Lease of one that has gone. */
  #mayAct(name: string, other: Other, lease: AnyObject | undefined, now: number): boolean {
    const { api, namespace, leaseDurationMs, aside, onDead } = this.#options;
    const isOver = now - other.since >= other.durationMs;
    const waitAnew = (changed: Partial<Other> = {}) => this.#seen.set(name, { ...other, ...changed, since: now });
    if (other.identity === '') {
      if (lease === undefined) this.#seen.delete(name);
      else if (isOver) {
        // By then all the others have seen it given back, so they do not treat it as deleted from a replica that may still act.
        waitAnew();
        aside((limit) => api.delete(LEASES, { namespace, name }, { uid: lease.metadata.uid }, limit));
      }
      return false;
    }
    if (lease === undefined && other.version === '') {
      if (isOver) this.#seen.delete(name);
      return !isOver;
    }
    if (lease === undefined) {
      // Somebody deleted it, and the replica may have renewed up to this moment. What somebody wrote into it is gone with it.
      waitAnew({ version: '', durationMs: leaseDurationMs });
    } else if (isOver) {
      // It is dead once its Lease could be taken from it, which the next look shows.
      waitAnew();
      onDead();
      aside((limit) => this.#bury(name, other, limit));
    }
    return true;
  }

  #see(lease: AnyObject, now: number): void {
    const { name } = lease.metadata;
    const parsed = replicaLease.safeParse(lease);
    const isLeader = name === this.#options.name;
    if (!(name.startsWith(REPLICA_LEASE_PREFIX) || isLeader) || name === this.#options.own || !parsed.success) return;
    if (isLeader && !this.isLed(lease)) {
      this.#seen.delete(name);
      return;
    }
    const known = this.#seen.get(name);
    const version = lease.metadata.resourceVersion;
    if (known?.version === version) return;
    const spec = leaseSpecOf(lease);
    // Whatever somebody wrote into it: its holder acts until it has seen that and its Lease runs out.
    const durationMs = actsForMs(spec, this.#options.leaseDurationMs);
    const owner = isLeader ? name : name.slice(REPLICA_LEASE_PREFIX.length);
    const identity = !isLeader && isGivenBack(lease) ? '' : owner;
    // A leader claims everything. So may a replica: its own view always includes it, unless somebody wrote something else there.
    const { [MEMBERS]: members, [HELD]: held } = parsed.data.metadata.annotations ?? {};
    const published = (members ?? '').split(',');
    const view = isLeader || !published.includes(identity) ? [identity] : published;
    this.#seen.set(name, {
      version,
      since: now,
      identity,
      isLeader,
      view,
      held: new Set(held?.split(',')),
      durationMs,
    });
  }

  /** Takes the Lease from a replica that did not renew it, unless it has renewed meanwhile. */
  async #bury(name: string, { version }: Other, limit: AbortSignal): Promise<void> {
    const { api, namespace } = this.#options;
    const patch = { metadata: { resourceVersion: version, annotations: WITHDRAWN }, spec: GIVEN_BACK };
    await api.patch(LEASES, { namespace, name }, patch, undefined, limit).catch((error) => {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    });
  }
}
