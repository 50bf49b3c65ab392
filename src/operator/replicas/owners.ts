import { createHash } from 'node:crypto';

/** The identities, in order, between which shards are divided. */
export type View = readonly string[];

/** Shards of objects that are gone are asked about, too. */
const MOST = 10_000;

/** The owner of each shard under each view, remembered because hashing takes time. */
export class Owners {
  readonly #known = new Map<string, string>();

  /** Like ownerOf. */
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

  /** The number of owners remembered. */
  get size(): number {
    return this.#known.size;
  }
}

/** Rendezvous hashing: a member that comes or goes changes only the owner of its own shards. Undefined: the view is empty. */
export function ownerOf(shard: string, view: View): string | undefined {
  let [owner, highest]: [string | undefined, string] = [undefined, ''];
  for (const member of view) {
    const hash = createHash('sha256').update(`${member} ${shard}`).digest('hex');
    if (hash > highest) [owner, highest] = [member, hash];
  }
  return owner;
}
