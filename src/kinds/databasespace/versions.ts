import { ApiError } from '../../http/api-error.ts';
import type { SpaceConnection } from './connection/connection.ts';
import type { SpaceSubject } from './observation.ts';
import type { SpaceWorld, VersionsDue } from './world.ts';

export const VERSIONS_DUE_NOW: VersionsDue = { atMs: 0, pauseMs: 60_000 };
const MAX_PAUSE_MS = 1_800_000;

/**
 * Returns the versions that a cluster can have. They are read once for each generation of the object: they are for people to look up, and
 * only the List is read regularly. A deploy of a version that is not among them reads them again. While they cannot be read, what is known
 * stays, and they are tried less and less often: a cloud may never tell them. `works`: the cloud answers otherwise.
 */
export async function versionsOf(
  world: SpaceWorld,
  connection: SpaceConnection,
  { key, status }: SpaceSubject,
  works: boolean,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const told = status.availableVersions;
  const known = world.versions.get(key) ?? (told === undefined ? VERSIONS_DUE_NOW : { read: told });
  if (known.read !== undefined) return known.read;
  if (!works || world.clock.monotonic() < known.atMs) return told;
  try {
    const read = await connection.client.versions(signal);
    world.versions.set(key, { read });
    return read;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const pauseMs = Math.min(known.pauseMs * 2, MAX_PAUSE_MS);
    world.versions.set(key, { atMs: world.clock.monotonic() + known.pauseMs, pauseMs });
    return told;
  }
}
