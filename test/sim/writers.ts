import { GROUP } from '../../src/base/group.ts';
import { type Place, placeInFull } from '../../src/kinds/databasespace/place.ts';
import { EVENTS, SECRETS } from '../../src/kube/api.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { objectKey } from '../../src/kube/object.ts';
import { ownerOf } from '../../src/operator/replicas/owners.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Effect } from './faults.ts';
import type { Process } from './process.ts';
import { LEASE_NAMESPACE } from './strike.ts';
import { CLUSTERS, DATABASES, referred, SPACES, specOf, USERS } from './view.ts';
import type { World } from './world.ts';

const LEASE_PREFIX = 'mooring-replica-';
const MEMBERS = `${GROUP}/members`;
const HELD = `${GROUP}/held`;
const KINDS = [SPACES, CLUSTERS, USERS, DATABASES, SECRETS];

/**
 * With shards: who last changed something in each space. No other replica may change anything there until the last one has
 * released the space in its Lease, or has lost the Lease. What they publish there is all that replicas can know of each other.
 */
export class Writers {
  readonly #world: World;
  /** For each shard, the Lease of the replica that last changed something there. */
  readonly #last = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Returns why this process must not have this effect now, or undefined. */
  problem(process: Process, effect: Omit<Effect, 'index'>): string | undefined {
    const place = this.#placeOf(effect);
    if (place === undefined) return undefined;
    const shard = placeInFull({ ...place, baseURL: this.#world.simulator.baseURL });
    const { number, lease = '' } = process;
    const said = `Process ${number} changes ${shard} (${effect.what})`;
    // If somebody else took it away, the replica learns that at its next renewal. Until then no other one may have begun.
    if (this.#world.invariants.areLeasesMeddledWith && this.#last.get(shard) === lease) return undefined;
    if (!this.#holds(lease)) return `${said} without a Lease`;
    if (!this.#claims(lease, shard)) return `${said}, and its Lease says that the space belongs to another replica`;
    const last = this.#last.get(shard) ?? lease;
    this.#last.set(shard, lease);
    if (last === lease || !this.#holds(last) || !this.#claims(last, shard)) return undefined;
    return `${said}, and its last writer has not released it`;
  }

  #lease(name: string): FakeObject | undefined {
    return this.#world.view.object(objectKey(LEASE_NAMESPACE, name), LEASES);
  }

  /** Reports whether the Lease has a holder, even if somebody stole it: a replica finds that out only at its next renewal. */
  #holds(name: string): boolean {
    const lease = this.#lease(name);
    return lease !== undefined && specOf(lease)['holderIdentity'] !== '';
  }

  #claims(name: string, shard: string): boolean {
    const { [MEMBERS]: members, [HELD]: held } = this.#lease(name)?.metadata.annotations ?? {};
    const isHeld = held?.split(',').includes(encodeURIComponent(shard)) ?? false;
    return isHeld || `${LEASE_PREFIX}${ownerOf(shard, members?.split(',') ?? [])}` === name;
  }

  /** Returns the space that the effect belongs to. Events, and sign-ins to the cloud, belong to none. */
  #placeOf({ to, what, url, namespace = '', labels }: Omit<Effect, 'index'>): Omit<Place, 'baseURL'> | undefined {
    const { view, simulator } = this.#world;
    if (to === 'http') {
      const { origin, pathname, host } = new URL(url ?? '');
      const [, teamID = '', spaceID] = /\/team\/([^/]+)\/spaces\/([^/]+)\//.exec(pathname) ?? [];
      if (origin === new URL(simulator.baseURL).origin) return spaceID === undefined ? undefined : { teamID, spaceID };
      return view.clusters().find(({ gone, servers }) => !gone && servers.some(({ address }) => address === host));
    }
    const [, plural, name = ''] = /^\w+ (\w+)\/(\S+)/.exec(what) ?? [];
    const resource = KINDS.find((each) => each.plural === plural);
    if (plural === EVENTS.plural || resource === undefined) return undefined;
    const object = view.object(objectKey(namespace, name), resource);
    if (resource !== SECRETS) return this.#around(object);
    const { [`${GROUP}/cluster`]: cluster = '', [`${GROUP}/user`]: user = '' } =
      labels ?? object?.metadata.labels ?? {};
    return this.#around(
      view.object(objectKey(namespace, cluster), CLUSTERS) ?? view.object(objectKey(namespace, user), USERS),
    );
  }

  #around(object: FakeObject | undefined): Omit<Place, 'baseURL'> | undefined {
    if (object === undefined) return undefined;
    const { teamID, spaceID } = specOf(object) as Partial<Place>;
    const { view } = this.#world;
    const [cluster, space] = [referred(object, 'clusterRef'), referred(object, 'spaceRef')];
    if (cluster !== undefined) return this.#around(view.object(cluster, CLUSTERS));
    if (space !== undefined) return this.#around(view.object(space, SPACES));
    return teamID === undefined || spaceID === undefined ? undefined : { teamID, spaceID };
  }
}
