import type { Clock } from '../../base/clock.ts';
import type { KubeApi } from '../../kube/api.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { Forgotten } from '../../runtime/kind.ts';
import { Absences } from '../absences.ts';
import { type ActsSince, Attempts } from '../attempts.ts';
import type { ConfigMaps } from '../config-maps.ts';
import { Elapsed } from '../elapsed.ts';
import type { ServerWorld } from '../server/access.ts';
import { FoundRight } from '../server/found-right.ts';
import { Verifications } from '../verification.ts';

/** Reason of the Event for an object that is deleted while its database stays. */
export const DATABASE_LEFT = 'DatabaseLeft';

/** What a Database is observed and acted on with. */
export interface DatabaseWorld extends ServerWorld {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly configMaps: ConfigMaps;
  /** Another Database as last seen. */
  readonly database: (key: ObjectKey) => KubeObject | undefined;
  /** Keys of the Databases that stand for a database of this name on this cluster, or want to. */
  readonly claimants: (cluster: ObjectKey, name: string) => Iterable<ObjectKey>;
  readonly memory: DatabaseMemory;
  /** Called when a schema that was changed elsewhere is again as the sources say. */
  readonly onSchemaCorrected: (key: ObjectKey, message: string) => void;
  /** Called when the object goes and its database may stay: people must hear of it. */
  readonly onLeft: (key: ObjectKey, message: string) => void;
}

/** What only this process remembers. */
export class DatabaseMemory {
  readonly attempts: Attempts;
  readonly verifications: Verifications;
  /** How long the cluster has been shown as another one than the one that the database is on. */
  readonly elsewhere = new Elapsed();
  readonly absences = new Absences();
  readonly foundRight = new FoundRight();
  /** For how long a source of the schema has not been there. */
  readonly sourceless = new Elapsed();
  readonly #triedAt = new Map<ObjectKey, number>();

  /** See Attempts. */
  constructor(self: string, actsSinceMs: ActsSince) {
    this.attempts = new Attempts(self, actsSinceMs);
    this.verifications = new Verifications(actsSinceMs);
  }

  /** Returns when the schema was last tried, by wall clock; undefined: not in this process. */
  schemaTriedAtMs(key: ObjectKey): number | undefined {
    return this.#triedAt.get(key);
  }

  schemaTried(key: ObjectKey, atMs: number): void {
    this.#triedAt.set(key, atMs);
  }

  forget(key: ObjectKey, why: Forgotten): void {
    this.attempts.forget(key, why);
    this.verifications.forget(key);
    this.elsewhere.forget(key);
    this.absences.forget(key);
    this.sourceless.forget(key);
    this.foundRight.forget(key);
    this.#triedAt.delete(key);
  }
}
