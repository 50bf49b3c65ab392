import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { KubeApi } from '../../kube/api.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { Forgotten } from '../../runtime/kind.ts';
import { type ActsSince, Attempts, type WrittenDown } from '../attempts.ts';
import type { SpaceConnections } from '../databasespace/connection/connections.ts';
import type { SpacePlaces } from '../databasespace/places.ts';
import type { DatabaseSpaceSpec } from '../databasespace/schema.ts';
import type { Dependents } from '../dependents-first.ts';
import { Elapsed } from '../elapsed.ts';
import { PasswordTries } from '../password-tries.ts';
import type { Secrets } from '../secrets.ts';
import { Verifications } from '../verification.ts';
import type { Difference } from './changes/differences.ts';
import { FailedChanges } from './changes/failed-changes.ts';
import { UnseenChanges } from './changes/unseen-changes.ts';
import { ClusterAbsences } from './existence/absences.ts';

/** Reason of the Event for an object that goes although its cluster may still exist. */
export const CLUSTER_LEFT = 'ClusterLeft';

/** What observing a DatabaseCluster and acting on it uses. */
export interface ClusterWorld {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly connections: SpaceConnections;
  /** The places of all DatabaseSpaces, connected or not. */
  readonly places: Pick<SpacePlaces, 'get' | 'same'>;
  /** A DatabaseSpace as last seen, with its Ready condition. */
  readonly space: (key: ObjectKey) => SpaceSeenHere | undefined;
  /** Keys of all DatabaseSpaces that were seen. */
  readonly spaceKeys: () => Iterable<ObjectKey>;
  /** A DatabaseCluster as last seen. */
  readonly cluster: (key: ObjectKey) => KubeObject | undefined;
  /** Keys of all DatabaseClusters that were seen. */
  readonly clusterKeys: () => Iterable<ObjectKey>;
  /** Keys of the DatabaseClusters that have this id in this space, or want it. */
  readonly claimants: (space: ObjectKey, id: string) => Iterable<ObjectKey>;
  /** Keys of the DatabaseClusters whose status records a cluster that was created then, or one that vanished. */
  readonly recorders: (createdAt: string) => Iterable<ObjectKey>;
  /** Keys of the DatabaseClusters to be cloned from that one, and perhaps more. `secretName`: of its admin Secret. */
  readonly clones: (source: ObjectKey, secretName: string) => Iterable<ObjectKey>;
  /** Keys of the DatabaseClusters whose spec names this Secret, their own or another. */
  readonly referringTo: (secret: ObjectKey) => Iterable<ObjectKey>;
  /** Whether this operator watches the namespace. It never sees objects in others. */
  readonly watches: (namespace: string) => boolean;
  /** Labels of a namespace; undefined: there is none. */
  readonly namespaceLabels: (
    name: string,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>> | undefined>;
  /** What on the cluster's server is deleted with its object. */
  readonly dependents: (key: ObjectKey) => Dependents;
  readonly memory: ClusterMemory;
  /** A change that came from elsewhere was undone. */
  readonly onDriftCorrected: (key: ObjectKey, difference: Difference) => void;
  /** The object goes although its cluster may still exist: people must be told. */
  readonly onLeft: (key: ObjectKey, message: string) => void;
}

export interface SpaceSeenHere {
  /** Without fields that cannot be read; undefined: it needs one of them. */
  readonly spec: DatabaseSpaceSpec | undefined;
  /** The versions that the cloud had when last asked; undefined: it was not asked. */
  readonly versions?: readonly string[] | undefined;
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
}

/** How often recording a Secret in the status is tried before it is reported that the status does not keep it. */
const MAX_NOTES = 3;

/** What only this process remembers. */
export class ClusterMemory {
  readonly attempts: Attempts;
  readonly verifications: Verifications;
  readonly failedChanges = new FailedChanges();
  readonly unseenChanges = new UnseenChanges();
  /** Clusters that are not to be seen. */
  readonly absences = new ClusterAbsences();
  readonly tries = new PasswordTries();
  /** The Secret whose password the server was given last. */
  readonly #puts = new Map<ObjectKey, string>();
  /** The Secret that the status should record, and how often that was tried. */
  readonly #notes = new Map<ObjectKey, { readonly secretName: string; readonly times: number }>();
  /** The server at which the login was looked at last, while nothing has come in between. */
  readonly #lookedAt = new Map<ObjectKey, string>();
  /** When the cluster was created that the cloud answered a call with, which began at `startedAt`. */
  readonly #created = new Map<ObjectKey, { readonly startedAt: string; readonly createdAt: string }>();
  /** For how long the time of its last call has been in the future. */
  readonly ahead = new Elapsed();
  /** For how long its space has waited for its first look. */
  readonly waiting = new Elapsed();
  /** Objects for which nothing can be created any more, as their namespace is being deleted, too. */
  readonly inEndingNamespace = new Set<ObjectKey>();
  /** For how long the object has been going. */
  readonly going = new Elapsed();
  /** For how long there has been another Secret beside the one that the login was verified in. */
  readonly left = new Elapsed();
  /** For how long a clone has waited for the login of its source, which is about to change. */
  readonly sourceLogins = new Elapsed();
  /** For how long a new password of its source has waited for the object, a clone. */
  readonly clones = new Elapsed();
  /** For how long the cluster has run while every attempt to sign in to a server of it failed. */
  readonly unreachable = new Elapsed();

