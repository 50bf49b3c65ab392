import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { SECRETS } from '../../src/kube/api.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import { passwordIs } from '../../src/simulator/server/state.ts';
import type { FakeObject } from '../support/fake-kube.ts';
import type { World } from './world.ts';

const FACTORY = { username: 'admin', password: 'password' };

/** What must hold after every effect, whatever goes wrong. */
export class Invariants {
  readonly violations: string[] = [];
  /** Clusters of others: untouched to the end. */
  readonly #foreign = new Map<Cluster, string>();
  /** Clusters that the operator created. */
  readonly #created = new Set<Cluster>();
  readonly #known = new Set<Cluster>();
  readonly #destroyed = new Set<Cluster>();
  readonly #canaries = new Set<string>();
  readonly #world: World;
  /** At most so many clusters may ever be created. */
  mayCreate = 1;
  /** What must hold besides, of other kinds. */
  readonly others: (() => void)[] = [];
  /** Set while a person has changed the password behind our back, so that no password in the Secret works. */
  passwordIsLost = false;

  constructor(world: World) {
    this.#world = world;
    world.simulator.onChange(() => this.#look());
    for (const level of ['read', 'write', 'admin']) this.#canaries.add(`${level}-secret-0123456789`);
  }

  /** A cluster that was there before; `adoptable`: the operator may take it over. */
  knows(id: string, adoptable = false): void {
    const cluster = this.#clusters().find((each) => each.id === id);
    if (cluster === undefined) throw new Error(`There is no cluster ${id}`);
    this.#known.add(cluster);
    this.#created.delete(cluster);
    if (!adoptable) this.#foreign.set(cluster, fingerprint(cluster));
  }

  get createdClusters(): number {
    return this.#created.size;
  }

  fail(message: string): void {
    if (!this.violations.includes(message)) this.violations.push(message);
  }

  check(): void {
    this.#look();
    for (const object of this.#objects()) this.#checkLogins(object);
    for (const [cluster, was] of this.#foreign)
      if (cluster.gone || fingerprint(cluster) !== was) this.fail(`Foreign cluster ${cluster.id} was touched`);
    for (const check of this.others) check();
    this.#collectCanaries();
  }

  /** Once, at the end: it reads everything that was ever shown. */
  checkSecrecy(): void {
    this.#collectCanaries();
    const shown = this.#world.shown();
    for (const canary of this.#canaries) if (shown.includes(canary)) this.fail('A secret value was shown');
  }

  #look(): void {
    for (const cluster of this.#clusters()) {
      if (!this.#known.has(cluster)) {
        this.#known.add(cluster);
        this.#created.add(cluster);
        const kept = this.#objects().some(({ metadata }) => (metadata.finalizers ?? []).length > 0);
        if (!kept && this.#foreignIsKnown()) this.fail(`Cluster ${cluster.id} was created without a finalizer`);
        if (this.#created.size > this.mayCreate) this.fail(`${this.#created.size} clusters were created`);
      }
      if (cluster.status === 'destroying' && !this.#destroyed.has(cluster)) {
        this.#destroyed.add(cluster);
        const allowed = this.#objects().some(
          (object) => object.metadata.deletionTimestamp !== undefined && specOf(object)['deletionPolicy'] === 'Delete',
        );
        if (!allowed) this.fail(`Cluster ${cluster.id} was destroyed, and no manifest asks for it`);
      }
    }
  }

  /** While the scene is set, clusters of others come into being before anybody can say whose they are. */
  #foreignIsKnown(): boolean {
    return this.#objects().length > 0;
  }

  #checkLogins(object: FakeObject): void {
    const { name } = object.metadata;
    const { clusterID, conditions = [] } = this.#world.status(name);
    const cluster = this.#clusters().find(({ id }) => id === clusterID);
    if (cluster === undefined) return;
    const works = (password: string | undefined, username = 'admin') =>
      password !== undefined && passwordIs(cluster.database, username, password);
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    if (isReady && works(FACTORY.password)) this.fail(`${name} is Ready, and the factory login signs in`);
    const secret = this.#world.secret(`${name}-admin`);
    if (secret === undefined || this.passwordIsLost || cluster.status !== 'running') return;
    const { username, password, nextPassword } = secret;
    if (!works(password, username) && !works(nextPassword, username))
      this.fail(`None of the passwords in the Secret of ${name} signs in`);
  }

  #collectCanaries(): void {
    for (const { metadata } of this.#world.kube.all(SECRETS)) {
      const { password, nextPassword } = this.#world.secret(metadata.name) ?? {};
      for (const each of [password, nextPassword])
        if (each !== undefined && each !== FACTORY.password) this.#canaries.add(each);
    }
  }

  #clusters(): Cluster[] {
    return [...this.#world.simulator.clusters()];
  }

  #objects(): readonly FakeObject[] {
    return this.#world.kube.all(DATABASE_CLUSTERS);
  }
}

function specOf(object: FakeObject): Readonly<Record<string, unknown>> {
  return object['spec'] as Readonly<Record<string, unknown>>;
}

/** All of a cluster that may not change. Sessions come and go by looking. */
function fingerprint({ id, createdAt, status, storageSizeGB, machineType, backup, database }: Cluster): string {
  return JSON.stringify([id, createdAt, status, storageSizeGB, machineType, backup, [...database.users]]);
}
