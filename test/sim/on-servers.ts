import { DATABASE_FINALIZER } from '../../src/kinds/database/resource.ts';
import { USER_FINALIZER } from '../../src/kinds/databaseuser/resource.ts';
import { USER_LABEL } from '../../src/kinds/secrets.ts';
import { SECRETS } from '../../src/kube/api.ts';
import { keyOf, type ObjectKey, objectKey } from '../../src/kube/object.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import type { InvariantOfAStep } from './invariants.ts';
import { isIdentity, signsIn } from './owned.ts';
import { DATABASES, referred, specOf, statusOf, USERS } from './view.ts';
import type { World } from './world.ts';

/** A user or a database on the server of a cluster. */
interface Thing {
  readonly kind: 'user' | 'database';
  readonly name: string;
  /** Differs after each change: a user's password hash, a database's schema and data. */
  readonly content: unknown;
}

interface Known extends Thing {
  /** Uids of the objects that it was created for. Empty: others made it, or it came with the cluster. */
  readonly makers: ReadonlySet<string>;
}

/** An object that stands for a user or database, as last seen. */
interface Claim {
  readonly uid: string;
  readonly kind: Thing['kind'];
  /** The object's namespace/name. */
  readonly object: string;
  /** The name of the user or database. */
  readonly name: string;
  /** The namespace/name of the DatabaseCluster. */
  readonly cluster: string;
  readonly held: boolean;
  /** Only another controller's finalizer keeps the object, which is being deleted: its status is history. */
  readonly letGo: boolean;
  /** Its status says that the database is about to be created. */
  readonly announced: boolean;
  readonly retains: boolean;
  /** Its status says that it stands for it, or that all is well. */
  readonly owns: boolean;
  /** Its manifest has once asked for the deletion of what it stands for. That stays noted: a request may arrive late. */
  readonly asked: boolean;
  /** Its manifest has once allowed to take over what already existed, or its Secret has proved that it is its own. */
  readonly mayAdopt: boolean;
  /** When the object was gone, by the world's clock; undefined: it exists. */
  readonly goneAt?: number;
}

/** How long after an object is gone a request for it may still land. */
const LANDING_MS = 60_000;

/** Checks invariants of users and databases on servers at each of their changes. */
export class OnServers {
  readonly #world: World;
  readonly #fail: (invariant: InvariantOfAStep, message: string) => void;
  readonly #known = new Map<Cluster, ReadonlyMap<string, Known>>();
  readonly #claims = new Map<string, Claim>();
  /** The clusters that each DatabaseCluster has stood for, by its namespace/name. */
  readonly #stoodFor = new Map<string, Set<Cluster>>();

  /** The uids of objects whose user or database somebody else has dropped, until the operator has noticed. */
  readonly #bereft = new Set<string>();

  constructor(world: World, fail: (invariant: InvariantOfAStep, message: string) => void) {
    this.#world = world;
    this.#fail = fail;
  }

