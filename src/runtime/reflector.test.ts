import { describe, expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import {
  added,
  away,
  OPEN,
  object,
  type Play,
  page,
  play,
  type ScriptedWatch,
  tooOld,
} from '../../test/support/scripted-watch.ts';
import { sleep } from '../base/clock.ts';
import { HttpError } from '../base/transport.ts';
import { KubeError, type WatchEvent } from '../kube/api.ts';

describe.each([true, false])('With an API that streams lists (%s)', (streams) => {
  const aReflector = (lists: Play['lists'], watches: Play['watches'], took?: Play['took']) =>
    play({ lists, watches, streams, took });

  test('A reflector lists, then watches from the version of the list', async () => {
    const { clock, calls, events } = aReflector(
      [page(7, [object('a', 3)])],
      [{ events: [added('b', 8)], end: 'open' }],
    );
    await clock.settle();
    expect(calls).toEqual(['list -', 'watch 7']);
    expect(events).toEqual([
      { type: 'listing', isNewest: true },
      { type: 'applied', object: object('a', 3) },
      { type: 'listed', keys: new Set(['ns/a']), resourceVersion: expect.any(String) },
      { type: 'applied', object: object('b', 8) },
    ]);
  });

  test('A reflector reports deletions', async () => {
    const events: WatchEvent[] = [{ type: 'DELETED', object: object('a', 9) }];
    const reflector = aReflector([page(7)], [{ events, end: 'open' }]);
    await reflector.clock.settle();
    expect(reflector.events.at(-1)).toEqual({ type: 'deleted', object: object('a', 9) });
  });

  test('A reflector whose watch the server closes goes on at once from the last version it saw, including bookmarks', async () => {
    const lived = { end: 'close', afterMs: 100_000 } as const;
    const bookmark: WatchEvent = { type: 'BOOKMARK', resourceVersion: '40' };
    const { clock, calls, events, failures } = aReflector(
      [page(7)],
      [{ events: [added('a', 8)], ...lived }, { events: [bookmark], ...lived }, OPEN],
    );
    await clock.advance(200_000);
    expect(calls).toEqual(['list -', 'watch 7', 'watch 8', 'watch 40']);
    expect(events.map(({ type }) => type)).toEqual(['listing', 'listed', 'applied']);
    expect(failures).toEqual([]);
  });

  const tooLarge = new KubeError('Too large resource version', {
    status: 504,
    reason: 'Timeout',
    causes: ['ResourceVersionTooLarge'],
  });
  const silent: ScriptedWatch = { end: 'close', afterMs: 240_000 };

  test.each([
    ['closed', 'close'],
    ['cut by a proxy', new HttpError('lost', 'other side closed')],
  ] as const)(
    'A reflector whose silent watches are %s every minute notices that the server was restored to an older state',
    async (_how, end) => {
      const idle: ScriptedWatch = { end, afterMs: 60_000 };
      const { clock, calls } = aReflector([page(7), tooLarge, page(5)], [idle, idle, OPEN]);
      await clock.advance(300_000);
      expect(calls.slice(-4)).toEqual(['watch 7', 'list 7', 'list -', 'watch 5']);
    },
  );

  test('A reflector whose watch is silent notices that the server was restored to an older state, and lists the present one', async () => {
    const { clock, calls, events } = aReflector([page(7), tooLarge, page(5, [object('a', 4)])], [silent, OPEN]);
    await clock.advance(300_000);
    expect(calls).toEqual(['list -', 'watch 7', 'list 7', 'list -', 'watch 5']);
    expect(events.filter(({ type }) => type !== 'listed').slice(-2)).toEqual([
      { type: 'listing', isNewest: true },
      { type: 'applied', object: object('a', 4) },
    ]);
  });

  test.each([
    ['is as new', page(7)],
    ['cannot be asked', new HttpError('lost', 'Connection reset')],
    ['is overloaded', new KubeError('Gateway Timeout', { status: 504 })],
  ])('A reflector whose watch is silent keeps watching if the server %s', async (_what, answer) => {
    const { clock, calls, events, failures } = aReflector([page(7), answer], [silent, OPEN]);
    await clock.advance(300_000);
    expect(calls).toEqual(['list -', 'watch 7', 'list 7', 'watch 7']);
    expect([events.map(({ type }) => type), failures]).toEqual([['listing', 'listed'], []]);
  });

  test('A reflector that is too far behind lists again, at least as new as what it saw', async () => {
    const { clock, calls, failures } = aReflector(
      [page(7), page(30)],
      [{ events: [added('a', 9)], end: tooOld }, OPEN],
    );
    await clock.advance(10_000);
    expect(calls).toEqual(['list -', 'watch 7', 'list 9', 'watch 30']);
    expect(failures).toHaveLength(1);
  });

  test.each([
    { what: '410', error: tooOld },
    { what: '504', error: new KubeError('Too large resource version', { status: 504, reason: 'Timeout' }) },
  ])('A reflector whose list cannot be as new as requested ($what) requests one without that', async ({ error }) => {
    const { clock, calls } = aReflector([page(7), error, page(5)], [{ end: tooOld }, OPEN]);
    await clock.advance(60_000);
    expect(calls).toEqual(['list -', 'watch 7', 'list 7', 'list -', 'watch 5']);
  });

  test('A reflector whose list fails for another reason keeps asking for one as new', async () => {
    const { clock, calls } = aReflector(
      [page(7), new KubeError('broken', { status: 500 }), page(8)],
      [{ end: tooOld }, OPEN],
    );
    await clock.advance(60_000);
    expect(calls).toEqual(['list -', 'watch 7', 'list 7', 'list 7', 'watch 8']);
  });

  test.each([429, 503])('A reflector waits as long as an answer %d asks for', async (status) => {
    const busy = new KubeError('storage is (re)initializing', { status, retryAfterMs: 20_000 });
    const { clock, calls, failures } = aReflector([page(7)], [{ end: busy }, OPEN]);
    await clock.advance(19_999);
    expect(calls).toEqual(['list -', 'watch 7']);
    await clock.advance(1);
    expect(calls).toEqual(['list -', 'watch 7', 'watch 7']);
    expect(failures).toEqual([{ error: busy, retryInMs: 20_000 }]);
  });

  test('A reflector never gives up on a server that fails, and asks less and less often', async () => {
    const { clock, calls, failures } = aReflector([new HttpError('lost', 'Connection reset')], [OPEN]);
    await clock.advance(3_600_000);
    expect(failures.slice(0, 7).map(({ retryInMs }) => retryInMs)).toEqual([
      400, 800, 1_600, 3_200, 6_400, 12_800, 15_000,
    ]);
    expect(calls.length).toBeGreaterThan(200);
    expect(calls.length).toBeLessThan(260);
  });

  test('A reflector whose watches a proxy cuts goes on watching just as soon each time', async () => {
    const end = new HttpError('lost', 'other side closed');
    const cut = (version: number) => ({ events: [added('a', version)], end, afterMs: 60_000 });
    const { clock, calls, failures } = aReflector([page(7)], [8, 9, 10, 11, 12].map(cut));
    await clock.advance(302_000);
    expect(calls).toEqual(['list -', 'watch 7', 'watch 8', 'watch 9', 'watch 10', 'watch 11', 'watch 12']);
    expect(failures).toEqual(Array(5).fill({ error: end, retryInMs: 400 }));
  });

  test.each([
    ['refuses', new HttpError('unreachable', 'Connection refused')],
    ['resets', new HttpError('lost', 'Connection reset', { isUnanswered: true })],
  ])('A reflector soon retries a server that %s, as the client makes all reflectors take turns', async (_, end) => {
    const refused = { ...away(false), end };
    const { clock, calls, failures } = aReflector([page(7)], [{ ...away(true), end }, ...Array(8).fill(refused), OPEN]);
    await clock.advance(60_000);
    expect(calls.filter((call) => call === 'watch 7')).toHaveLength(10);
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual(Array(9).fill(400));
  });

  test('A reflector asks a server that others can reach less and less often, from its third failure on', async () => {
    const some = [
      away(true),
      away(true),
      away(false),
      away(true),
      away(true),
      away(false),
      ...Array(4).fill(away(true)),
    ];
    const { clock, failures } = aReflector([page(7)], [...some, { end: 'close', afterMs: 2_000 }, away(true), OPEN]);
    await clock.advance(200_000);
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([
      400, 400, 400, 800, 1_600, 1_600, 3_200, 6_400, 12_800, 15_000, 400,
    ]);
  });

  test('The time that a watch waited for its turn does not make it healthy', async () => {
    const turn = { afterMs: 300_000, isReached: true };
    const { clock, failures } = aReflector([page(7)], [{ end: new KubeError('busy', { status: 503 }), turn }]);
    await clock.advance(1_000_000);
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([400, 800, 1_600]);
  });

  test('A reflector that is told to list does so soon, however often its watches failed before', async () => {
    const busy = { end: new KubeError('storage is (re)initializing', { status: 429 }) };
    const { clock, calls, failures } = aReflector([page(7), page(30)], [busy, busy, busy, { end: tooOld }, OPEN]);
    await clock.advance(60_000);
    expect(calls.at(-1)).toBe('watch 30');
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([400, 800, 1_600, 400]);
  });

  test.each([
    { what: 'closes', end: 'close' as const },
    { what: 'breaks', end: new HttpError('lost', 'Connection reset') },
    { what: 'is too old', end: tooOld },
  ])('A reflector is not hot when each watch $what at once', async ({ end }) => {
    const { clock, calls } = aReflector([page(7)], [{ end }]);
    await clock.advance(3_600_000);
    expect(calls.length).toBeGreaterThan(200);
    expect(calls.length).toBeLessThan(600);
  });

  test('A reflector starts with short delays again after a watch that worked for long', async () => {
    const broken: ScriptedWatch = { end: new HttpError('lost', 'Connection reset') };
    const { clock, failures } = aReflector([page(7)], [broken, broken, broken, { ...broken, afterMs: 120_000 }, OPEN]);
    await clock.advance(200_000);
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([400, 800, 1_600, 400]);
  });

  test('A reflector whose list broke asks for one as new as what it has already reported', async () => {
    const broken = streams ? [] : [new HttpError('lost', 'Connection reset')];
    const lists = [page(7), page(40, [object('z', 35)], 'more'), ...broken, page(50)];
    const { clock, calls } = aReflector(lists, [{ end: tooOld, afterMs: 60_000 }, OPEN]);
    await clock.advance(120_000);
    expect(calls.slice(2).filter((call) => !call.endsWith('more'))).toEqual(['list 7', 'list 35', 'watch 50']);
  });

  test('A reflector that asked for the present state asks for that again if the list broke: the server may have been restored', async () => {
    const broken = streams ? [] : [new HttpError('lost', 'Connection reset')];
    const { clock, calls } = aReflector([page(40, [object('z', 35)], 'more'), ...broken, page(9)], [OPEN]);
    await clock.advance(60_000);
    expect(calls.filter((call) => !call.endsWith('more'))).toEqual(['list -', 'list -', 'watch 9']);
  });

  test('A reflector that may list but not watch lists again and again, less and less often', async () => {
    const refused = new KubeError('cannot watch resource "secrets"', { status: 403, reason: 'Forbidden' });
    const { clock, calls, events } = aReflector([page(7), page(8), page(9, [object('a', 9)])], [{ end: refused }]);
    await clock.advance(3_600_000);
    expect(calls.slice(0, 6)).toEqual(['list -', 'watch 7', 'list 7', 'watch 8', 'list 8', 'watch 9']);
    expect(events).toContainEqual({ type: 'applied', object: object('a', 9) });
    expect(calls.length).toBeLessThan(600);
  });

  test.each([401, 429, 500])('A reflector whose watch is answered with %d asks for it again', async (status) => {
    const { clock, calls } = aReflector([page(7)], [{ end: new KubeError('not now', { status }) }, OPEN]);
    await clock.advance(60_000);
    expect(calls).toEqual(['list -', 'watch 7', 'watch 7']);
  });

  test.each([
    ['fail at once', { end: new KubeError('cannot decode', { status: 500 }) }],
    ['are given up by a proxy', { end: new KubeError('Gateway Timeout', { status: 504 }), afterMs: 20_000 }],
  ] as const)('A reflector whose watches all %s lists, and goes on from there', async (_how, fails) => {
    const { clock, calls } = aReflector([page(7), page(9)], [fails, fails, fails, fails, fails, OPEN]);
    await clock.advance(300_000);
    expect(calls).toEqual(['list -', ...Array(5).fill('watch 7'), 'list 7', 'watch 9']);
  });

  test('A reflector whose watches all end at once, as behind a proxy without streaming, lists, and says so', async () => {
    const { clock, calls, failures } = aReflector([page(7), page(9, [object('a', 9)])], [{ end: 'close' }]);
    await clock.advance(3_600_000);
    expect(calls.slice(0, 7)).toEqual(['list -', ...Array(5).fill('watch 7'), 'list 7']);
    const lists = calls.filter((call) => call.startsWith('list')).length;
    expect(lists).toBeGreaterThan(10);
    expect(failures[0]?.error).toEqual(new Error('Watches end at once, without any event'));
    // Before each list that follows, not for each watch.
    expect(failures.length).toBeLessThanOrEqual(lists);
  });

  test.each([
    ['are cut off after a minute', new HttpError('lost', 'Connection reset'), 60_000],
    ['are answered 429', new KubeError('not now', { status: 429 }), 0],
  ])('A reflector whose watches all %s goes on without a list', async (_how, end, afterMs) => {
    const { clock, calls } = aReflector([page(7)], [{ events: [added('a', 8)], end, afterMs }]);
    await clock.advance(3_600_000);
    expect(calls.length).toBeGreaterThan(40);
    expect(calls.filter((call) => call.startsWith('list'))).toEqual(['list -']);
  });

  test('A reflector of an API that vanishes lists, and goes on once the API is back', async () => {
    const vanished = new KubeError('the server could not find the requested resource', { status: 404 });
    const { clock, calls, failures } = aReflector(
      [page(7), vanished, vanished, page(90)],
      [{ end: vanished, afterMs: 60_000 }, OPEN],
    );
    await clock.advance(120_000);
    expect(calls).toEqual(['list -', 'watch 7', 'list 7', 'list 7', 'list 7', 'watch 90']);
    expect(failures.map(({ error }) => error)).toEqual([vanished, vanished, vanished]);
  });

  test('A reflector that reports thousands of objects lets others have their turn every few milliseconds', async () => {
    const objects = Array.from({ length: 500 }, (_, index) => object(`name-${index}`, index + 1));
    let workedMs = 0;
    const { clock, events } = aReflector([page(500, objects)], [OPEN], async () => {
      workedMs += 1;
    });
    const { monotonic } = clock;
    Object.assign(clock, { monotonic: () => monotonic() + workedMs });
    let [most, told] = [0, 0];
    while (events.at(-1)?.type !== 'listed') {
      await new Promise((resolve) => setImmediate(resolve));
      [most, told] = [Math.max(most, events.length - told), events.length];
    }
    await clock.settle();
    expect(told).toBe(502);
    expect(most).toBeLessThanOrEqual(4);
  });

  test('A reflector that cannot read a list to its end does not say what exists', async () => {
    const { clock, events } = aReflector([page(7, [object('a', 3)], 'next'), tooOld, page(9)], [OPEN]);
    await clock.settle();
    expect(events.map(({ type }) => type)).toEqual(['listing', 'applied']);
    await clock.advance(5_000);
    expect(events.at(-1)).toEqual({ type: 'listed', keys: new Set(), resourceVersion: expect.any(String) });
  });

  test('A reflector reads nothing more until its events have been handled', async () => {
    let take = () => {};
    const { clock, calls } = aReflector([page(7)], [OPEN], () => new Promise((resolve) => (take = resolve)));
    await clock.advance(60_000);
    expect(calls).toEqual(['list -']);
    take();
    await clock.settle();
    expect(calls).toEqual(['list -', 'watch 7']);
  });

  test('A reflector says whether a list may go back behind what was seen: only one that could not be as new as requested', async () => {
    const tooLarge = new KubeError('Too large resource version', { status: 504, reason: 'Timeout' });
    const pages = [page(7, [object('a', 7)]), page(8, [object('a', 8)]), tooLarge, page(5, [object('a', 5)])];
    const { clock, events } = aReflector(pages, [{ end: tooOld }]);
    await clock.advance(5_000);
    const told = events.flatMap((event) => (event.type === 'listing' ? [event.isNewest] : []));
    expect(told.slice(0, 4)).toEqual([true, false, false, true]);
  });

  test('A reflector reads nothing more from a watch until its events have been handled', async () => {
    let take = () => {};
    const took = () => new Promise<void>((resolve) => (take = resolve));
    const watched = [{ events: [added('a', 8), added('b', 9)], end: 'open' as const }];
    const { clock, events } = aReflector([page(7)], watched, took);
    const told = async () => {
      await clock.settle();
      return events.length;
    };
    const counts = [await told()];
    for (let step = 0; step < 2; step++) {
      take();
      counts.push(await told());
    }
    expect(counts).toEqual([2, 3, 4]);
  });

  test('A reflector goes on with the stream that listed, or with one watch, for the same objects', async () => {
    const scope = { namespace: 'ns', name: 'a', metadataOnly: true };
    const random = { ...noChance, float: () => 1 };
    const more = { ...scope, random };
    const { clock, asked } = play({ lists: [page(7)], watches: [OPEN], streams, more });
    await clock.settle();
    // Without streamed lists: the refused request, the list, the watch.
    expect(asked).toMatchObject(Array(streams ? 1 : 3).fill(scope));
    expect(asked[0]).toMatchObject({ timeoutSeconds: 360 });
  });

  test('A reflector reports that it will list before it asks, and asks once that is handled', async () => {
    let take = () => {};
    const onEvent = () => new Promise<void>((resolve) => (take = resolve));
    const { clock, asked } = play({ lists: [page(7)], watches: [OPEN], streams, more: { onEvent } });
    await clock.settle();
    expect(asked).toEqual([]);
    take();
    await clock.settle();
    expect(asked.length).toBeGreaterThan(0);
  });

  test.each([
    ['watch that the server closed after two seconds', { end: 'close', afterMs: 2_000 }, 2_000],
    [
      'watch that failed after two minutes',
      { end: new KubeError('etcd is away', { status: 500 }), afterMs: 120_000 },
      120_400,
    ],
  ] as const)('A reflector that must list after a %s does so soon', async (_what, healthy, livedMs) => {
    const failing = [tooOld, tooOld, tooOld];
    const { clock, failures } = aReflector(
      [new KubeError('no', { status: 500 }), new KubeError('no', { status: 500 }), page(7), ...failing, page(9)],
      [healthy, { end: tooOld }, OPEN],
    );
    await clock.advance(livedMs + 60_000);
    // The two failed lists before no longer count.
    const delays = failures.map(({ retryInMs }) => retryInMs);
    expect(delays.slice(-4)).toEqual([400, 800, 1_600, 3_200]);
  });

  test('A list that takes long does not make watches healthy that fail after it', async () => {
    const { clock, failures } = aReflector([page(7)], [{ end: tooOld }], async () => {
      await sleep(clock, 150_000);
    });
    await clock.advance(1_000_000);
    expect(failures.map(({ retryInMs }) => retryInMs).slice(0, 4)).toEqual([400, 800, 1_600, 3_200]);
  });

  test('A reflector loses nothing when a watch breaks within a line: it goes on from the last whole one', async () => {
    const broken = { events: [added('a', 8), added('b', 9)], end: new HttpError('lost', 'Answer is not JSON') };
    const { clock, calls } = aReflector([page(7)], [broken, OPEN]);
    await clock.advance(1_000);
    expect(calls).toEqual(['list -', 'watch 7', 'watch 9']);
  });

  test('A reflector stops when told to, in a watch or in a pause, and leaves no timer', async () => {
    for (const script of [OPEN, { end: tooOld }]) {
      const { clock, stop, running, calls } = aReflector([page(7)], [script]);
      await clock.settle();
      const before = calls.length;
      stop.abort();
      await running;
      expect(clock.timers()).toBe(0);
      await clock.advance(60_000);
      expect(calls.length).toBe(before);
    }
  });
});
