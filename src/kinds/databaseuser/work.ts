import type { OpenServer } from '../server/access.ts';
import type { UserPlace, UserSubject } from './observation.ts';
import type { UserWorld } from './world.ts';

/** What a look or a step works with that asks nothing of the server. */
export interface LocalWork {
  readonly world: UserWorld;
  readonly subject: UserSubject;
  readonly signal: AbortSignal;
}

/** What any other look or step works with. */
export interface Work extends LocalWork {
  readonly access: OpenServer;
  readonly at: UserPlace;
}

/** `access`: the server as it can be worked on now. */
export function workOn(local: LocalWork, access: OpenServer): Work {
  return { ...local, access, at: placeOf(access) };
}

/** The addresses are sorted, as what is in a Secret must not change with the servers that happen to run. */
function placeOf({ clusterName, identity, endpoint, addresses }: OpenServer): UserPlace {
  const [address = ''] = addresses;
  return { clusterName, identity, endpoint, address, addresses: addresses.toSorted().join(',') };
}
