import { expect, test } from 'vitest';
import { HttpError } from '../base/transport.ts';
import { type AnyObject, type KubeApi, KubeError, SECRETS, type WatchEvent } from './api.ts';
import { isBehind, LISTS, type ListAttempt, listAfter, listAllPages, type ObjectEvent } from './list.ts';

const object = (name: string): AnyObject => ({ metadata: { name, uid: name, resourceVersion: '3' } });
const added = (name: string): WatchEvent => ({ type: 'ADDED', object: object(name) });
const END: WatchEvent = { type: 'BOOKMARK', resourceVersion: '7', endsInitialEvents: true };
const REFUSED = new KubeError('sendInitialEvents: Forbidden', { status: 422, reason: 'Invalid' });

/** A list of a collection on an API whose watch reports these events, and whose list has one page. */
function aList(events: readonly (WatchEvent | Error)[], take: (event: ObjectEvent) => Promise<void> = async () => {}) {
  const calls: string[] = [];
  const told: string[] = [];
  const api: Pick<KubeApi, 'list' | 'watch'> = {
    list: async (_resource, { notOlderThan }) => {
      calls.push(`list ${notOlderThan}`);
      return { items: [object('page')], resourceVersion: '9', continueToken: undefined };
    },
    watch: async function* (_resource, { resourceVersion, sendInitialEvents }) {
      calls.push(`watch ${resourceVersion} ${sendInitialEvents}`);
      try {
        for (const event of events) {
          if (event instanceof Error) throw event;
          yield event;
        }
      } finally {
        await new Promise((resolve) => setImmediate(resolve));
        calls.push('closed');
      }
    },
  };
  const tell = async (event: ObjectEvent) => {
    told.push(`${event.type} ${event.object.metadata.name}`);
    await take(event);
  };
  const options = { resourceVersion: '5', timeoutSeconds: 300 };
  const listed = LISTS.stream(api, SECRETS, options, tell, new AbortController().signal);
  return { listed, calls, told };
}

test('listAsStream reports what exists and what happens meanwhile, and the same watch goes on', async () => {
  const bookmark: WatchEvent = { type: 'BOOKMARK', resourceVersion: '6' };
  const gone: WatchEvent = { type: 'DELETED', object: object('a') };
  const { listed, calls, told } = aList([added('a'), bookmark, added('b'), gone, END, added('c')]);
  const { resourceVersion, further } = await listed;
  expect([resourceVersion, told, calls]).toEqual(['7', ['ADDED a', 'ADDED b', 'DELETED a'], ['watch 5 true']]);
  const seen: WatchEvent[] = [];
  for await (const event of further ?? []) seen.push(event);
  expect(seen).toEqual([added('c')]);
  expect(calls).toEqual(['watch 5 true', 'closed']);
});

test('listAsStream reads pages if the server refuses to stream', async () => {
  const { listed, calls, told } = aList([REFUSED]);
  expect(await listed).toEqual({ resourceVersion: '9' });
  expect([calls, told]).toEqual([['watch 5 true', 'closed', 'list 5'], ['ADDED page']]);
});

test('listAsStream fails if the server refuses after it has reported some objects', async () => {
  const { listed, calls } = aList([added('a'), REFUSED]);
  await expect(listed).rejects.toBe(REFUSED);
  expect(calls).toEqual(['watch 5 true', 'closed']);
});

test('listAsStream fails if the stream ends before everything is reported, or breaks', async () => {
  await expect(aList([added('a')]).listed).rejects.toThrow('The list of secrets ended before it was complete');
  const gone = new KubeError('too old', { status: 410 });
  await expect(aList([added('a'), gone]).listed).rejects.toBe(gone);
});

test('listAsStream closes the watch if what it reports is not accepted', async () => {
  const { listed, calls } = aList([added('a'), added('b'), END], () => Promise.reject(new Error('No')));
  await expect(listed).rejects.toThrow('No');
  expect(calls).toEqual(['watch 5 true', 'closed']);
});

/** A list of three objects in two pages, the second of which has always expired. */
function expiringPages() {
  const asked: (number | undefined)[] = [];
  const api: Pick<KubeApi, 'list'> = {
    list: async (_resource, { limit, continueToken }) => {
      asked.push(limit);
      if (continueToken !== undefined) throw new KubeError('continue parameter is too old', { status: 410 });
      if (limit === undefined) return { items: ['b', 'c'].map(object), resourceVersion: '9', continueToken: undefined };
      return { items: ['a', 'b'].map(object), resourceVersion: '7', continueToken: 'next' };
    },
  };
  return { api, asked };
}

test('listAllPages asks for everything in one answer if pages expire, and returns nothing of the pages', async () => {
  const { api, asked } = expiringPages();
  const found = await listAllPages(api, SECRETS, {}, new AbortController().signal);
  expect([found.map(({ metadata }) => metadata.name), asked]).toEqual([
    ['b', 'c'],
    [500, 500, undefined],
  ]);
});

test('listAllPages fails if a list is too old from its first page on', async () => {
  const gone = new KubeError('too old', { status: 410 });
  const { signal } = new AbortController();
  let asked = 0;
  const list = () => {
    asked++;
    return Promise.reject(gone);
  };
  await expect(listAllPages({ list }, SECRETS, {}, signal)).rejects.toBe(gone);
  expect(asked).toBe(1);
});