  /** Judges what changed since the last look. `byOthers`: it is not the operator's doing. */
  look(byOthers: boolean): void {
    const { view } = this.#world;
    this.#hear();
    for (const cluster of view.clusters()) {
      const before = this.#known.get(cluster);
      const now = new Map(thingsOn(cluster).map((thing) => [`${thing.kind} ${thing.name}`, thing]));
      const known = new Map<string, Known>();
      for (const [key, thing] of now) {
        const was = before?.get(key);
        // What a new cluster comes with is older than any object for it.
        const others = byOthers || before === undefined;
        const makers = others
          ? (was?.makers ?? this.#indistinguishable(cluster, thing))
          : this.#judge(cluster, was, thing);
        known.set(key, { ...thing, makers });
      }
      for (const [key, was] of before ?? []) {
        if (now.has(key) || cluster.gone) continue;
        if (byOthers) for (const uid of was.makers) this.#bereft.add(uid);
        else this.#judgeEnd(cluster, was);
      }
      this.#known.set(cluster, known);
    }
    this.#prove();
  }

  /** Checks that no status claims what its object neither made nor may take over, or what another object has. */
  checkStatuses(): void {
    this.#checkOwners();
    for (const object of [...this.#world.view.objects(USERS), ...this.#world.view.objects(DATABASES)]) {
      const claim = this.#claims.get(object.metadata.uid);
      const told = toldBy(object);
      if (claim === undefined || claim.mayAdopt || told === undefined || claim.letGo) continue;
      if (this.#world.people.isMereCopy(object)) continue;
      for (const [cluster, things] of this.#known) {
        const thing = things.get(`${claim.kind} ${told.name}`);
        if (thing === undefined || cluster.gone || !isIdentity(told.createdAt, cluster)) continue;
        if (thing.makers.has(claim.uid)) continue;
        const message = `${object.metadata.name} stands for ${claim.kind} ${told.name}, which belongs to somebody else`;
        this.#fail('no identity confused', message);
      }
    }
  }

  #checkOwners(): void {
    const owners = new Map<string, Claim>();
    for (const claim of this.#claims.values()) {
      if (claim.goneAt !== undefined || !claim.owns || claim.letGo) continue;
      const what = `${claim.kind} ${claim.name} of ${claim.cluster}`;
      const other = owners.get(what);
      if (other !== undefined) this.#fail('one owner a name', `Both ${other.object} and ${claim.object} have ${what}`);
      owners.set(what, claim);
    }
  }

  #hear(): void {
    const { view, clock } = this.#world;
    for (const object of view.objects()) {
      const { createdAt } = statusOf(object);
      const stoodFor = this.#stoodFor.get(keyOf(object)) ?? new Set();
      this.#stoodFor.set(keyOf(object), stoodFor);
      for (const cluster of view.clusters()) if (isIdentity(createdAt, cluster)) stoodFor.add(cluster);
    }
    const here = new Set<string>();
    for (const resource of [USERS, DATABASES]) {
      for (const object of view.objects(resource)) {
        const { uid } = object.metadata;
        here.add(uid);
        const claim = claimOf(resource === USERS ? 'user' : 'database', object, this.#claims.get(uid));
        this.#claims.set(uid, claim);
        if (!claim.owns) this.#bereft.delete(uid);
      }
    }
    for (const claim of this.#claims.values())
      if (claim.goneAt === undefined && !here.has(claim.uid))
        this.#claims.set(claim.uid, { ...claim, goneAt: clock.monotonic() });
  }

  /**
   * Notes who may take over a user because a Secret of ours has a password that signs in: a recreated object may go on with a
   * restored Secret. This comes after changes are judged, as a change must not excuse itself.
   */
  #prove(): void {
    for (const claim of this.#claims.values()) {
      if (claim.kind === 'database' || claim.mayAdopt || claim.goneAt !== undefined) continue;
      for (const cluster of this.#stoodFor.get(claim.cluster) ?? []) {
        const was = this.#known.get(cluster)?.get(`user ${claim.name}`);
        if (was === undefined || was.makers.has(claim.uid)) continue;
        if (this.#signsIn(claim, cluster)) this.#claims.set(claim.uid, { ...claim, mayAdopt: true });
      }
    }
  }

  /** Returns who made it, after it was created, changed, or left as it was. */
  #judge(cluster: Cluster, was: Known | undefined, thing: Thing): ReadonlySet<string> {
    if (was !== undefined && was.content === thing.content) return was.makers;
    const claims = this.#claimsTo(cluster, thing);
    const what = `${thing.kind} ${thing.name} of cluster ${cluster.id}`;
    const live = claims.filter(({ goneAt }) => goneAt === undefined);
    if (was !== undefined) {
      if (!this.#mayHaveChanged(cluster, was, claims))
        this.#fail('others left alone', `${what} was changed, and stands for no object that may change it`);
      return was.makers;
    }
    const makers = live.filter(({ held, uid }) => held || this.#world.people.unheld.has(uid));
    // What lands after its object is gone, and would have been retained anyway, belongs to nobody.
    const isLeft = claims.some((claim) => claim.goneAt !== undefined && claim.retains && this.#isOnItsWay(claim));
    if (makers.length === 0 && !isLeft) this.#fail('held by a finalizer', `${what} was created without a finalizer`);
    if (thing.kind === 'database' && !isLeft && !makers.some(({ announced }) => announced))
      this.#fail('written down first', `${what} was created, and no status says so`);
    // If several were about to create it, the one that did.
    const authors = makers.filter((claim) => (thing.kind === 'user' ? this.#signsIn(claim, cluster) : claim.announced));
    const those = new Set((authors.length > 0 ? authors : makers).map(({ uid }) => uid));
    for (const uid of those) this.#bereft.delete(uid);
    return those;
  }

  /** Reports whether an object that may do so made the change. A new password is in the Secret of the object that set it. */
  #mayHaveChanged(cluster: Cluster, was: Known, claims: readonly Claim[]): boolean {
    const able = claims.filter((claim) => this.#isOnItsWay(claim) && hasIt(claim, was, claims));
    const authors = claims.filter((claim) => claim.goneAt === undefined && this.#signsIn(claim, cluster));
    return able.length > 0 && (authors.length === 0 || authors.some((claim) => able.includes(claim)));
  }

  /** Reports whether a password in the object's Secret signs in. */
  #signsIn({ kind, object }: Claim, cluster: Cluster): boolean {
    if (kind === 'database') return false;
    const secrets = this.#world.kube.all(SECRETS);
    return secrets.some((secret) => userOf(secret) === object && signsIn(secret, cluster));
  }

  #judgeEnd(cluster: Cluster, was: Known): void {
    const claims = this.#claimsTo(cluster, was);
    if (claims.some((claim) => claim.asked && hasIt(claim, was, claims))) return;
    this.#fail(
      'nothing ended unasked',
      `${was.kind} ${was.name} of cluster ${cluster.id} was deleted, and no manifest asks for it`,
    );
  }

  /**
   * Those who count as the makers of what somebody else created, as it has nothing but its name: in place of what was dropped, before the
   * operator has noticed; or a database that a process was about to create, which may have ended right after (docs/limits.md).
   */
  #indistinguishable(cluster: Cluster, thing: Thing): ReadonlySet<string> {
    const mayBeTheirs = ({ uid, kind, owns, announced }: Claim) =>
      (owns && this.#bereft.has(uid)) || (kind === 'database' && announced);
    return new Set(
      this.#claimsTo(cluster, thing)
        .filter(mayBeTheirs)
        .map(({ uid }) => uid),
    );
  }

  #claimsTo(cluster: Cluster, { kind, name }: Thing): readonly Claim[] {
    return [...this.#claims.values()].filter(
      (claim) => claim.kind === kind && claim.name === name && this.#stoodFor.get(claim.cluster)?.has(cluster),
    );
  }

  #isOnItsWay({ goneAt }: Claim): boolean {
    return goneAt === undefined || this.#world.clock.monotonic() < goneAt + LANDING_MS;
  }
}

/** Reports whether the object made it, or may take it over. Nobody takes over what another existing object has. */
function hasIt({ uid, mayAdopt }: Claim, { makers }: Known, claims: readonly Claim[]): boolean {
  const isOthers = (other: Claim) =>
    other.uid !== uid && other.goneAt === undefined && (other.owns || makers.has(other.uid));
  return makers.has(uid) || (mayAdopt && !claims.some(isOthers));
}

/** Returns all users and databases except the login that the cluster came with, which belongs to a DatabaseCluster. */
function thingsOn({ database }: Cluster): readonly Thing[] {
  const users = [...database.users.values()].filter(({ username }) => username !== database.defaultUser);
  return [
    ...users.map(({ username, passwordHash }): Thing => ({ kind: 'user', name: username, content: passwordHash })),
    ...[...database.databases.values()].map(
      ({ name, committed }): Thing => ({ kind: 'database', name, content: committed }),
    ),
  ];
}

function claimOf(kind: Thing['kind'], object: FakeObject, before: Claim | undefined): Claim {
  const { name, uid, finalizers = [], deletionTimestamp } = object.metadata;
  const spec = specOf(object) as Readonly<Record<string, string>>;
  const isUser = kind === 'user';
  // The schemas' default.
  const policy = spec['deletionPolicy'] ?? (isUser ? 'Delete' : 'Retain');
  const thing = (isUser ? spec['username'] : spec['name']) ?? name;
  const { conditions = [], operation } = statusOf(object);
  const held = finalizers.includes(isUser ? USER_FINALIZER : DATABASE_FINALIZER);
  return {
    uid,
    kind,
    object: keyOf(object),
    name: thing,
    cluster: referred(object, 'clusterRef') ?? '',
    held,
    letGo: deletionTimestamp !== undefined && !held,
    announced: operation?.target === thing,
    retains: policy === 'Retain',
    owns:
      toldBy(object)?.name === thing || conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    asked: before?.asked === true || (deletionTimestamp !== undefined && policy === 'Delete'),
    mayAdopt: before?.mayAdopt === true || spec['adoptionPolicy'] === 'IfExists',
  };
}

/** Returns the key of the DatabaseUser that a Secret of ours is for, in the same namespace. */
function userOf({ metadata: { namespace = '', labels } }: FakeObject): ObjectKey {
  return objectKey(namespace, labels?.[USER_LABEL] ?? '');
}

/** Returns the name that the status claims, and when the cluster that it is on was created. */
export function toldBy(object: FakeObject): { readonly name: string; readonly createdAt: string } | undefined {
  const { username, connection, name, cluster } = object['status'] as {
    readonly username?: string;
    readonly connection?: { readonly cluster: string };
    readonly name?: string;
    readonly cluster?: string;
  };
  const [told, createdAt] = [username ?? name, connection?.cluster ?? cluster];
  return told === undefined || createdAt === undefined ? undefined : { name: told, createdAt };
}
