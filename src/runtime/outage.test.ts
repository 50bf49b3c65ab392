import { expect, onTestFinished, test } from 'vitest';
import { HttpError, type HttpRequest, type HttpResponse, type HttpTransport } from '../base/transport.ts';
import type { AnyObject, Resource } from '../kube/api.ts';
import { createKubeClient } from '../kube/client.ts';
import { LEASES } from '../kube/lease.ts';
import { Reachability } from '../kube/reachability.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { Informer } from './informer.ts';

/* All informers of one process, through the client, with an API server that goes away and comes back. */

const KINDS = ['apples', 'pears', 'plums', 'figs', 'limes', 'dates'];
/** The answers of a restarted API server: first 429, then it knows no older version. */
const INITIALIZING = { status: 429, headers: { 'retry-after': '1' } };
const REFUSED = new HttpError('unreachable', 'Connection refused (ECONNREFUSED)');
/** The answer of a load balancer without a server. */
const RESET = new HttpError('lost', 'Connection reset (ECONNRESET)', { isUnanswered: true });
const OUTDATED = { status: 410, headers: {} };

interface Sent {
  readonly at: number;
  readonly verb: 'list' | 'watch';
  readonly plural: string;
}

function aProcess(namespaces?: readonly string[]) {
  const clock = virtualClock();
  const sent: Sent[] = [];
  const server = {
    /** Undefined: nothing answers. */
    refuse: (_: Sent): { status: number; headers: Record<string, string> } | undefined | 'away' => undefined,
    version: 1,
    away: REFUSED,
    closeWatches: () => {},
  };
  let closing = Promise.withResolvers<void>();
  server.closeWatches = () => {
    closing.resolve();
    closing = Promise.withResolvers();
  };
  const transport: HttpTransport = async ({ url, signal }: HttpRequest): Promise<HttpResponse> => {
    const { pathname, searchParams } = new URL(url);
    if (pathname.includes('/leases/'))
      return { status: 200, headers: {}, body: textOf('{"metadata":{"name":"mooring","resourceVersion":"1"}}') };
    const streams = searchParams.has('sendInitialEvents');
    const verb = searchParams.has('watch') && !streams ? 'watch' : 'list';
    const request: Sent = { at: clock.monotonic(), verb, plural: pathname.split('/').at(-1) ?? '' };
    sent.push(request);
    const refusal = server.refuse(request);
    if (refusal === 'away') throw server.away;
    if (refusal !== undefined) return { ...refusal, body: textOf('{}') };
    const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    const metadata = { resourceVersion: String(server.version), annotations: { 'k8s.io/initial-events-end': 'true' } };
    const end = streams ? `${JSON.stringify({ type: 'BOOKMARK', object: { metadata } })}\n` : '';
    return { status: 200, headers: {}, body: open(end, Promise.race([closing.promise, aborted])) };
  };
  const random = createSeededRandom(7);
  const api = createKubeClient({
    server: 'https://api.test',
    transport,
    authorize: async () => ({}),
    userAgent: 'mooring/test',
    reachability: new Reachability({ clock, random }),
  });
  const failures: string[] = [];
  const stop = new AbortController();
  const running = KINDS.map((plural) => {
    const resource: Resource = { group: 'test', version: 'v1', plural, kind: plural };
    const informer = new Informer<AnyObject>({
      api,
      resource,
      namespaces,
      transform: (object) => object,
      clock,
      random,
      onFailure: (error) => failures.push(String(error)),
    });
    return informer.run(stop.signal);
  });
  onTestFinished(async () => {
    stop.abort();
    await clock.settle();
    await Promise.all(running);
    expect(clock.timers()).toBe(0);
  });
  const goAway = () => {
    server.refuse = () => 'away';
    server.closeWatches();
  };
  /** As after a kill: the first answer of each watch is 429, then it must list. */
  const comeBack = (asked: { status: number; headers: Record<string, string> } = INITIALIZING, times = 1) => {
    const watches = new Map<string, number>();
    server.version++;
    server.refuse = ({ verb, plural }) => {
      if (verb === 'list') return undefined;
      const count = (watches.get(plural) ?? 0) + 1;
      watches.set(plural, count);
      if (count <= times) return asked;
      return count === times + 1 ? OUTDATED : undefined;
    };
  };
  const since = (begin: number) => sent.filter(({ at }) => at >= begin);
  const lists = (begin: number) => since(begin).filter(({ verb }) => verb === 'list');
  /** A write such as a leader's, on a connection that it has kept. */
  const renew = () => api.get(LEASES, { namespace: 'system', name: 'mooring' });
  return { clock, server, goAway, comeBack, sent, since, lists, failures, renew };
}

