import type { DatabaseStatus } from '../../src/kinds/database/schema.ts';
import type { DatabaseUserStatus } from '../../src/kinds/databaseuser/schema.ts';
import type { Resource } from '../../src/kube/api.ts';
import { isStatusConditionTrue } from '../../src/kube/condition.ts';
import { keyOf } from '../../src/kube/object.ts';
import type { Plan } from '../../src/plan/outcome.ts';
import { type NodeName, nodeName } from '../../src/plugin/node-name.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import { clustersIn } from '../support/simulator.ts';
import { CLUSTERS, KINDS, readyOf, referred, SPACES, specOf, statusOf, type View } from './view.ts';
import type { World } from './world.ts';

/* What no plan in the middle of a story can tell, so that what then happens need not be as it said. */

/** The objects as they become; undefined: deleted. */
type Becoming = ReadonlyMap<NodeName, FakeObject | undefined>;

interface Unplanned {
  /** Objects for which anything may happen. */
  readonly excused: ReadonlySet<NodeName>;
  /** Those of them for which the plan must have told all the same what destroys, and what there is to pay for. */
  readonly grave: ReadonlySet<NodeName>;
  /** DatabaseClusters that take an id which another one leaves at the same time. What else is done to them comes before that, or after. */
  readonly followers: ReadonlySet<NodeName>;
}

/** Called before the changes are made; what it returns is called once everything is at rest again. */
export function unplannedIn(world: World, plan: Plan, objects: Becoming): () => Unplanned {
  const contenders = contendersIn(objects);
  const mistaken = new Set([...mistakenIn(world, plan), ...contenders]);
  const before = [...troubledIn(world, mistaken), ...unseenIn(world), ...leftBehindIn(objects)];
  // What was tried and refused is tried again, and who of several gets an id is not known.
  const isUntold = new Set([...failedIn(world), ...contenders.map((key) => nodeName(CLUSTERS.kind, key))]);
  const followers = followersIn(world, objects);
  return () => {
    const excused = new Set([...before, ...rotating(world), ...troubledIn(world, mistaken)]);
    const grave = isAnySpaceWrong(world) ? [] : [...excused].filter((name) => !isUntold.has(name));
    return { excused, grave: new Set(grave), followers };
  };
}

/** All objects of ours with their names. */
export function named(view: View): readonly { readonly name: NodeName; readonly object: FakeObject }[] {
  return KINDS.flatMap((resource) =>
    view.objects(resource).map((object) => ({ name: nodeName(resource.kind, keyOf(object)), object })),
  );
}

/** Objects for which something is due now and then. */
function rotating({ view }: World): readonly NodeName[] {
  const due = named(view).filter(({ object }) => JSON.stringify(specOf(object)).includes('rotateEvery'));
  return due.map(({ name }) => name);
}

/** DatabaseClusters for which a note says what is assumed of the server that they take over, and that is not so. */
function mistakenIn({ simulator }: World, { notes }: Plan): ReadonlySet<string> {
  const clusters = clustersIn(simulator);
  return new Set(
    notes.flatMap((note) => {
      const [, id, key = '', assumed = ''] = ASSUMED.exec(note) ?? [];
      const absent = new Set(assumed.matchAll(/(?:user|database) "(.*?)"/g).map(([, name]) => name));
      const isMistaken = clusters.some(({ id: other, users, databases }) => {
        const isLoginReplaced = !users.some(({ hasFactoryPassword }) => hasFactoryPassword);
        const names = [...users.map(({ username }) => username), ...databases.map(({ name }) => name)];
        const isAnyThere = names.some((name) => absent.has(name));
        return (
          other === id && (isAnyThere || (isLoginReplaced && assumed.includes('login that new clusters come with')))
        );
      });
      return isMistaken ? [key] : [];
    }),
  );
}

const ASSUMED = /server of cluster "(.*?)", which DatabaseCluster (\S+) takes over.*this plan assumes that (.*)/;

/** DatabaseClusters that are changed at once and then want the same id: whichever is looked at first gets it. */
function contendersIn(objects: Becoming): readonly string[] {
  const isCluster = (object: FakeObject | undefined): object is FakeObject => object?.['kind'] === CLUSTERS.kind;
  const clusters = [...objects.values()].filter(isCluster);
  const byID = Map.groupBy(clusters, wantedID);
  return [...byID.values()].flatMap((same) => (same.length > 1 ? same.map(keyOf) : []));
}