  /** Takes what Attempts takes. */
  constructor(self: string, actsSinceMs: ActsSince) {
    this.attempts = new Attempts(self, actsSinceMs);
    this.verifications = new Verifications(actsSinceMs);
  }

  /** The cloud has answered the recorded call with a cluster that it created then; undefined: it does not tell when. */
  created(key: ObjectKey, { startedAt }: WrittenDown, createdAt: string | undefined): void {
    if (createdAt !== undefined) this.#created.set(key, { startedAt, createdAt });
  }

  /** When the cluster was created that the recorded call was answered with; undefined: no such answer is known. */
  createdByCall(key: ObjectKey, operation: WrittenDown | undefined): string | undefined {
    const known = this.#created.get(key);
    if (operation !== undefined) return known?.startedAt === operation.startedAt ? known.createdAt : undefined;
    // The status has what the answer said.
    this.#created.delete(key);
    return undefined;
  }

  /** The status should record this Secret. Returns whether it may yet come to: a write of it may be overtaken by another. */
  mayNote(key: ObjectKey, secretName: string): boolean {
    const known = this.#notes.get(key);
    const times = known?.secretName === secretName ? known.times + 1 : 1;
    this.#notes.set(key, { secretName, times });
    return times < MAX_NOTES;
  }

  /** The status records the Secret. */
  noted(key: ObjectKey): void {
    this.#notes.delete(key);
  }

  /** A password of this Secret is about to be set: from then on no other Secret's works, whatever the status says. */
  putting(key: ObjectKey, secretName: string): void {
    this.#puts.set(key, secretName);
  }

  /** The Secret whose password the server was given last, if it is not this one; undefined: there is none. */
  putElsewhere(key: ObjectKey, secretName: string): string | undefined {
    const put = this.#puts.get(key);
    return put === secretName ? undefined : put;
  }

  /**
   * The login is looked at there. Returns whether it was looked at there before, and no other server was since, and it could be: then
   * what signed in there still counts. Tokens end with a server's restart, and nobody tells what was changed meanwhile.
   */
  looksAt(key: ObjectKey, endpoint: string): boolean {
    const isAgain = this.#lookedAt.get(key) === endpoint;
    this.#lookedAt.set(key, endpoint);
    return isAgain;
  }

  /** The login cannot be looked at: no server runs, or none answers. */
  looksAway(key: ObjectKey): void {
    this.#lookedAt.delete(key);
  }

  /** Whether this process set a login of the object's cluster, or found one to work. */
  hadLogin(key: ObjectKey): boolean {
    return this.#puts.has(key) || this.verifications.has(key);
  }

  /** The published login works, and the factory login does not. */
  verified(key: ObjectKey, secretName: string, atMs: number): void {
    this.verifications.verified(key, atMs);
    if (this.#puts.has(key)) this.#puts.set(key, secretName);
  }

  forget(key: ObjectKey, why: Forgotten): void {
    for (const elapsed of [this.ahead, this.waiting, this.going, this.left]) elapsed.forget(key);
    for (const elapsed of [this.sourceLogins, this.clones, this.unreachable]) elapsed.forget(key);
    for (const known of [this.absences, this.failedChanges, this.unseenChanges, this.tries, this.verifications])
      known.forget(key);
    for (const known of [this.#created, this.#puts, this.#lookedAt, this.#notes, this.inEndingNamespace])
      known.delete(key);
    this.attempts.forget(key, why);
  }
}
