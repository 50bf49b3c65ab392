import type { Reference } from '../../base/collections/reference-index.ts';
import { type KubeObject, type ObjectKey, objectKey } from '../../kube/object.ts';
import { hasLetGo } from '../claim.ts';
import { isSamePlace, type Place } from '../databasespace/place.ts';
import type { SpacePlaces } from '../databasespace/places.ts';
import { needsCloudToGo } from './decide-deletion.ts';
import { claims } from './existence/claimants.ts';
import { type HeldRecord, heldRecordOf } from './held-record.ts';
import { adminSecretName, currentID, desiredID, mayExist, spaceKeyOf } from './identity.ts';
import { recordedIn } from './login/former-secrets.ts';
import { CLUSTER_FINALIZER } from './resource.ts';

/* What all DatabaseClusters together say about a space: its ids, and what needs it. */

/** What matters about a DatabaseCluster for its space. */
interface Member {
  /** The id of its cluster, then those it wants; none if its claims do not count, or it has let go. */
  readonly ids: readonly string[];
  /** Something in the cloud is, or may be, this object's: its ids are more than wishes. */
  readonly exists: boolean;
  /** Where its cluster is, if known. */
  readonly place: Place | undefined;
  readonly needsSpace: boolean;
}

interface Space {
  readonly members: Map<ObjectKey, Member>;
  /** The last answer, while it is still true: with most Lists nothing has changed. */
  held: { readonly here: Place | undefined; readonly ids: ReadonlySet<string> } | undefined;
}

/** The DatabaseClusters of each space, kept up to date by changes: a space asks for all of its own with each List. */
export class SpaceMembers {
  readonly #spaces = new Map<ObjectKey, Space>();
  readonly #onHold: (space: ObjectKey, id: string) => void;
  readonly #places: Pick<SpacePlaces, 'recorded'> | undefined;

  /** `onHold`: a member of the space starts or stops having the id. `places`: hears where clusters are recorded. */
  constructor(onHold: (space: ObjectKey, id: string) => void = () => {}, places?: Pick<SpacePlaces, 'recorded'>) {
    this.#onHold = onHold;
    this.#places = places;
  }

  /** One object changed. Undefined: it was not there before, or is no longer there. */
  changed(key: ObjectKey, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const [was, is] = [heldRecordOf(before), heldRecordOf(after)];
    const [left, joined] = [was && spaceKeyOf(was), is && spaceKeyOf(is)];
    const gone = left === undefined ? undefined : this.#remove(key, left);
    const come = is === undefined || joined === undefined ? undefined : this.#add(key, joined, is);
    if (left === joined && gone === come) return;
    if (left !== undefined && gone !== undefined) this.#onHold(left, gone);
    if (joined !== undefined && come !== undefined) this.#onHold(joined, come);
  }

  /** Returns the id that it had. */
  #remove(key: ObjectKey, left: ObjectKey): string | undefined {
    const space = this.#spaces.get(left);
    const member = space?.members.get(key);
    if (space === undefined || member === undefined) return undefined;
    if (member.exists && member.place !== undefined) this.#places?.recorded(left, member.place, -1);
    space.held = undefined;
    if (space.members.delete(key) && space.members.size === 0) this.#spaces.delete(left);
    return heldBy(member);
  }

  /** Returns the id that it has. */
  #add(key: ObjectKey, joined: ObjectKey, record: HeldRecord): string | undefined {
    const space = this.#spaces.get(joined) ?? { members: new Map<ObjectKey, Member>(), held: undefined };
    const member = memberOf(record, space.members.values().next().value?.place);
    space.members.set(key, member);
    space.held = undefined;
    this.#spaces.set(joined, space);
    if (member.exists && member.place !== undefined) this.#places?.recorded(joined, member.place, 1);
    return heldBy(member);
  }

  /** Keys of the DatabaseClusters that name the space. */
  of(space: ObjectKey): Iterable<ObjectKey> {
    return this.#spaces.get(space)?.members.keys() ?? [];
  }

  /** Ids that DatabaseClusters of the space have or want. */
  claimedIDs(key: ObjectKey): ReadonlySet<string> {
    return new Set(Iterator.from(this.#spaces.get(key)?.members.values() ?? []).flatMap(({ ids }) => ids));
  }

  /** Ids of the clusters that its DatabaseClusters have in the place `here`, or may have. */
  heldIDs(key: ObjectKey, here: Place | undefined): ReadonlySet<string> {
    const space = this.#spaces.get(key);
    if (space === undefined) return new Set();
    if (space.held === undefined || space.held.here !== here) space.held = { here, ids: heldIn(space, here) };
    return space.held.ids;
  }

  /** Clusters to which something must be done in the cloud when their objects are deleted. */
  neededBy(space: ObjectKey): readonly ObjectKey[] {
    const needing: ObjectKey[] = [];
    this.#spaces.get(space)?.members.forEach((member, key) => {
      if (member.needsSpace) needing.push(key);
    });
    return needing;
  }
}