/** DatabaseClusters that want an id which another one has that is changed as well. */
function followersIn({ view }: World, objects: Becoming): ReadonlySet<NodeName> {
  const changed = view.objects().filter((object) => objects.has(nodeName(CLUSTERS.kind, keyOf(object))));
  const isTaken = (id: unknown, by: string) =>
    changed.some((other) => keyOf(other) !== by && statusOf(other).clusterID === id);
  const followers = [...objects].filter(
    ([, object]) => object?.['kind'] === CLUSTERS.kind && isTaken(wantedID(object), keyOf(object)),
  );
  return new Set(followers.map(([name]) => name));
}

function wantedID(object: FakeObject): unknown {
  return specOf(object)['clusterID'] ?? object.metadata.name;
}

/** What is changed while its cluster or space is deleted: it comes before that is gone, or does not. */
function leftBehindIn(objects: Becoming): readonly NodeName[] {
  const isDeleted = (name: NodeName) => objects.has(name) && objects.get(name) === undefined;
  const isIn = (object: FakeObject, to: 'clusterRef' | 'spaceRef', { kind }: Resource) => {
    const outer = referred(object, to);
    return outer !== undefined && isDeleted(nodeName(kind, outer));
  };
  const isLeft = (object: FakeObject | undefined) =>
    object !== undefined && (isIn(object, 'clusterRef', CLUSTERS) || isIn(object, 'spaceRef', SPACES));
  return [...objects].flatMap(([name, object]) => (isLeft(object) ? [name] : []));
}

/**
 * What is not on its server as its status says: nobody has looked there since somebody dropped it or moved the servers, or since another
 * cluster came.
 */
function unseenIn({ view, simulator }: World): readonly NodeName[] {
  const there = clustersIn(simulator);
  const isUnseen = (object: FakeObject) => {
    const { name, connection } = object['status'] as DatabaseStatus & DatabaseUserStatus;
    const { clusterID, createdAt } = view.status(referred(object, 'clusterRef') ?? '');
    const found = there.filter(({ id }) => id === clusterID);
    const databases = found.flatMap((cluster) => cluster.databases);
    const addresses = found.flatMap(({ servers }) => servers.map(({ address }) => address)).join(',');
    const isMoved =
      connection !== undefined && (connection.cluster !== createdAt || connection.addresses !== addresses);
    const isDropped = name !== undefined && !databases.some((database) => database.name === name);
    return isDropped || isMoved;
  };
  return named(view).flatMap(({ name, object }) => (isUnseen(object) ? [name] : []));
}

/**
 * What no plan can tell: what is Stalled is tried again now and then, and whoever is on such a cluster waits, as on one whose login is not
 * what the plan assumed; and a process goes on with the connection of a space whose spec has become wrong.
 */
function troubledIn(world: World, mistaken: ReadonlySet<string>): readonly NodeName[] {
  const { view } = world;
  const isStalled = (object: FakeObject) => isStatusConditionTrue(statusOf(object).conditions, 'Stalled');
  const stalled = new Set([...view.objects().filter(isStalled).map(keyOf), ...mistaken]);
  const isAnyWrong = isAnySpaceWrong(world);
  const isTroubled = (object: FakeObject) =>
    isAnyWrong ||
    isStalled(object) ||
    (object['kind'] === CLUSTERS.kind && mistaken.has(keyOf(object))) ||
    stalled.has(referred(object, 'clusterRef') ?? '');
  return named(view).flatMap(({ name, object }) => (isTroubled(object) ? [name] : []));
}

function isAnySpaceWrong({ view }: World): boolean {
  return view.objects(SPACES).some((object) => !readyOf(object).startsWith('True'));
}

/** Objects for which the last thing that was tried was refused: it is tried again now and then. */
function failedIn({ view }: World): ReadonlySet<NodeName> {
  const failed = named(view).filter(({ object }) => statusOf(object)['lastError'] !== undefined);
  return new Set(failed.map(({ name }) => name));
}
