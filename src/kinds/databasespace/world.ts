import type { Clock } from '../../base/clock.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { Dependents } from '../dependents-first.ts';
import type { Elapsed } from '../elapsed.ts';
import type { Secrets } from '../secrets.ts';
import type { SpaceConnections } from './connection/connections.ts';
import type { SpacePlaces } from './places.ts';

/** What a DatabaseSpace is observed and acted on with. */
export interface SpaceWorld {
  readonly secrets: Secrets;
  readonly connections: SpaceConnections;
  readonly places: Pick<SpacePlaces, 'same'>;
  /** Ids of the clusters that a space's DatabaseClusters have, or may have, in the place of the space `by`, which may be another one. */
  readonly heldIDs: (space: ObjectKey, by: ObjectKey) => ReadonlySet<string>;
  /** DatabaseClusters that cannot be deleted without the space. */
  readonly neededBy: (space: ObjectKey) => readonly ObjectKey[];
  /** What on servers of the space's clusters is deleted with its object. */
  readonly dependents: (space: ObjectKey) => Dependents;
  readonly hasDependents: (space: ObjectKey) => boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** For how long spaces have been going. */
  readonly going: Elapsed;
  /** The versions of the object and its Secrets when the space was last connected. */
  readonly connectedWith: Map<ObjectKey, string>;
  /** The last request of a person to look that each space was listed for. */
  readonly listedFor: Map<ObjectKey, string>;
  /** What this process knows of versions besides the status. */
  readonly versions: Map<ObjectKey, VersionsRead | VersionsDue>;
}

/** The status may not have them yet, or at all: it could not be written, or the definitions are of an older version. */
interface VersionsRead {
  readonly read: readonly string[];
}

/** When they must be read again, by the monotonic clock: those in the status may be of another cloud, or could not be read. */
export interface VersionsDue {
  readonly read?: undefined;
  readonly atMs: number;
  /** Until the next attempt, if that fails. */
  readonly pauseMs: number;
}
