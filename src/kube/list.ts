import { HttpError } from '../base/transport.ts';
import {
  type AnyObject,
  isGone,
  isInvalid,
  type KubeApi,
  KubeError,
  type ListOptions,
  type ListPage,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from './api.ts';

/** As in client-go's pager. */
const PAGE_SIZE = 500;

type PageOptions = Omit<ListOptions, 'limit' | 'continueToken'>;

/** Lists the collection page by page, all of one version. Throws KubeError and HttpError, as `list` does. */
async function* pagesOf(
  api: Pick<KubeApi, 'list'>,
  resource: Resource,
  options: PageOptions,
  signal: AbortSignal,
  limit: number | undefined,
): AsyncGenerator<ListPage> {
  let continueToken: string | undefined;
  do {
    const page = await api.list(resource, { ...options, limit, continueToken }, signal);
    yield page;
    continueToken = page.continueToken;
  } while (continueToken !== undefined);
}

/**
 * Returns all objects in a list of the collection, for callers that need them once. It reads pages and, as client-go's pager does, asks
 * for one answer if those expire before the last one is read. Throws KubeError and HttpError, as `list` does.
 */
export async function listAllPages(
  api: Pick<KubeApi, 'list'>,
  resource: Resource,
  options: PageOptions,
  signal: AbortSignal,
): Promise<readonly AnyObject[]> {
  const found: AnyObject[] = [];
  try {
    for await (const page of pagesOf(api, resource, options, signal, PAGE_SIZE)) found.push(...page.items);
    return found;
  } catch (error) {
    if (found.length === 0 || !isGone(error)) throw error;
    return (await api.list(resource, options, signal)).items;
  }
}

/** A collection that was reported as a whole. */
export interface ListedCollection {
  readonly resourceVersion: string;
  /** The events from there on, if they come by themselves. */
  readonly further?: AsyncIterable<WatchEvent> | undefined;
}

/** Reports whether the server's world is older than `resourceVersion`, as it says itself; false if it cannot be asked. */
export async function isBehind(
  api: Pick<KubeApi, 'list'>,
  resource: Resource,
  { resourceVersion: notOlderThan, namespace, name, metadataOnly }: WatchOptions,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await api.list(resource, { namespace, name, metadataOnly, notOlderThan, limit: 1 }, signal);
    return false;
  } catch (error) {
    // A 504 may also come from a proxy, or from a server that has too much to do.
    return error instanceof KubeError && error.causes.includes('ResourceVersionTooLarge');
  }
}

/** What happened to one object. */
export type ObjectEvent = Exclude<WatchEvent, { type: 'BOOKMARK' }>;

/** Takes in what happened. Nothing more is read until the promise resolves. */
type Tell = (event: ObjectEvent) => Promise<void>;

/** Reports each object of the collection as added, as of `options.resourceVersion` or later. Throws KubeError and HttpError, as `list`. */
type List = (
  api: Pick<KubeApi, 'list' | 'watch'>,
  resource: Resource,
  options: WatchOptions,
  tell: Tell,
  signal: AbortSignal,
) => Promise<ListedCollection>;

async function listBy(
  limit: number | undefined,
  [api, resource, options, tell, signal]: Parameters<List>,
): Promise<ListedCollection> {
  const { resourceVersion: notOlderThan, namespace, name, metadataOnly, onTurn } = options;
  const asked = { notOlderThan, namespace, name, metadataOnly, onTurn };
  let resourceVersion = '';
  for await (const page of pagesOf(api, resource, asked, signal, limit)) {
    for (const object of page.items) await tell({ type: 'ADDED', object });
    resourceVersion = page.resourceVersion;
  }
  return { resourceVersion };
}

const listInPages: List = (...asked) => listBy(PAGE_SIZE, asked);

/** In one answer, however large: pages may expire before the last one is read, again and again. */
const listWhole: List = (...asked) => listBy(undefined, asked);

/**
 * By one watch that begins with everything there is (streaming list). The server takes it from memory, while all pages but the first come
 * from its database, and neither side ever holds more than one object. Changes meanwhile are reported, too. Falls back to pages if the
 * server refuses.
 */
const listAsStream: List = async (api, resource, options, tell, signal) => {
  const events = api.watch(resource, { ...options, sendInitialEvents: true }, signal)[Symbol.asyncIterator]();
  let hasTold = false;
  try {
    for (;;) {
      const { done, value: event } = await events.next();
      if (done) throw new HttpError('lost', `The list of ${resource.plural} ended before it was complete`);
      if (event.type !== 'BOOKMARK') {
        hasTold = true;
        await tell(event);
      } else if (event.endsInitialEvents)
        return { resourceVersion: event.resourceVersion, further: { [Symbol.asyncIterator]: () => events } };
    }
  } catch (error) {
    await events.return?.();
    if (isInvalid(error) && !hasTold) return listInPages(api, resource, options, tell, signal);
    throw error;
  }
};

/** The ways to list a collection, cheapest for the server first. */
export const LISTS = { stream: listAsStream, pages: listInPages, whole: listWhole } as const;

/** One try to list a collection: `notOlderThan` undefined asks for what is true now. */
export interface ListAttempt {
  readonly notOlderThan: string | undefined;
  readonly by: keyof typeof LISTS;
}

/** Returns the try after one that failed. `newest`: the newest version that it reported, or was asked for. */
export function listAfter(error: unknown, { notOlderThan, by }: ListAttempt, newest: string | undefined): ListAttempt {
  const status = error instanceof KubeError ? error.status : undefined;
  // A page has expired: no version was asked for that could be too old.
  if (isGone(error) && by === 'pages' && notOlderThan === undefined) return { notOlderThan, by: 'whole' };
  // A server that was restored from a backup may never be as new as asked: 410, or 504 for "too large".
  if (isGone(error) || status === 504) return { notOlderThan: undefined, by: 'pages' };
  // As in client-go: a server that answers, except by asking for patience (429), may not know how to stream.
  const mayStream = status === 429 || (error instanceof HttpError && error.isUnanswered);
  return { notOlderThan: newest, by: by === 'stream' && mayStream ? 'stream' : 'pages' };
}
