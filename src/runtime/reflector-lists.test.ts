import { expect, test } from 'vitest';
import { added, OPEN, object, page, play, tooOld } from '../../test/support/scripted-watch.ts';
import { HttpError } from '../base/transport.ts';
import { KubeError, type WatchEvent } from '../kube/api.ts';

test('A reflector reports a list page by page, and at the end what exists', async () => {
  const lists = [page(7, [object('a', 3)], 'next'), page(7, [object('b', 4)])];
  const { clock, calls, events } = play({ lists, watches: [OPEN], streams: false });
  await clock.settle();
  expect(calls).toEqual(['list -', 'list - next', 'watch 7']);
  expect(events).toEqual([
    { type: 'listing', isNewest: true },
    { type: 'applied', object: object('a', 3) },
    { type: 'applied', object: object('b', 4) },
    { type: 'listed', keys: new Set(['ns/a', 'ns/b']), resourceVersion: expect.any(String) },
  ]);
});

test('A reflector whose stream breaks before the list is complete lists in pages, and streams again the next time', async () => {
  const cut = page(7, [object('a', 3)], 'cut');
  const lists = [cut, page(8, [object('a', 3)], 'next'), page(8, [object('b', 4)]), page(30), cut, page(31)];
  const { clock, calls, failures } = play({ lists, watches: [{ end: tooOld }, OPEN], streams: true });
  await clock.advance(60_000);
  expect(calls).toEqual(['list -', 'list -', 'list - next', 'watch 8', 'list 8', 'watch 30']);
  expect(failures.map(({ error }) => String(error))).toEqual([
    'HttpError: The list of secrets ended before it was complete',
    'KubeError: too old resource version',
  ]);
});

test('A reflector whose pages expire again and again lists in one answer, and reports only what that contains', async () => {
  const first = page(7, [object('gone', 3), object('a', 4)], 'next');
  const lists = [first, tooOld, first, tooOld, page(30, [object('a', 4)])];
  const { clock, ways, calls, events, failures } = play({ lists, watches: [OPEN], streams: false });
  await clock.advance(60_000);
  expect(ways).toEqual(['pages', 'pages', 'pages', 'pages', 'whole']);
  expect([calls.at(-1), events.at(-1), failures.length]).toEqual([
    'watch 30',
    { type: 'listed', keys: new Set(['ns/a']), resourceVersion: expect.any(String) },
    2,
  ]);
});

test('A reflector lists in pages again if one answer for everything fails', async () => {
  const pages = [page(7, [object('a', 3)], 'next'), tooOld];
  const lists = [...pages, ...pages, new KubeError('too much', { status: 500 }), page(9)];
  const { clock, ways, calls } = play({ lists, watches: [OPEN], streams: false });
  await clock.advance(60_000);
  expect([ways.slice(-2), calls.at(-1)]).toEqual([['whole', 'pages'], 'watch 9']);
});

test.each([
  { what: 'fails', error: new KubeError('no progress', { status: 500 }), way: 'pages' },
  { what: 'asks for patience', error: new KubeError('busy', { status: 429 }), way: 'stream' },
  { what: 'is not there', error: new HttpError('unreachable', 'Connection refused'), way: 'stream' },
])('A reflector whose API $what when asked to stream a list then asks for $way', async ({ error, way }) => {
  const { clock, ways, failures } = play({ lists: [error, page(7)], watches: [OPEN], streams: true });
  await clock.advance(60_000);
  expect([ways, failures.length]).toEqual([['stream', way], 1]);
});

test('A reflector says that an object does not exist if it was deleted during the list', async () => {
  const stream: WatchEvent[] = [
    added('a', 3),
    added('b', 4),
    { type: 'DELETED', object: object('a', 8) },
    { type: 'BOOKMARK', resourceVersion: '8', endsInitialEvents: true },
  ];
  const { clock, api, events } = play({ lists: [], watches: [OPEN], streams: true });
  api.watch = async function* () {
    yield* stream;
    await new Promise(() => {});
  };
  await clock.settle();
  expect(events.slice(-2)).toEqual([
    { type: 'deleted', object: object('a', 8) },
    { type: 'listed', keys: new Set(['ns/b']), resourceVersion: expect.any(String) },
  ]);
});

test('A reflector whose list broke asks for the newest version that it reported, whatever came last', async () => {
  const { clock, calls } = play({
    lists: [page(7), page(40, [object('z', 35), object('a', 12)], 'more'), page(50)],
    watches: [{ end: tooOld, afterMs: 60_000 }, OPEN],
    streams: true,
  });
  await clock.advance(120_000);
  expect(calls.slice(2)).toEqual(['list 7', 'list 35', 'watch 50']);
});

test('A reflector ends the stream after a list that could not be handled', async () => {
  let fails = true;
  const onEvent = async ({ type }: { readonly type: string }) => {
    if (type !== 'listed' || !fails) return;
    fails = false;
    throw new Error('Cannot take it in');
  };
  const { clock, counts } = play({ lists: [page(7)], watches: [OPEN], streams: true, more: { onEvent } });
  await clock.settle();
  expect(counts).toEqual({ list: 1, watch: 0, ended: 1 });
});

test('A reflector that is stopped while a list is being handled ends the stream', async () => {
  let take = () => {};
  const took = () => new Promise<void>((resolve) => (take = resolve));
  const { clock, counts, stop, running } = play({ lists: [page(7)], watches: [OPEN], streams: true, took });
  await clock.settle();
  stop.abort();
  take();
  await running;
  expect(counts).toEqual({ list: 1, watch: 0, ended: 1 });
});
