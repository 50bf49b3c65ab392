import { playHeld } from './held.ts';
import { NOTHING, onLeases, spoilt, TO_CLUSTERS, TO_DATABASES, TO_USERS, whileHeld } from './held-deeds.ts';
import * as passages from './passages.ts';
import type { Step } from './story.ts';

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

/**
 * What goes has no more than a name on a server, so whoever makes another of that name meanwhile loses it. And a request to destroy that is
 * on its way destroys whatever has the id when it arrives.
 */
const DEADLY: Readonly<Record<string, ReadonlySet<Step['do']>>> = {
  DELETE_USER: new Set<Step['do']>(['setPassword']),
  DELETE_DATABASE: new Set<Step['do']>(['createDatabase']),
  DESTROY: new Set<Step['do']>(['replace', 'swap']),
  DESTROY_WITH_SPACE: new Set<Step['do']>(['replace', 'swap']),
};

function deedsIn(name: string) {
  const deeds = name.includes('USER') ? TO_USERS : name.includes('DATABASE') ? TO_DATABASES : TO_CLUSTERS;
  return deeds.filter(([, deed]) => !deed.some((step) => DEADLY[name]?.has(step.do)));
}
