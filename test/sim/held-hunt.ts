import { playHeld } from './held.ts';
import { NOTHING, onLeases, spoilt, TO_CLUSTERS, TO_DATABASES, TO_USERS, whileHeld } from './held-deeds.ts';
import * as passages from './passages.ts';

/** By how they are called on the command line, such as `DEPLOY`. */
const PASSAGES = new Map(
  Object.entries(passages).flatMap(([name, passage]) =>
    typeof passage === 'object' && 'asked' in passage ? [[name, passage] as const] : [],
  ),
);

/** Holds every call of these passages, or of all, with each deed and with each way to end. Yields what is wrong, and how many were played. */
export async function* huntHeld(names: readonly string[]) {
  for (const name of names.length > 0 ? names : PASSAGES.keys()) {
    const passage = PASSAGES.get(name);
    if (passage === undefined) throw new Error(`No passage ${name}. There are: ${[...PASSAGES.keys()].join(', ')}`);
    const deeds = deedsIn(name);
    const common = (['sent', 'answered'] as const).flatMap((when) => onLeases('common', when));
    const own = (['sent', 'answered'] as const).flatMap((when) => onLeases('own', when));
    yield { name, what: 'deeds', ...(await playHeld(passage, whileHeld(deeds))) };
    yield { name, what: 'Lease', ...(await playHeld(passage, common, { replicas: 2 })) };
    yield { name, what: 'own Lease', ...(await playHeld(passage, own, { replicas: 2, shards: true })) };
    yield { name, what: 'ends', ...(await playHeld(passage, spoilt([...NOTHING, ...deeds]))) };
  }
}

function deedsIn(name: string) {
  if (name.includes('DATABASE')) return TO_DATABASES;
  // Whoever sets the password of a user that has just been deleted makes another one, and nothing tells them apart.
  if (name === 'DELETE_USER') return TO_USERS.filter(([, deed]) => !deed.some((step) => step.do === 'setPassword'));
  return name.includes('USER') ? TO_USERS : TO_CLUSTERS;
}
