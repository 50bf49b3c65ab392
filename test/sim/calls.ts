/* What a process calls, with the faults that strike there: the Kubernetes API, and the transport to clouds and servers. */

import { sleep } from '../../src/base/clock.ts';
import { LEADER_LEASE } from '../../src/base/lease-names.ts';
import {
  HttpError,
  type HttpRequest,
  type HttpResponse,
  type HttpTransport,
  withheld,
} from '../../src/base/transport.ts';
import {
  type AnyObject,
  type KubeApi,
  KubeError,
  type ObjectRef,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../src/kube/api.ts';
import { Reachability } from '../../src/kube/reachability.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { type Effect, FAILURES, type Fault } from './faults.ts';
import type { Process, Surroundings } from './process.ts';
import { answerWith, halfOf, kubeAnswerWith, page, refusal, refusalOf, STATUSES } from './reads.ts';

/** How many events are repeated, in their order, when they come twice. */
const REPLAYED = 5;

const never = () => new Promise<never>(() => {});
const lost = (what: string) => new HttpError('lost', what);

/** Resolves when the process runs; never if it is dead. */
async function resumed(process: Process): Promise<void> {
  await process.clock.running();
  if (!process.alive) await never();
}

/** Like `resumed`, before something is sent. After a freeze the fence is asked first, as if the process had come to it only then. */
async function released(process: Process, world: Surroundings): Promise<void> {
  const asked = world.now();
  await resumed(process);
  const reason = world.now() === asked ? undefined : process.fence();
  if (reason !== undefined) throw withheld(reason);
}

/** Carries out one effect, with its fault. */
async function carryOut<T>(
  process: Process,
  world: Surroundings,
  effect: Omit<Effect, 'index'>,
  work: (attended: boolean) => Promise<T>,
  failure: (fault: Fault, isHeld?: boolean) => T | undefined,
  cut: (answer: T) => T = (answer) => answer,
): Promise<T> {
  const spoilt = (by: Fault) => {
    const answer = by === 'lostAnswer' ? undefined : failure(by, true);
    if (answer === undefined) throw lost('The answer was lost');
    return answer;
  };
  await released(process, world);
  const fault = await world.before(process, effect);
  // Meanwhile another effect of this process may have ended it.
  await released(process, world);
  if (fault === 'crashBefore') {
    world.crash(process);
    return never();
  }
  if ((fault !== undefined && FAILURES.has(fault)) || world.fails()) {
    const failed = failure(fault ?? 'serverError');
    if (failed !== undefined) return failed;
  }
  if (fault === 'lateLanding') {
    world.landLater(effect.what, () => work(false));
    throw lost('The answer was lost');
  }
  await world.travel();
  const undone = await world.held(process, effect.what, 'asked');
  if (process.isStill) await released(process, world);
  // What has left arrives although its process has ended meanwhile.
  const answer = undone === undefined ? await settled(work(process.alive)) : () => spoilt(undone);
  world.after(process);
  const unheard = await world.held(process, effect.what, 'answered');
  if (fault === 'crashAfter' || fault === 'crashTwice' || fault === 'upgrade') world.crash(process);
  if (fault === 'freeze' || fault === 'suspendMachine' || fault === 'stopMachine') world.freeze(process, fault);
  await world.travel();
  await resumed(process);
  if (unheard !== undefined) return spoilt(unheard);
  if (fault === 'lostAnswer') throw lost('The answer was lost');
  if (fault === 'truncated') return cut(answer());
  return (fault === 'gatewayTimeout' && failure(fault)) || answer();
}

/** Resolves with a function that returns the answer or throws the error. */
function settled<T>(work: Promise<T>): Promise<() => T> {
  return work.then(
    (answer) => () => answer,
    (error: unknown) => () => {
      throw error;
    },
  );
}

function kubeFailure(fault: Fault): never {
  if (fault === 'reset') throw lost('Connection broke before the request arrived');
  if (fault === 'gatewayTimeout')
    throw new KubeError('the server was unable to return a response in the time allotted', {
      status: 504,
      reason: 'Timeout',
    });
  const status = STATUSES[fault];
  if (status !== undefined) throw refusalOf('write', status);
  if (fault === 'conflict')
    throw new KubeError('the object has been modified; please apply your changes to the latest version', {
      status: 409,
      reason: 'Conflict',
    });
  throw new KubeError('etcdserver: leader changed', { status: 500, reason: 'InternalError' });
}

/** Returns the API as this process reaches it. */
export function apiOf(process: Process, world: Surroundings, api: KubeApi): KubeApi {
  const reachability = new Reachability({ clock: process.clock, random: createSeededRandom(process.number) });
  const reach = () => {
    if (world.weather.is('apiOutage') || world.isPartitioned(process)) {
      reachability.notReached();
      throw new HttpError('unreachable', 'Connection refused (ECONNREFUSED)');
    }
    reachability.reached();
  };
  const write = <T>(
    resource: Resource,
    { namespace = '', name }: ObjectRef,
    what: string,
    work: () => Promise<T>,
    labels?: Effect['labels'],
  ) => {
    const reached = async () => {
      reach();
      return work();
    };
    // Leases are the elector's business: they are written all the time, and only the weather strikes them.
    if (resource.plural === 'leases')
      return name === (process.lease ?? LEADER_LEASE) ? renewal(() => read(reached)) : read(reached);
    return carryOut(process, world, { to: 'kube', what, namespace, ...(labels && { labels }) }, reached, (fault) =>
      fault === 'conflict' && !what.startsWith('patch') ? undefined : kubeFailure(fault),
    );
  };
  const renewal = async <T>(work: () => Promise<T>): Promise<T> => {
    const { clock } = process;
    const asked = { at: world.now(), monotonic: clock.monotonic(), wall: clock.now() };
    const answer = await work();
    process.renewedAt = asked;
    return answer;
  };
  const read = async <T>(work: () => Promise<T>, what?: string): Promise<T> => {
    await resumed(process);
    await world.travel();
    const unseen = what === undefined ? undefined : await world.held(process, what, 'asked');
    reach();
    if (unseen !== undefined || world.fails()) kubeFailure(unseen ?? 'serverError');
    const answer = await settled(work());
    if (what !== undefined) await world.held(process, what, 'answered');
    await world.travel();
    await resumed(process);
    return answer();
  };
  const told = (object: AnyObject) => {
    world.told(process, object);
    return object;
  };
  /** Resolves if no fault strikes the look. */
  const look = async (what: string, signal: AbortSignal | undefined): Promise<void> => {
    const fault = world.beforeRead(process, { to: 'kube', what });
    if (fault !== undefined) await kubeAnswerWith(fault, what, (ms) => sleep(process.clock, ms, signal));
  };
  return {
    get: async (resource, ref, signal, options) => {
      const object = await read(
        async () => {
          if (resource.plural !== 'leases') await look(`get ${resource.plural}/${ref.name}`, signal);
          return api.get(resource, ref, undefined, options);
        },
        resource.plural === 'leases' ? undefined : `get ${resource.plural}/${ref.name}`,
      );
      return object && told(object);
    },
    list: async (resource, options, signal) => {
      if (signal !== undefined) options.onTurn?.(await reachability.turn(signal));
      const page = await read(async () => {
        if (resource.plural !== 'leases') await look(`list ${resource.plural}`, signal);
        return api.list(resource, options);
      });
      page.items.forEach(told);
      return page;
    },
    async *watch(resource, options, signal) {
      if (signal !== undefined) options.onTurn?.(await reachability.turn(signal));
      const begin = async () => {
        reach();
        // Today's way to list is the beginning of a watch.
        if (options.sendInitialEvents) await look(`list ${resource.plural}`, signal);
      };
      yield* watch(process, world, api, resource, options, begin, signal);
    },
    create: (resource, namespace, object) => {
      const { name = '', labels } = metadataOf(object);
      // With shards the first Lease is its own, the second the common one.
      if (resource.plural === 'leases') process.lease ??= name;
      return write(
        resource,
        { namespace, name },
        `create ${resource.plural}/${name}`,
        () => api.create(resource, namespace, object),
        labels,
      );
    },
    patch: (resource, ref, patch, options) => {
      const what = `patch ${resource.plural}/${ref.name} ${options?.subresource ?? ''} ${keysOf(patch)}`;
      const isHold = what.includes('finalizers');
      if (isHold) world.holding(resource, ref, false);
      const arrived = () => {
        if (isHold) world.holding(resource, ref, true);
        return api.patch(resource, ref, patch, options);
      };
      return write(resource, ref, what, arrived).then(told);
    },
    delete: (resource, ref, preconditions) =>
      write(resource, ref, `delete ${resource.plural}/${ref.name}`, () => api.delete(resource, ref, preconditions)),
  };
}

async function* watch(
  process: Process,
  world: Surroundings,
  api: KubeApi,
  resource: Resource,
  options: WatchOptions,
  begin: () => Promise<void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent> {
  const { weather } = world;
  const isBroken = () => weather.is('apiOutage') || weather.is('gap');
  await resumed(process);
  await world.travel();
  await begin();
  if (isBroken()) throw lost('Connection broke (ECONNRESET)');
  const end = new AbortController();
  const cancel = process.clock.after(options.timeoutSeconds * 1000, () => end.abort());
  const onAbort = () => end.abort();
  signal?.addEventListener('abort', onAbort);
  const recent: WatchEvent[] = [];
  try {
    for await (const event of api.watch(resource, options, end.signal)) {
      // An event that comes while the process is cut off is lost: afterwards it finds the connection broken.
      const deaf = world.isPartitioned(process);
      const heldMs = weather.remainingMs('stale');
      if (heldMs > 0) await sleep(process.clock, heldMs);
      await world.travel();
      if (deaf) await sleep(process.clock, process.partitionedUntil - process.clock.monotonic());
      await resumed(process);
      if (deaf || isBroken()) throw lost('Connection broke (ECONNRESET)');
      if (event.type !== 'BOOKMARK') world.told(process, event.object);
      yield event;
      // No server brings back an object after reporting its deletion.
      if (event.type === 'DELETED') recent.length = 0;
      recent.push(event);
      if (recent.length > REPLAYED) recent.shift();
      if (weather.is('duplicate')) yield* recent;
    }
    if (isBroken()) throw lost('Connection broke (ECONNRESET)');
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Returns HTTP as this process sends it. `isCloud`: to the management API, not to a server. */
export function transportOf(
  process: Process,
  world: Surroundings,
  transport: HttpTransport,
  isCloud: (origin: string) => boolean,
): HttpTransport {
  return async (request) => {
    const { origin, pathname } = new URL(request.url);
    const send = async (sent = request) => {
      const out = isCloud(origin) ? 'cloudOutage' : 'serverOutage';
      // Asked right before the first byte is sent, as by the real transport.
      const refusal = sent.refusal?.();
      if (refusal !== undefined) throw withheld(refusal);
      if (world.weather.is(out)) throw new HttpError('unreachable', `${request.method} ${origin}: ECONNREFUSED`);
      return transport(sent);
    };
    if (request.method !== 'GET') {
      const { signal: _, refusal: __, ...unattended } = request;
      const what = `${request.method} ${pathname}`;
      return carryOut(
        process,
        world,
        { to: 'http', what, url: request.url },
        // The sender has given up a request that lands late.
        (attended) => send(attended ? request : unattended),
        // What was sent twice on its way took effect, and meets itself.
        (fault, isHeld) => (isHeld && fault === 'conflict' ? refusal(409) : httpFailure(fault, request)),
        (answer) => ({ ...answer, body: halfOf(answer.body) }),
      );
    }
    await resumed(process);
    await world.travel();
    if (world.fails()) throw lost(`${request.method} ${origin}: ECONNRESET`);
    const fault = world.beforeRead(process, { to: 'http', what: `GET ${pathname}` });
    const pause = (ms: number) => sleep(process.clock, ms, request.signal);
    const unseen = await world.held(process, `GET ${pathname}`, 'asked');
    const looked = () => (fault === undefined ? send() : answerWith(fault, request, send, pause));
    const failed = unseen && httpFailure(unseen, request);
    const answer = failed === undefined ? await settled(looked()) : () => failed;
    await world.held(process, `GET ${pathname}`, 'answered');
    await world.travel();
    await resumed(process);
    return answer();
  };
}

const PAGES: Partial<Record<Fault, readonly [status: number, title: string]>> = {
  misrouted: [404, 'Not Found'],
  gatewayTimeout: [504, 'Gateway Timeout'],
};

function httpFailure(fault: Fault, request: HttpRequest): HttpResponse | undefined {
  if (fault === 'conflict') return undefined;
  if (fault === 'reset') throw lost(`${request.method}: Connection broke before the request arrived`);
  const refused = STATUSES[fault];
  if (refused !== undefined) return refusal(refused);
  const [status, title] = PAGES[fault] ?? [503, 'Service Unavailable'];
  return page(status, title);
}

function metadataOf(object: unknown) {
  return (object as { metadata: { name?: string; labels?: Readonly<Record<string, string>> } }).metadata;
}

/** Returns the names of a patch's fields for the trace, never their values. */
function keysOf(patch: unknown): string {
  return Object.entries(patch as Record<string, object>)
    .map(([key, value]) => (key === 'spec' ? key : `${key}{${Object.keys(value ?? {}).join()}}`))
    .join(' ');
}