function heldIn({ members }: Space, here: Place | undefined): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const member of members.values()) {
    if (here !== undefined && member.place !== undefined && !isSamePlace(member.place, here)) continue;
    const id = heldBy(member);
    if (id !== undefined) ids.add(id);
  }
  return ids;
}

/** An id that is only wanted may be the one of somebody else's cluster. */
function heldBy({ ids, exists }: Member): string | undefined {
  return exists ? ids[0] : undefined;
}

/** `usual`: the place of others of its space. Nearly all of thousands are there, and need not each hold a copy. */
function memberOf(record: HeldRecord, usual: Place | undefined): Member {
  const isCounted = claims(record) && !hasLetGo(record.metadata);
  const ids = new Set(isCounted ? [currentID(record), desiredID(record)] : []);
  const { place } = record.status;
  const isUsual = place !== undefined && usual !== undefined && isSamePlace(place, usual);
  return { ids: [...ids], exists: mayExist(record), place: isUsual ? usual : place, needsSpace: needsSpace(record) };
}

/** Anybody can write a finalizer. What was done in the cloud is recorded by us, after the space admitted the object. */
function needsSpace(cluster: HeldRecord): boolean {
  const { metadata, spec, unread } = cluster;
  const isHeld = mayExist(cluster) && (metadata.finalizers?.includes(CLUSTER_FINALIZER) ?? false);
  return isHeld && (unread?.has('deletionPolicy') || needsCloudToGo(spec));
}

/** The space that deleting the object needs, or what is on its server (`hasDependents`); undefined: nothing needs it. */
export function neededSpace(object: KubeObject | undefined, hasDependents: boolean): ObjectKey | undefined {
  const record = heldRecordOf(object);
  return record !== undefined && (hasDependents || needsSpace(record)) ? spaceKeyOf(record) : undefined;
}

/** Where the object's cluster is or will be; undefined: its spec cannot be read, and it has none. */
export function spaceAndIDOf(object: KubeObject): { readonly space: ObjectKey; readonly id: string } | undefined {
  const record = heldRecordOf(object);
  return record === undefined ? undefined : { space: spaceKeyOf(record), id: currentID(record) };
}

/** What an object refers to that waits for a cluster of that creation time, and whom those concern that record it. */
export function awaitedReference(createdAt: string | undefined): readonly Reference[] {
  return createdAt === undefined ? [] : [`awaited/${createdAt}`];
}

/**
 * Whom a change of the object concerns: those who want its ids, through any DatabaseSpace for the place where they are; those who want its
 * cluster under the id that it may have been given elsewhere; and those who want a Secret that it has or wants, which is free only when
 * the object is gone or its login has moved.
 */
export function concerns(
  object: KubeObject | undefined,
  places: Pick<SpacePlaces, 'same' | 'at'>,
): readonly Reference[] {
  const record = heldRecordOf(object);
  if (record === undefined) return [];
  const own = spaceKeyOf(record);
  const { place, createdAt, former } = record.status;
  const spaces = new Set([own, ...places.same(own), ...(place === undefined ? [] : places.at(place))]);
  const ids = new Set([currentID(record), desiredID(record)]);
  const secrets = new Set([adminSecretName(record), ...recordedIn(record)]);
  return [
    ...[...spaces].flatMap((space) => [...ids].map((id) => `clusters/${space}/${id}`)),
    ...awaitedReference(createdAt ?? former?.createdAt),
    ...[...secrets].map((name) => `secrets/${objectKey(record.metadata.namespace ?? '', name)}`),
  ];
}
