import { type AnyObject, KubeError, type WatchEvent } from '../kube/api.ts';

interface Entry {
  readonly version: number;
  readonly plural: string;
  readonly event: Exclude<WatchEvent, { type: 'BOOKMARK' }>;
}

interface Follower {
  /** What arrived since it last looked. */
  readonly pending: WatchEvent[];
  readonly takes: (entry: Entry) => boolean;
  wake: () => void;
  closed: boolean;
}

export interface Following {
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name?: string | undefined;
  /** Only events newer than this version. */
  readonly after: number;
  /** Begin with everything that existed at that version. */
  readonly sendInitialEvents?: boolean | undefined;
}

const BUMP = 1_000_000;

/** What happened to all objects, in one order, and who watches. */
export class FakeHistory {
  #version = 1;
  #oldest = 0;
  /** The index of the first entry that watches get; earlier ones only serve lists that lag. */
  #told = 0;
  #initializing = false;
  readonly #entries: Entry[] = [];
  readonly #followers = new Set<Follower>();

  get version(): number {
    return this.#version;
  }

  /** Versions before this one are forgotten. */
  get oldest(): number {
    return this.#oldest;
  }

  get watches(): number {
    return this.#followers.size;
  }

  next(): string {
    this.#version++;
    return String(this.#version);
  }

  record(plural: string, event: Entry['event']): void {
    const entry = { version: this.#version, plural, event };
    this.#entries.push(entry);
    for (const follower of this.#followers) {
      if (follower.closed || !follower.takes(entry)) continue;
      follower.pending.push(event);
      follower.wake();
    }
  }

  compact(): void {
    this.#oldest = this.#version;
    this.#told = this.#entries.length;
  }

  /** Forgets what came after this version, and goes on with much later ones. Ends every watch. Returns what is left. */
  restore(version: number): readonly Entry[] {
    const left = this.#entries.filter((entry) => entry.version <= version);
    this.#entries.splice(0, this.#entries.length, ...left);
    this.#version += BUMP;
    this.restart();
    return left;
  }

  restart(): void {
    this.#initializing = true;
    this.compact();
    this.closeWatches();
  }

  initialized(): void {
    this.#initializing = false;
  }

  refuseIfInitializing(): void {
    if (!this.#initializing) return;
    const message = 'storage is (re)initializing';
    throw new KubeError(message, { status: 429, reason: 'TooManyRequests', retryAfterMs: 1_000 });
  }

  /** The objects of a collection as they were at a version, sorted by name. */
  asOf(scope: Omit<Following, 'after'> & { readonly version: number }): readonly AnyObject[] {
    const objects = new Map<string, AnyObject>();
    for (const { version, plural, event } of this.#entries) {
      if (version > scope.version || plural !== scope.plural || !isIn(scope.namespace, event.object)) continue;
      const { namespace, name } = event.object.metadata;
      if (event.type === 'DELETED') objects.delete(`${namespace}/${name}`);
      else objects.set(`${namespace}/${name}`, event.object);
    }
    return [...objects].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
  }

  #initialEvents({ plural, namespace, name, after }: Following): WatchEvent[] {
    return this.asOf({ plural, namespace, version: after }).flatMap((object) =>
      name === undefined || object.metadata.name === name ? [{ type: 'ADDED', object }] : [],
    );
  }

  #end(): WatchEvent {
    return { type: 'BOOKMARK', resourceVersion: String(this.#version), endsInitialEvents: true };
  }

  bookmark(): void {
    for (const follower of this.#followers) {
      follower.pending.push({ type: 'BOOKMARK', resourceVersion: String(this.#version) });
      follower.wake();
    }
  }

  closeWatches(): void {
    for (const follower of this.#followers) {
      follower.closed = true;
      follower.wake();
    }
  }

  async *follow(
    following: Following,
    show: (event: WatchEvent) => WatchEvent,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<WatchEvent> {
    this.refuseIfInitializing();
    const { after, sendInitialEvents } = following;
    if (!sendInitialEvents && after < this.#oldest) {
      throw new KubeError('too old resource version', { status: 410, reason: 'Expired' });
    }
    const takes = ({ version, plural, event: { object } }: Entry) =>
      version > after &&
      plural === following.plural &&
      isIn(following.namespace, object) &&
      (following.name === undefined || object.metadata.name === following.name);
    const missed = this.#entries
      .slice(sendInitialEvents ? 0 : this.#told)
      .flatMap((entry) => (takes(entry) ? [entry.event] : []));
    const pending = sendInitialEvents ? [...this.#initialEvents(following), ...missed, this.#end()] : missed;
    const follower: Follower = { pending, takes, wake: () => {}, closed: false };
    this.#followers.add(follower);
    const onAbort = () => follower.wake();
    signal?.addEventListener('abort', onAbort);
    try {
      for (;;) {
        for (let event = follower.pending.shift(); event !== undefined; event = follower.pending.shift()) {
          if (signal?.aborted) return;
          yield show(event);
        }
        if (follower.closed || signal?.aborted) return;
        await new Promise<void>((resolve) => {
          follower.wake = resolve;
        });
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#followers.delete(follower);
    }
  }
}

function isIn(namespace: string | undefined, { metadata }: AnyObject): boolean {
  return namespace === undefined || metadata.namespace === namespace;
}
