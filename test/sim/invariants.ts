import { CLUSTER_FINALIZER } from '../../src/kinds/databasecluster/resource.ts';
import { ACCEPT_IDENTITY, isPaused } from '../../src/kube/annotations.ts';
import { SECRETS } from '../../src/kube/api.ts';
import { isStatusConditionTrue } from '../../src/kube/condition.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { keyOf, objectKey } from '../../src/kube/object.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import { passwordIs } from '../../src/simulator/server/state.ts';
import { EventsTold } from './events-told.ts';
import { ownersOf } from './garbage.ts';
import { LostLogins } from './lost-logins.ts';
import { OnServers, toldBy } from './on-servers.ts';
import { clusterOf, FACTORY, isIdentity, isOurs, signsIn } from './owned.ts';
import { tokenOf } from './people.ts';
import { piecesOf } from './secret-pieces.ts';
import { StatusesTold } from './statuses-told.ts';
import { contentsOf, DATABASES, readyOf, specOf, statusOf, USERS } from './view.ts';
import type { World } from './world.ts';

/** What must hold, whatever goes wrong, by the names that docs/reliability.md uses. */
export const INVARIANTS = {
  'one cluster an object': 'No object has more than one cluster, or a second one after it if recreatePolicy is Never',
  'written down first': 'A cluster or database is created only after a status has announced it',
  'held by a finalizer': 'A cluster, user or database is created only while our finalizer holds its object',
  'nothing ended unasked':
    'A cluster is destroyed or suspended, and a user or database deleted, only if a manifest asks for exactly that',
  'others left alone':
    'Clusters, users, databases and Secrets of others stay as they are, as does what others write on our objects',
  'no identity confused':
    'A status describes only a cluster, user or database that its object created or may take over',
  'one owner a name': 'Of several objects for one user or database, at most one is Ready or owns it',
  'factory login retired': 'Nothing is Ready while the login that new clusters come with still works',
  'a password works': 'One of the passwords in each of our Secrets signs in, unless somebody else changed it',
  'what is published works': 'While an object is Ready, a password in the Secret that its status names signs in',
  'a password is known': 'Once the login that a cluster came with is replaced, some Secret has one that signs in',
  'one writer': 'No process changes anything when its clocks tell it that it no longer holds the Lease',
  'one writer a space': 'With shards, no process changes anything in a space before its last writer has released it',
  'no write without a change': 'No patch leaves an object as it was',
  'told whole': 'Each status fits its CustomResourceDefinition, and each condition of ours says why',
  'told once':
    'Each change of Ready makes at most one Event, and exactly one without faults; what stays as it was makes none',
  'no secret shown':
    'No password or token is in a status, an Event, a Lease, metadata, a log line, the labels of a metric, a span or an address',
  'no hot key': 'No object is reconciled all the time, and what fails is retried after ever longer pauses',
  'published when it works': 'No Secret offers a password for use before a server has accepted it',
  'nothing needless':
    'No password is changed without a cause in the scenario, and no change is requested in vain except after a fault',
  'one List a space': 'At rest each space is listed once an interval, however many objects are in it',
  'quiet at rest':
    'When all is done, nothing is written, and nothing requested except to look, and that seldom; a Ready object reports neither work nor errors',
  'it comes to an end':
    'A run without faults ends within a minute and a half, unless it needs a slow retry; after faults, each object is Ready or says why not, within a bound',
  'the same end': 'After the faults, everything is as it would be without them',
  'the process lives': 'The operator does not end, and none of its passes hangs or meets a mistake in the program',
} as const;

export type Invariant = keyof typeof INVARIANTS;

/** Invariants that only a whole run shows. The others are checked after every effect, write or pass. */
export const IN_THE_END = [
  'no secret shown',
  'nothing needless',
  'one List a space',
  'quiet at rest',
  'it comes to an end',
  'the same end',
] as const satisfies readonly Invariant[];

export type InvariantOfTheEnd = (typeof IN_THE_END)[number];
/** Invariants that can break during the run. */
export type InvariantOfAStep = Exclude<Invariant, InvariantOfTheEnd>;

export interface Violation {
  readonly invariant: Invariant;
  readonly message: string;
}

/** The temporary tokens that the simulated cloud and its servers issue. */
const TOKEN = /\b(?:access|server)-[\w-]{24}/;

