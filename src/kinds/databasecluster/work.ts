import type { SpaceConnection } from '../databasespace/connection/connection.ts';
import type { ClusterStatusPatch, ClusterSubject } from './observation.ts';
import type { ClusterWorld } from './world.ts';

/** What a look or a step works with that asks nothing of the cloud. */
export interface LocalWork {
  readonly world: ClusterWorld;
  readonly subject: ClusterSubject;
  readonly signal: AbortSignal;
}

/** What any other look or step works with. */
export interface Work extends LocalWork {
  readonly connection: SpaceConnection;
}

/** What a step works with that may fail after it has brought something about. */
export interface StepWork extends Work {
  /** Records facts in the status even if the step fails. */
  readonly keep: (facts: ClusterStatusPatch) => void;
}