test('listAllPages fails if a page is refused, or cannot be read, for another reason', async () => {
  const broken = new KubeError('broken', { status: 500 });
  const { api, asked } = expiringPages();
  const list: typeof api.list = async (resource, options, signal) => {
    if (options.continueToken !== undefined) throw broken;
    return api.list(resource, options, signal);
  };
  await expect(listAllPages({ list }, SECRETS, {}, new AbortController().signal)).rejects.toBe(broken);
  expect(asked).toEqual([500]);
});

test('listAllPages asks for everything in one answer even if only one object was read', async () => {
  const { api } = expiringPages();
  const list: typeof api.list = async (resource, options, signal) => {
    const page = await api.list(resource, options, signal);
    return options.limit === undefined ? page : { ...page, items: page.items.slice(0, 1) };
  };
  expect(await listAllPages({ list }, SECRETS, {}, new AbortController().signal)).toHaveLength(2);
});

const SCOPE = { namespace: 'shop', name: 'a', metadataOnly: true };

test.each(['pages', 'whole'] as const)(
  'A list in %s asks for what is in its scope, and waits until everything is taken in',
  async (by) => {
    const asked: unknown[] = [];
    const taken: string[] = [];
    const api: Pick<KubeApi, 'list' | 'watch'> = {
      list: async (_resource, options) => {
        asked.push(options);
        return { items: [object('a'), object('b')], resourceVersion: '9', continueToken: undefined };
      },
      watch: () => expect.unreachable(),
    };
    const tell = async ({ object: { metadata } }: ObjectEvent) => {
      taken.push(`begins ${metadata.name}`);
      await new Promise((resolve) => setImmediate(resolve));
      taken.push(`ends ${metadata.name}`);
    };
    const onTurn = () => {};
    const options = { ...SCOPE, onTurn, resourceVersion: '5', timeoutSeconds: 300 };
    await LISTS[by](api, SECRETS, options, tell, new AbortController().signal);
    expect(asked).toEqual([
      { ...SCOPE, onTurn, notOlderThan: '5', limit: by === 'pages' ? 500 : undefined, continueToken: undefined },
    ]);
    expect(taken).toEqual(['begins a', 'ends a', 'begins b', 'ends b']);
  },
);

test('listAsStream fails if it is refused for a reason other than streaming', async () => {
  const forbidden = new KubeError('no', { status: 403, reason: 'Forbidden' });
  const { listed, calls } = aList([forbidden]);
  await expect(listed).rejects.toBe(forbidden);
  expect(calls).toEqual(['watch 5 true', 'closed']);
});

test.each([
  ['it can answer', undefined, false],
  ['it says so itself', new KubeError('no', { status: 504, causes: ['ResourceVersionTooLarge'] }), true],
  ['something else answers so', new KubeError('Gateway Timeout', { status: 504 }), false],
  ['it is not reached', new Error('refused'), false],
])(
  'isBehind() asks for one object in the scope whether a server is older than what was seen: %s',
  async (_how, error, is) => {
    const asked: unknown[] = [];
    const list: KubeApi['list'] = async (_resource, options) => {
      asked.push(options);
      if (error !== undefined) throw error;
      return { items: [], resourceVersion: '9', continueToken: undefined };
    };
    const options = { ...SCOPE, resourceVersion: '5', timeoutSeconds: 300 };
    expect(await isBehind({ list }, SECRETS, options, new AbortController().signal)).toBe(is);
    expect(asked).toEqual([{ ...SCOPE, notOlderThan: '5', limit: 1 }]);
  },
);

const GONE = new KubeError('too old', { status: 410 });
const TOO_LARGE = new KubeError('too large resource version', { status: 504 });
const BUSY = new KubeError('busy', { status: 429 });
const BROKEN = new KubeError('broken', { status: 500 });
const AWAY = new HttpError('unreachable', 'Connection refused');
const attempt = (by: ListAttempt['by'], notOlderThan?: string): ListAttempt => ({ by, notOlderThan });

test.each<[error: Error, failed: ListAttempt, next: ListAttempt]>([
  [AWAY, attempt('stream', '5'), attempt('stream', '7')],
  [BUSY, attempt('stream', '5'), attempt('stream', '7')],
  [BROKEN, attempt('stream', '5'), attempt('pages', '7')],
  [GONE, attempt('stream', '5'), attempt('pages')],
  [TOO_LARGE, attempt('stream', '5'), attempt('pages')],
  [AWAY, attempt('pages', '5'), attempt('pages', '7')],
  [BUSY, attempt('pages', '5'), attempt('pages', '7')],
  [BROKEN, attempt('pages'), attempt('pages', '7')],
  [GONE, attempt('pages', '5'), attempt('pages')],
  [GONE, attempt('pages'), attempt('whole')],
  [GONE, attempt('whole'), attempt('pages')],
  [AWAY, attempt('whole'), attempt('pages', '7')],
])('listAfter() answers "%s" in the list %j with the list %j', (error, failed, next) => {
  expect(listAfter(error, failed, '7')).toEqual(next);
});