/** The current Secrets, by namespace/name. */
type Secrets = ReadonlyMap<string, FakeObject>;

export class Invariants {
  readonly violations: Violation[] = [];
  /** One more check, which a test may set. It runs with the others. */
  also: (() => void) | undefined;
  readonly #world: World;
  /** Clusters of others, with the fingerprint that they must keep. */
  readonly #foreign = new Map<Cluster, string>();
  readonly #onServers: OnServers;
  readonly #events: EventsTold;
  readonly #statuses: StatusesTold;
  readonly #known = new Set<Cluster>();
  /** Clusters that the operator created, and the uid of the object that asked for it. */
  readonly #createdFor = new Map<Cluster, string>();
  /** By the id of a cluster that does not exist yet: the uid of the object whose status announced it, and that leaves it behind. */
  readonly #left = new Map<string, string>();
  /** The uids of objects given to `mayBeLeft`. */
  readonly #unheld = new Set<string>();
  /** Clusters that others made, and that objects may take over. */
  readonly #adoptable = new Set<Cluster>();
  /** For each cluster, what manifests have asked for since it was created. */
  readonly #asked = new Map<Cluster, Set<'destroying' | 'suspending'>>();
  /** Clusters that somebody else is suspending or destroying. */
  readonly #endedByOthers = new Set<Cluster>();
  readonly #canaries = new Set<string>();
  /** Logins that worked once: a Secret, and the cluster whose server took it. */
  readonly #worked = new Set<string>();
  /** Uids of the Secrets that once were ours. */
  readonly #oncePublished = new Set<string>();
  /** Passwords that a server accepted at some time. */
  readonly #accepted = new Set<string>();
  /** Set if something lasting may keep a cluster from being secured before it is suspended. Nobody can sign in then. */
  maySleepUnsecured = false;
  readonly lost = new LostLogins();
  /** Creation times of clusters, and the uids of the objects that were about to make each, if several were. */
  readonly #askers = new Set<string>();
  /** Uids of objects whose manifest has once allowed to take over a cluster. */
  readonly #adopters = new Set<string>();
  /** Set if somebody edits or deletes Leases. A process learns that at its next renewal: until then it acts, unless another one has begun to. */
  areLeasesMeddledWith = false;
  #lastActor: number | undefined;
  #othersAct = false;
  #peopleWrite = false;

  constructor(world: World) {
    this.#world = world;
    this.#onServers = new OnServers(world, (invariant, message) => this.fail(invariant, message));
    this.#events = new EventsTold(world);
    this.#statuses = new StatusesTold(world.view);
    world.simulator.onChange(() => this.#look());
    for (const level of ['read', 'write', 'admin']) this.#canaries.add(tokenOf(level));
  }

  fail(invariant: InvariantOfAStep, message: string): void {
    this.#note(invariant, message);
  }

  /** Like `fail`, for what is found once the run is over. */
  failInTheEnd(invariant: InvariantOfTheEnd, message: string): void {
    this.#note(invariant, message);
  }

  #note(invariant: Invariant, message: string): void {
    const known = this.violations.some((other) => other.invariant === invariant && other.message === message);
    if (!known) this.violations.push({ invariant, message });
  }

  /** Runs work that changes the cloud and is not the operator's doing. */
  whileOthersAct(work: () => void): void {
    // Changes before this are the operator's.
    this.#look();
    this.#othersAct = true;
    work();
    this.#look();
    this.#othersAct = false;
    for (const cluster of this.#foreign.keys()) {
      if (cluster.gone) this.#foreign.delete(cluster);
      else this.#foreign.set(cluster, fingerprint(cluster));
    }
  }

  /** From now on the cluster, which belongs to somebody else, may be taken over. */
  mayBeAdopted(cluster: Cluster): void {
    this.#adoptable.add(cluster);
    this.#foreign.delete(cluster);
  }

