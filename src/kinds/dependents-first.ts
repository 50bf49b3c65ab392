import { listed } from './listed.ts';

/** What is deleted on a server with its objects: on that of one cluster, or on those of all clusters of a space. */
export interface Dependents {
  /** Objects that are being deleted now, as `DatabaseUser shop/app`. */
  readonly leaving: readonly string[];
  /** There are others, which may be deleted at any moment. */
  readonly mayFollow: boolean;
}

/** Whatever keeps users and databases from going, nothing waits for them for ever. */
const LEAVING_MS = 120_000;
const SHOWN = 3;

/**
 * If all are deleted together, users and databases go first: without their cluster and its space nobody could delete them. Returns what
 * an object that has been going for `sinceMs` waits for, and for how long at most; undefined: for nothing, or no longer. `where` is put
 * after "on". `followingMs`: whoever deletes everything at once deletes one object after the other, and news of that may be late.
 */
export function dependentsFirst(
  { leaving, mayFollow }: Dependents,
  sinceMs: number,
  where: string,
  followingMs: number,
): { readonly message: string; readonly forMs: number } | undefined {
  if (leaving.length > 0 && sinceMs < LEAVING_MS) {
    const message = `Waiting for objects on ${where} that are being deleted too, as they go first: ${listed(leaving, SHOWN)}. Mooring waits two minutes at most`;
    return { message, forMs: LEAVING_MS - sinceMs };
  }
  if (!mayFollow || sinceMs >= followingMs) return undefined;
  const message = `Waiting ${followingMs / 1000} seconds at most to see whether users and databases on ${where} are deleted too: they go first`;
  return { message, forMs: followingMs - sinceMs };
}
