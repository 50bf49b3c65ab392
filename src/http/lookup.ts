import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { Recent } from '../base/collections/recent.ts';

/** As `dns.lookup` with `all: true`. */
export type Lookup = (hostname: string, options: LookupOptions & { readonly all: true }, callback: Found) => void;

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Of how many names it is known how their last lookup went. Others count as new. */
const REMEMBERED = 10_000;

/** How many lookups Node has at once: libuv gives them half of its threads, of which there are four unless the environment says so. */
export function lookupsAtOnce({ UV_THREADPOOL_SIZE }: NodeJS.ProcessEnv): number {
  return Math.floor(((Number(UV_THREADPOOL_SIZE) || 4) + 1) / 2);
}

/**
 * Looks up names, for all transports of a process. A name whose name servers do not answer keeps a thread for ten seconds or more, even
 * when whoever asked has long given up: eight of them, tried now and then, would leave none for the cloud's.
 * - Whoever asks for a name that is being looked up shares the answer.
 * - Names not known to be found wait until fewer than half of `atOnce` are looked up. New ones come before those not found last time.
 */
export function sharedLookup(atOnce: number, lookup: Lookup = systemLookup): Lookup {
  const known = new Recent<string, 'found' | 'missed'>(REMEMBERED);
  /** Who waits, by name. */
  const asked = new Map<string, Found[]>();
  const waiting = { new: [] as (() => void)[], missed: [] as (() => void)[] };
  let free = Math.max(1, Math.floor(atOnce / 2));

  return (hostname, options, callback) => {
    const key = `${hostname} ${options.family} ${options.hints}`;
    const others = asked.get(key);
    if (others !== undefined) {
      others.push(callback);
      return;
    }
    const callbacks = [callback];
    asked.set(key, callbacks);
    const before = known.peek(key) ?? 'new';
    const begin = () => {
      if (before !== 'found') free--;
      lookup(hostname, options, (error, addresses) => {
        asked.delete(key);
        known.set(key, error === null ? 'found' : 'missed');
        if (before !== 'found') free++;
        if (free > 0) (waiting.new.shift() ?? waiting.missed.shift())?.();
        for (const each of callbacks) each(error, addresses);
      });
    };
    if (before === 'found' || free > 0) begin();
    else waiting[before].push(begin);
  };
}