  /** The object is deleted without its finalizer, through no fault of the operator: its cluster stays. */
  mayBeLeft(object: FakeObject): void {
    if (specOf(object)['deletionPolicy'] !== 'Delete') return;
    const { uid } = object.metadata;
    const { target } = statusOf(object).operation ?? {};
    if (target !== undefined) this.#left.set(target, uid);
    for (const [cluster, other] of this.#createdFor) if (other === uid) this.#world.view.left.add(cluster);
    this.#unheld.add(uid);
  }

  /** Called when a process is about to have an effect. */
  beforeEffect(process: number, isAlone: boolean): void {
    const leases = this.#world.kube.all(LEASES);
    const mayGoOn = this.areLeasesMeddledWith && this.#lastActor === process;
    this.#lastActor = process;
    if (!isAlone && leases.length === 0 && !mayGoOn) this.fail('one writer', `Process ${process} acts without a Lease`);
    for (const lease of leases) {
      const holder = String(specOf(lease)['holderIdentity'] ?? '');
      const isOther = holder.startsWith('process-') && !holder.startsWith(`process-${process}_`);
      if (isOther) this.fail('one writer', `Process ${process} acts while ${holder.split('_')[0]} holds the Lease`);
    }
  }

  /** Runs writes that are not the operator's doing. */
  peopleWrite<T>(write: () => T): T {
    this.#peopleWrite = true;
    const answer = write();
    this.#peopleWrite = false;
    return answer;
  }

  mustNotBeShown(secret: string): void {
    this.#canaries.add(secret);
  }

  unchanged(what: string): void {
    if (!this.#peopleWrite) this.fail('no write without a change', `A patch of ${what} changed nothing`);
  }

  check(): void {
    this.#look();
    this.also?.();
    const objects = this.#objects();
    const secrets = new Map(this.#world.kube.all(SECRETS).map((secret) => [keyOf(secret), secret]));
    for (const object of objects) this.#checkObject(object, secrets);
    this.#checkOwners(objects);
    this.lost.findAgain([...secrets.values()], objects, this.#world.view.clusters());
    this.#world.people.unheld.seeHeldAgain();
    for (const message of this.#world.people.meddling.missing()) this.fail('others left alone', message);
    this.#checkSecrets(objects, secrets);
    for (const user of this.#world.kube.all(USERS)) this.#checkUser(user, secrets);
    for (const object of [...this.#world.kube.all(USERS), ...this.#world.kube.all(DATABASES)])
      this.#checkSecured(object);
    for (const [cluster, was] of this.#foreign)
      if (cluster.gone || fingerprint(cluster) !== was)
        this.fail('others left alone', `Foreign cluster ${cluster.id} was touched`);
    this.#onServers.checkStatuses();
    for (const message of this.#statuses.wrong()) this.fail('told whole', message);
    for (const message of this.#events.tooMany()) this.fail('told once', message);
  }

  /** Called once, at the end of a run without faults. */
  checkTold(): void {
    for (const message of this.#events.untold()) this.fail('told once', message);
  }

  /** Called once, at the end: it reads everything that was ever shown. */
  checkSecrecy(shown: string): void {
    const isShown = (canary: string) => piecesOf(canary).some((form) => shown.includes(form));
    if ([...this.#canaries].some(isShown)) this.failInTheEnd('no secret shown', 'A secret value was shown');
    if (TOKEN.test(shown)) this.failInTheEnd('no secret shown', 'An access token was shown');
  }

  #look(): void {
    const objects = this.#objects();
    for (const object of objects) this.#hear(object);
    this.#onServers.look(this.#othersAct);
    for (const cluster of this.#world.view.clusters()) {
      if (!this.#known.has(cluster)) this.#meet(cluster, objects);
      const ending = cluster.status === 'destroying' || cluster.status === 'suspending' ? cluster.status : undefined;
      if (ending === undefined) this.#endedByOthers.delete(cluster);
      else if (this.#othersAct) this.#endedByOthers.add(cluster);
      const isAsked = ending === undefined || this.#endedByOthers.has(cluster) || this.#asked.get(cluster)?.has(ending);
      if (!isAsked)
        this.fail('nothing ended unasked', `Cluster ${cluster.id} is ${ending}, and no manifest asks for it`);
    }
  }

  /** Notes what the manifest asks for. It counts for the object's own cluster, and stays noted: a request may arrive late. */
  #hear(object: FakeObject): void {
    const { adoptionPolicy = 'Never', managementPolicy } = specOf(object);
    if (adoptionPolicy !== 'Never' || managementPolicy === 'Observe') this.#adopters.add(object.metadata.uid);
    const { createdAt, conditions = [], credentials, operation } = statusOf(object);
    const { deletionPolicy, deletionProtection, state } = specOf(object);
    const deleting = object.metadata.deletionTimestamp !== undefined && deletionProtection !== true;
    const { target } = operation ?? {};
    if (target !== undefined && deletionPolicy === 'Delete') this.#left.delete(target);
    else if (target !== undefined) this.#left.set(target, object.metadata.uid);
    const { clusterRef } = (specOf(object)['cloneFrom'] ?? {}) as Readonly<Record<string, unknown>>;
    const isUnsecured = clusterRef !== undefined && credentials === undefined;
    for (const cluster of this.#world.view.clusters()) {
      const hasIt = isIdentity(createdAt, cluster);
      // Of several that were about to make it, the one that has it did.
      if (hasIt && this.#askers.has(`${cluster.createdAt} ${object.metadata.uid}`))
        this.#createdFor.set(cluster, object.metadata.uid);
      if (!hasIt && this.#createdFor.get(cluster) !== object.metadata.uid) continue;
      // The source of a clone whose object is paused, or needs a person, does not wait for it, and may take along the login that it came with.
      if (isUnsecured && (isPaused(object.metadata) || isStatusConditionTrue(conditions, 'Stalled')))
        this.lost.lose(cluster, FACTORY.username);
      const asked = this.#asked.get(cluster) ?? new Set();
      this.#asked.set(cluster, asked);
      if (deleting && deletionPolicy === 'Delete') asked.add('destroying');
      if (state === 'Suspended' || (deleting && deletionPolicy === 'Suspend')) asked.add('suspending');
    }
  }

  #meet(cluster: Cluster, objects: readonly FakeObject[]): void {
    this.#known.add(cluster);
    if (this.#othersAct) {
      this.#foreign.set(cluster, fingerprint(cluster));
      return;
    }
    const all = objects.filter((object) => {
      const { operation, place } = statusOf(object);
      return operation?.target === cluster.id && (place === undefined || place.spaceID === cluster.spaceID);
    });
    // If several are about to make it at the same moment, any of them may have.
    if (all.length > 1) for (const { metadata } of all) this.#askers.add(`${cluster.createdAt} ${metadata.uid}`);
    const [asking] = all;
    const left = this.#left.get(cluster.id);
    // A cluster that is created after its object is gone, and would have been retained anyway, belongs to nobody.
    if (asking === undefined && left !== undefined && !objects.some(({ metadata }) => metadata.uid === left)) {
      if (this.#unheld.has(left)) this.#world.view.left.add(cluster);
      return;
    }
    if (asking === undefined) {
      this.fail('written down first', `Cluster ${cluster.id} was created, and no status says so`);
      return;
    }
    const { uid, finalizers = [] } = asking.metadata;
    if (!finalizers.includes(CLUSTER_FINALIZER) && !this.#world.people.unheld.has(uid))
      this.fail('held by a finalizer', `Cluster ${cluster.id} was created without a finalizer`);
    const before = [...this.#createdFor].filter(([, other]) => other === uid).map(([other]) => other);
    const isExtra = before.some((other) => !other.gone) || specOf(asking)['recreatePolicy'] !== 'Always';
    if (before.length > 0 && isExtra)
      this.fail('one cluster an object', `${before.length + 1} clusters were created for ${asking.metadata.name}`);
    this.#createdFor.set(cluster, uid);
    const source = this.#sourceOf(asking);
    if (source !== undefined && this.#isLost(source, FACTORY.username)) this.lost.lose(cluster, FACTORY.username);
    if (this.#unheld.has(uid)) this.#world.view.left.add(cluster);
  }

  #checkObject(object: FakeObject, secrets: Secrets): void {
    const { namespace = '', name, uid, annotations } = object.metadata;
    const { observedGeneration, createdAt, conditions = [], credentials } = statusOf(object);
    const cluster = this.#clusterOf(createdAt);
    if (cluster === undefined || this.#world.people.isMereCopy(object)) return;
    const mayHave =
      this.#createdFor.get(cluster) === uid ||
      this.#askers.has(`${cluster.createdAt} ${uid}`) ||
      this.#adoptable.has(cluster) ||
      Date.parse(String(annotations?.[ACCEPT_IDENTITY])) === cluster.createdAt ||
      (this.#createdFor.has(cluster) && this.#adopters.has(uid));
    if (!mayHave)
      this.fail('no identity confused', `${name} stands for cluster ${cluster.id}, which belongs to somebody else`);
    const ready = conditions.find(({ type, status }) => type === 'Ready' && status === 'True');
    const isCurrent = observedGeneration === object.metadata.generation;
    // What is only observed, or was when this was said, has whatever login it has.
    const isObserved = specOf(object)['managementPolicy'] === 'Observe' || (ready?.reason === 'Observed' && !isCurrent);
    if (ready === undefined || isObserved) return;
    const isUnsecured = ready.reason === 'Suspended' && !isStatusConditionTrue(conditions, 'CredentialsSecured');
    // Somebody else may be destroying it, which the object does not know yet.
    const sleeps = cluster.status === 'suspended' || cluster.status === 'destroying';
    if (this.maySleepUnsecured && isUnsecured && (sleeps || !isCurrent)) return;
    if (passwordIs(cluster.database, FACTORY.username, FACTORY.password))
      this.fail('factory login retired', `${name} is Ready, and the factory login signs in`);
    const { secretName } = credentials ?? {};
    const secret = secrets.get(objectKey(namespace, secretName ?? ''));
    const isSaid = secret !== undefined && (signsIn(secret, cluster) || cluster.status !== 'running');
    if (secretName !== undefined && isCurrent && !isSaid && !this.#isLost(cluster, FACTORY.username))
      this.fail('what is published works', `${name} is Ready, and the login in Secret ${secretName} does not sign in`);
  }

  /** One object manages a cluster, however many name it. */
  #checkOwners(objects: readonly FakeObject[]): void {
    const owners = new Map<Cluster, string>();
    for (const object of objects) {
      const { createdAt, observedOnly } = statusOf(object);
      const cluster = this.#clusterOf(createdAt);
      const isCopy = this.#world.people.isMereCopy(object);
      const isKept = object.metadata.deletionTimestamp === undefined && !observedOnly && !isCopy;
      if (cluster === undefined || cluster.gone || !isKept) continue;
      const other = owners.get(cluster);
      owners.set(cluster, object.metadata.name);
      if (other !== undefined)
        this.fail('no identity confused', `Both ${other} and ${object.metadata.name} have cluster ${cluster.id}`);
    }
  }

  /** Others connect to what is Ready on a server, and trust it. */
  #checkSecured(object: FakeObject): void {
    const createdAt = toldBy(object)?.createdAt;
    if (createdAt === undefined || !readyOf(object).startsWith('True')) return;
    const cluster = this.#clusterOf(createdAt);
    if (cluster !== undefined && passwordIs(cluster.database, FACTORY.username, FACTORY.password))
      this.fail('factory login retired', `${object.metadata.name} is Ready, and the factory login signs in`);
  }

  #checkUser(user: FakeObject, secrets: Secrets): void {
    const { namespace = '', name, generation, deletionTimestamp } = user.metadata;
    const { observedGeneration, conditions = [] } = statusOf(user);
    const { binding } = user['status'] as { binding?: { name: string } };
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    if (!isReady || observedGeneration !== generation || deletionTimestamp !== undefined) return;
    if (this.#world.people.isMereCopy(user)) return;
    const told = toldBy(user);
    const home = this.#clusterOf(told?.createdAt);
    // Nobody can sign in to a cluster that is gone, nor put right what somebody does to the Secret before the operator has noticed.
    if (told !== undefined && (home === undefined || this.#isLost(home, told.name))) return;
    const secret = secrets.get(objectKey(namespace, binding?.name ?? ''));
    const cluster = secret && clusterOf(secret, [], this.#world.view.clusters());
    if (secret === undefined || (cluster !== undefined && cluster.status === 'running' && !signsIn(secret, cluster)))
      this.fail('what is published works', `${name} is Ready, and the Secret it is bound to does not sign in`);
  }

  #checkSecrets(objects: readonly FakeObject[], secrets: Secrets): void {
    for (const secret of secrets.values()) this.#collectCanaries(secret);
    for (const [name, data] of this.#world.people.secrets) {
      const secret = secrets.get(name);
      if (secret !== undefined && JSON.stringify(contentsOf(secret)) !== JSON.stringify(data))
        this.fail('others left alone', `Secret ${name}, which a person wrote, was changed`);
    }
    const published = [...secrets.values()].filter(
      (secret) => isOurs(secret) && !this.#goesWithUser(secret) && !this.#world.people.isMereCopy(secret),
    );
    this.#checkPublished(published, objects, [...secrets.values()]);
    for (const cluster of this.#createdFor.keys()) {
      if (cluster.gone || cluster.status === 'destroying') continue;
      if (this.#isLost(cluster, FACTORY.username)) continue;
      if (passwordIs(cluster.database, FACTORY.username, FACTORY.password)) continue;
      if (![...secrets.values()].some((secret) => signsIn(secret, cluster)))
        this.fail('a password is known', `No Secret has a login that cluster ${cluster.id} accepts`);
    }
  }

  /** Nobody needs the Secret of a user whose object is being deleted or gone: Kubernetes deletes it after its owner. */
  #goesWithUser(secret: FakeObject): boolean {
    const owner = ownersOf(secret).find(({ kind }) => kind === USERS.kind);
    const user = this.#world.view.objects(USERS).find(({ metadata: { uid } }) => uid === owner?.uid);
    return owner !== undefined && (user === undefined || user.metadata.deletionTimestamp !== undefined);
  }

  /**
   * A login that moves to another Secret is in both for a moment: one of them has the password that works. That one
   * counts even if somebody has just taken its labels, by which it would be known as ours.
   */
  #checkPublished(secrets: readonly FakeObject[], objects: readonly FakeObject[], all: readonly FakeObject[]): void {
    const clusters = this.#world.view.clusters();
    const broken = new Map<Cluster, string>();
    for (const secret of secrets) this.#oncePublished.add(secret.metadata.uid);
    for (const secret of secrets) {
      const { name, uid } = secret.metadata;
      const cluster = clusterOf(secret, objects, clusters);
      if (cluster === undefined || cluster.gone) continue;
      this.#noteAccepted(secret, cluster);
      if (cluster.status === 'destroying') continue;
      if (this.lost.isLostIn(secret) || this.#isLost(cluster, contentsOf(secret)['username'] ?? '')) continue;
      const login = `${uid}/${cluster.createdAt}`;
      this.#checkAccepted(secret);
      if (signsIn(secret, cluster)) this.#worked.add(login);
      else if (this.#worked.has(login)) broken.set(cluster, name);
    }
    const admins = () =>
      all.filter((one) => this.#oncePublished.has(one.metadata.uid) && contentsOf(one)['addresses'] === undefined);
    for (const [cluster, name] of broken)
      if (!admins().some((secret) => signsIn(secret, cluster)))
        this.fail('a password works', `None of the passwords in Secret ${name} signs in`);
  }

  /** A server that is being destroyed still answers, and its Secret stays. */
  #noteAccepted(secret: FakeObject, cluster: Cluster): void {
    const { password, nextPassword, username = '' } = contentsOf(secret);
    for (const each of [password, nextPassword])
      if (each !== undefined && passwordIs(cluster.database, username, each)) this.#accepted.add(each);
  }

  #checkAccepted(secret: FakeObject): void {
    const { password } = contentsOf(secret);
    if (password === undefined || this.#accepted.has(password)) return;
    this.fail('published when it works', `Secret ${secret.metadata.name} has a password that no server has accepted`);
  }

  #collectCanaries(secret: FakeObject): void {
    const { password, nextPassword } = contentsOf(secret);
    for (const each of [password, nextPassword])
      if (each !== undefined && each !== FACTORY.password) this.#canaries.add(each);
  }

  /** The cluster that is cloned for the object, with its logins. */
  #sourceOf(object: FakeObject): Cluster | undefined {
    const { view } = this.#world;
    const { clusterID, clusterRef } = (specOf(object)['cloneFrom'] ?? {}) as Readonly<Record<string, unknown>>;
    if (clusterRef === undefined) return view.cluster(String(clusterID));
    const { name } = clusterRef as { readonly name: string };
    return this.#clusterOf(view.status(objectKey(object.metadata.namespace ?? '', name)).createdAt);
  }

  #isLost(cluster: Cluster, username: string): boolean {
    return this.lost.isLost(cluster, username, this.#createdFor.get(cluster));
  }

  #clusterOf(createdAt: string | undefined): Cluster | undefined {
    return this.#world.view.clusters().find((each) => isIdentity(createdAt, each));
  }

  #objects(): readonly FakeObject[] {
    return this.#world.view.objects();
  }
}

/** Everything of a cluster that must not change. Looking alone creates sessions, which do not count. */
function fingerprint({ id, createdAt, status, storageSizeGB, machineType, backup, database }: Cluster): string {
  return JSON.stringify([id, createdAt, status, storageSizeGB, machineType, backup, [...database.users]]);
}
