import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { KubeApi } from '../../kube/api.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { Forgotten } from '../../runtime/kind.ts';
import { type ActsSince, Attempts } from '../attempts.ts';
import type { SpaceConnections } from '../databasespace/connection.ts';
import type { SpacePlaces } from '../databasespace/places.ts';
import type { DatabaseSpaceSpec } from '../databasespace/schema.ts';
import { Elapsed } from '../elapsed.ts';
import { PasswordTries } from '../password-tries.ts';
import type { Secrets } from '../secrets.ts';
import { Verifications } from '../verification.ts';
import { Absences } from './absences.ts';
import type { Difference } from './differences.ts';
import { FailedChanges } from './failed-changes.ts';
import { UnseenChanges } from './unseen-changes.ts';

/** Reason of the Event for an object that goes while its cluster is not seen to. */
export const CLUSTER_LEFT = 'ClusterLeft';

/** What a DatabaseCluster is observed with and acted on through. */
export interface ClusterWorld {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly connections: SpaceConnections;
  /** Of all DatabaseSpaces, connected or not. */
  readonly places: Pick<SpacePlaces, 'get' | 'same'>;
  /** A DatabaseSpace as last seen, with the word of its Ready condition. */
  readonly space: (key: ObjectKey) => SpaceSeenHere | undefined;
  /** Those of all DatabaseSpaces that were seen. */
  readonly spaceKeys: () => Iterable<ObjectKey>;
  /** Another DatabaseCluster as last seen. */
  readonly cluster: (key: ObjectKey) => KubeObject | undefined;
  /** Those of all DatabaseClusters that were seen. */
  readonly clusterKeys: () => Iterable<ObjectKey>;
  /** Keys of the DatabaseClusters that stand for this id, or want to, in this space. */
  readonly claimants: (space: ObjectKey, id: string) => Iterable<ObjectKey>;
  /** Whether this operator watches the namespace: what is in others it never sees. */
  readonly watches: (namespace: string) => boolean;
  /** Labels of a namespace; undefined: there is none. */
  readonly namespaceLabels: (
    name: string,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>> | undefined>;
  /** Users and databases on the cluster that are being deleted on its server, as `DatabaseUser app`. */
  readonly leaving: (key: ObjectKey) => readonly string[];
  /** Whether there are others on the cluster that would be deleted on its server if their objects were. */
  readonly mayFollow: (key: ObjectKey) => boolean;
  readonly memory: ClusterMemory;
  /** A change that came from elsewhere was undone. */
  readonly onDriftCorrected: (key: ObjectKey, difference: Difference) => void;
  /** The object goes, and its cluster may still be there: people must hear of it. */
  readonly onLeft: (key: ObjectKey, message: string) => void;
}

export interface SpaceSeenHere {
  readonly spec: DatabaseSpaceSpec | undefined;
  /** That the cloud had when it was asked last; undefined: it was not. */
  readonly versions?: readonly string[] | undefined;
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
}

/** So often the status is asked to tell of a Secret before it is told that it does not. */
const MAX_NOTES = 3;

/** What is remembered in this process only. */
export class ClusterMemory {
  readonly attempts: Attempts;
  readonly verifications: Verifications;
  readonly failedChanges = new FailedChanges();
  readonly unseenChanges = new UnseenChanges();
  /** That the cluster is not to be seen. */
  readonly absences = new Absences();
  readonly tries = new PasswordTries();
  /** Of which Secret the password is that the server was given last. */
  readonly #puts = new Map<ObjectKey, string>();
  /** Which Secret the status was asked to tell of, and how often. */
  readonly #notes = new Map<ObjectKey, { readonly secretName: string; readonly times: number }>();
  /** That its last call is to have been made at a time that is yet to come. */
  readonly ahead = new Elapsed();
  /** That its space waits for its first look. */
  readonly waiting = new Elapsed();
  /** That the object goes. */
  readonly going = new Elapsed();
  /** That another Secret is there beside the one that the login was verified in. */
  readonly left = new Elapsed();
  /** That the cluster runs and no server of it could be signed in to, one time after the other. */
  readonly unreachable = new Elapsed();

  /** As of Attempts. */
  constructor(self: string, actsSinceMs: ActsSince) {
    this.attempts = new Attempts(self, actsSinceMs);
    this.verifications = new Verifications(actsSinceMs);
  }

  /** The status is to tell of this Secret. Returns whether that may yet come to be so: a write of it may be overtaken by another one. */
  mayNote(key: ObjectKey, secretName: string): boolean {
    const known = this.#notes.get(key);
    const times = known?.secretName === secretName ? known.times + 1 : 1;
    this.#notes.set(key, { secretName, times });
    return times < MAX_NOTES;
  }

  /** The status tells of the Secret that it was asked to tell of. */
  noted(key: ObjectKey): void {
    this.#notes.delete(key);
  }

  /** A password of this Secret is about to be put: no other one's works from then on, whatever the status says. */
  putting(key: ObjectKey, secretName: string): void {
    this.#puts.set(key, secretName);
  }

  /** Another Secret than this one, whose password the server was given last; undefined: there is none. */
  putElsewhere(key: ObjectKey, secretName: string): string | undefined {
    const put = this.#puts.get(key);
    return put === secretName ? undefined : put;
  }

  /** Whether a login of its cluster was put for the object, or found to work, in this process. */
  hadLogin(key: ObjectKey): boolean {
    return this.#puts.has(key) || this.verifications.has(key);
  }

  /** The published login works, and the factory's does not. */
  verified(key: ObjectKey, secretName: string, atMs: number): void {
    this.verifications.verified(key, atMs);
    if (this.#puts.has(key)) this.#puts.set(key, secretName);
  }

  forget(key: ObjectKey, why: Forgotten): void {
    this.absences.forget(key);
    this.ahead.forget(key);
    this.waiting.forget(key);
    this.going.forget(key);
    this.left.forget(key);
    this.unreachable.forget(key);
    this.failedChanges.forget(key);
    this.unseenChanges.forget(key);
    this.tries.forget(key);
    this.#puts.delete(key);
    this.#notes.delete(key);
    this.attempts.forget(key, why);
    this.verifications.forget(key);
  }
}
