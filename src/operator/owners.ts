import { createHash } from 'node:crypto';

/** Identities in their order: between whom shards are shared. */
export type View = readonly string[];

/** Objects that are gone are asked about, too. */
const MOST = 10_000;

/** Who has which shard under which view, remembered, as hashes take their time. */
export class Owners {
  readonly #known = new Map<string, string>();

  /** As ownerOf. */
  of(shard: string, view: View): string | undefined {
    const key = `${view.join()} ${shard}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MOST) this.clear();
    const owner = ownerOf(shard, view);
    if (owner !== undefined) this.#known.set(key, owner);
    return owner;
  }

  clear(): void {
    this.#known.clear();
  }

  /** Of how many shards that is known. */
  get size(): number {
    return this.#known.size;
  }
}

/** Rendezvous hashing: who comes or goes changes the owner of its own shards only. Undefined: the view is empty. */
export function ownerOf(shard: string, view: View): string | undefined {
  let [owner, highest]: [string | undefined, string] = [undefined, ''];
  for (const member of view) {
    const hash = createHash('sha256').update(`${member} ${shard}`).digest('hex');
    if (hash > highest) [owner, highest] = [member, hash];
  }
  return owner;
}
