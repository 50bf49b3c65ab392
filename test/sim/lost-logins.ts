import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import { passwordIs } from '../../src/simulator/server/state.ts';
import { clusterOf, isIdentity, isOurs, signsIn } from './owned.ts';
import { contentsOf, statusOf } from './view.ts';

/**
 * Logins that a person has changed or removed behind the operator's back: no object and no Secret of ours is held to one until it is
 * seen to work again.
 */
export class LostLogins {
  #areAllLost = false;
  /** The names of the users whose logins are lost for now. */
  readonly #usernames = new Map<Cluster, Set<string>>();
  /** The uids of Secrets with a login that is lost: it may work again by another Secret first. */
  readonly #secrets = new Set<string>();
  /** Clusters all of whose logins are lost for good, and the uids of objects whose clusters are, those to come as well. */
  readonly #forGood = new Set<Cluster | string>();

  lose(cluster: Cluster, username: string): void {
    const usernames = this.#usernames.get(cluster) ?? new Set();
    this.#usernames.set(cluster, usernames.add(username));
  }

  /** The login in this Secret of ours is lost. */
  loseIn(secret: FakeObject, objects: readonly FakeObject[], clusters: readonly Cluster[]): void {
    const ofObject = clusterOf(secret, objects, clusters);
    const { username = '' } = contentsOf(secret);
    this.#secrets.add(secret.metadata.uid);
    for (const cluster of clusters) if (cluster === ofObject || signsIn(secret, cluster)) this.lose(cluster, username);
  }

  /** All logins of the object's clusters are lost for good. */
  loseOf(object: FakeObject, clusters: readonly Cluster[]): void {
    const { createdAt } = statusOf(object);
    this.#forGood.add(object.metadata.uid);
    for (const cluster of clusters) if (isIdentity(createdAt, cluster)) this.#forGood.add(cluster);
  }

  /** All logins of all clusters are lost for good. */
  loseAll(): void {
    this.#areAllLost = true;
  }

  /** `creator` is the uid of the object that asked for the cluster. */
  isLost(cluster: Cluster, username: string, creator: string | undefined): boolean {
    const isForGood = this.#areAllLost || this.#forGood.has(cluster) || this.#forGood.has(creator ?? '');
    return isForGood || this.#usernames.get(cluster)?.has(username) === true;
  }

  isLostIn({ metadata }: FakeObject): boolean {
    return this.#secrets.has(metadata.uid);
  }

  /** Notes which logins work again, with what is in a Secret of ours. */
  findAgain(secrets: readonly FakeObject[], objects: readonly FakeObject[], clusters: readonly Cluster[]): void {
    if (this.#usernames.size === 0 && this.#secrets.size === 0) return;
    for (const secret of secrets.filter(isOurs)) {
      const cluster = clusterOf(secret, objects, clusters);
      const { username = '', password = '' } = contentsOf(secret);
      // The next password may work before what was scribbled is replaced by it.
      if (cluster === undefined || !passwordIs(cluster.database, username, password)) continue;
      this.#secrets.delete(secret.metadata.uid);
      const usernames = this.#usernames.get(cluster);
      if (usernames?.delete(username) && usernames.size === 0) this.#usernames.delete(cluster);
    }
  }
}
