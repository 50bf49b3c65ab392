import type { SpaceConnection } from '../databasespace/connection/connection.ts';
import type { ClusterSubject } from './observation.ts';
import type { ClusterStatusPatch } from './present.ts';
import type { ClusterWorld } from './world.ts';

/** What a step works with that asks nothing of the cloud. */
export interface LocalWork {
  readonly world: ClusterWorld;
  readonly subject: ClusterSubject;
  readonly signal: AbortSignal;
}

/** What any other step works with. */
export interface Work extends LocalWork {
  readonly connection: SpaceConnection;
  /** Records facts in the status even if the step fails. */
  readonly keep: (facts: ClusterStatusPatch) => void;
}