async function* textOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Ends like a connection whose other side is killed. */
async function* open(text: string, closed: Promise<void>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
  await closed;
  throw new HttpError('lost', 'Connection reset');
}

test.each([
  ['10 s', 10_000, REFUSED],
  ['2 min', 120_000, REFUSED],
  ['an hour', 3_600_000, REFUSED],
  ['an hour behind a load balancer', 3_600_000, RESET],
])('After an API server was away for %s, each informer has listed once within 5 s', async (_, awayMs, away) => {
  for (let run = 0; run < 5; run++) {
    const { clock, server, goAway, comeBack, lists, since } = aProcess();
    server.away = away;
    await clock.advance(300_000 + run * 777);
    goAway();
    await clock.advance(awayMs);
    comeBack();
    const back = clock.monotonic();
    await clock.advance(5_000);
    expect(
      lists(back)
        .map(({ plural }) => plural)
        .sort(),
    ).toEqual([...KINDS].sort());
    await clock.advance(120_000);
    expect(lists(back)).toHaveLength(KINDS.length);
    // 429, 410, and the list, which goes on as a watch.
    expect(since(back)).toHaveLength(3 * KINDS.length);
  }
});

test.each([
  ['all namespaces', undefined],
  ['50 namespaces', Array.from({ length: 50 }, (_, index) => `ns-${index}`)],
])('While the API server is away, informers of %s take turns', async (_, namespaces) => {
  const { clock, goAway, since } = aProcess(namespaces);
  await clock.advance(300_000);
  goAway();
  const begin = clock.monotonic();
  await clock.advance(5_000);
  const begun = since(begin).length;
  expect(begun).toBeLessThanOrEqual(2 * KINDS.length * (namespaces?.length ?? 1) + 5);
  await clock.advance(3_600_000);
  expect(since(begin).length - begun).toBeLessThan(3_600);
});

test('When the API server is back, all go on within a second, no two at the same moment', async () => {
  const { clock, server, goAway, since } = aProcess();
  await clock.advance(300_000);
  goAway();
  await clock.advance(60_000);
  server.refuse = () => undefined;
  const back = clock.monotonic();
  await clock.advance(4_000);
  const moments = since(back).map(({ at }) => at);
  expect(moments).toHaveLength(KINDS.length);
  expect(new Set(moments).size).toBe(KINDS.length);
  expect((moments.at(-1) ?? 0) - (moments[0] ?? 0)).toBeLessThanOrEqual(1_000);
});

test.each([429, 503])('Nobody returns to an API server earlier than its answer %d asks', async (status) => {
  const { clock, goAway, comeBack, since } = aProcess();
  await clock.advance(300_000);
  goAway();
  await clock.advance(60_000);
  comeBack({ status, headers: { 'retry-after': '20' } }, 3);
  const back = clock.monotonic();
  await clock.advance(200_000);
  for (const plural of KINDS) {
    const [first = 0, second = 0, third = 0, fourth = 0] = since(back)
      .filter((request) => request.plural === plural)
      .map(({ at }) => at);
    expect(Math.min(second - first, third - second, fourth - third)).toBeGreaterThanOrEqual(20_000);
  }
});

test('An API server that refuses everything is asked less and less often, however often it goes away', async () => {
  const { clock, server, since } = aProcess();
  await clock.advance(300_000);
  let count = 0;
  server.refuse = () => (count++ % 3 === 0 ? 'away' : { status: 500, headers: {} });
  server.closeWatches();
  await clock.advance(300_000);
  const begin = clock.monotonic();
  await clock.advance(3_600_000);
  expect(since(begin).length / KINDS.length).toBeLessThan(260);
});

test.each([
  ['all namespaces', undefined],
  ['20 namespaces', Array.from({ length: 20 }, (_, index) => `ns-${index}`)],
])('Informers of %s whose watches alone get no answer ask less and less often', async (_, namespaces) => {
  const { clock, goAway, since, renew } = aProcess(namespaces);
  await clock.advance(300_000);
  goAway();
  const begin = clock.monotonic();
  const rest = async (turns: number) => {
    for (let turn = 0; turn < turns; turn++) {
      await clock.advance(2_000);
      await renew();
    }
  };
  await rest(150);
  const later = clock.monotonic();
  await rest(600);
  const count = KINDS.length * (namespaces?.length ?? 1);
  // Each as often as after other failures: every 15 to 30 s.
  expect(since(begin).length - since(later).length).toBeLessThan(count * 30);
  expect(since(later).length).toBeLessThan(count * 90);
  expect(since(later).length).toBeGreaterThan(count * 30);
});
