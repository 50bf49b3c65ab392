import type { Clock } from '../../src/base/clock.ts';
import { HttpError, type HttpRequest, type HttpResponse, type HttpTransport } from '../../src/base/http.ts';
import { type KubeApi, KubeError, type WatchEvent } from '../../src/kube/api.ts';

/** What goes wrong at one effect. */
export const FAULTS = [
  'crashBefore',
  'crashAfter',
  'lostAnswer',
  'serverError',
  'reset',
  'conflict',
  'stale',
  'outage',
  'edit',
  'delete',
] as const;
export type Fault = (typeof FAULTS)[number];

/** An effect: a write to the Kubernetes API, or an HTTP request that is not a GET. */
export interface Effect {
  readonly index: number;
  readonly to: 'kube' | 'http';
  /** Such as `patch databaseclusters/orders status` or `POST /api/v1/...`. */
  readonly what: string;
}

/** What the world does around each effect of the process. */
export interface Watcher {
  /** Called before the effect; what it answers goes wrong with this effect. */
  before(effect: Omit<Effect, 'index'>): Promise<Fault | undefined>;
  after(): void;
  /** The process ends at once: nothing that it still does takes effect. */
  crash(): void;
  /** Milliseconds for which events of watches are held back now. */
  heldMs(): number;
  cloudIsOut(): boolean;
}

/** The seams of one process, until it is killed: from then on its calls have no effect and never end. */
export interface Process {
  alive: boolean;
}

const never = () => new Promise<never>(() => {});

/** Carries out one effect, with what goes wrong with it. */
async function carryOut<T>(
  process: Process,
  watcher: Watcher,
  effect: Omit<Effect, 'index'>,
  work: () => Promise<T>,
  failure: (fault: Fault) => T | undefined,
): Promise<T> {
  if (!process.alive) return never();
  const fault = await watcher.before(effect);
  // Meanwhile another effect of this process may have been the one to end it.
  if (!process.alive) return never();
  if (fault === 'crashBefore') {
    watcher.crash();
    return never();
  }
  if (fault === 'serverError' || fault === 'conflict' || fault === 'reset') {
    const failed = failure(fault);
    if (failed !== undefined) return failed;
  }
  try {
    const answer = await work();
    watcher.after();
    if (fault === 'crashAfter') watcher.crash();
    if (process.alive && fault === 'lostAnswer') throw new HttpError('lost', 'The answer was lost');
    return process.alive ? answer : never();
  } catch (error) {
    if (!process.alive) return never();
    throw error;
  }
}

function kubeFailure(fault: Fault): never {
  if (fault === 'reset') throw new HttpError('lost', 'Connection broke before the request arrived');
  if (fault === 'conflict')
    throw new KubeError('the object has been modified; please apply your changes to the latest version', {
      status: 409,
      reason: 'Conflict',
    });
  throw new KubeError('etcdserver: leader changed', { status: 500, reason: 'InternalError' });
}

export function faultyApi(api: KubeApi, process: Process, watcher: Watcher, clock: Clock): KubeApi {
  const write = <T>(what: string, work: () => Promise<T>) =>
    carryOut(process, watcher, { to: 'kube', what }, work, (fault) =>
      fault === 'conflict' && !what.startsWith('patch') ? undefined : kubeFailure(fault),
    );
  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!process.alive) return never();
    const answer = await work();
    return process.alive ? answer : never();
  };
  return {
    get: (resource, ref) => read(() => api.get(resource, ref)),
    list: (resource, options) => read(() => api.list(resource, options)),
    watch: (resource, options, signal) => held(api.watch(resource, options, signal), process, watcher, clock),
    create: (resource, namespace, object) =>
      write(`create ${resource.plural}/${nameOf(object)}`, () => api.create(resource, namespace, object)),
    patch: (resource, ref, patch, options) =>
      write(`patch ${resource.plural}/${ref.name} ${options?.subresource ?? ''} ${keysOf(patch)}`, () =>
        api.patch(resource, ref, patch, options),
      ),
    delete: (resource, ref, preconditions) =>
      write(`delete ${resource.plural}/${ref.name}`, () => api.delete(resource, ref, preconditions)),
  };
}

async function* held(events: AsyncIterable<WatchEvent>, process: Process, watcher: Watcher, clock: Clock) {
  for await (const event of events) {
    const ms = watcher.heldMs();
    if (ms > 0) await new Promise<void>((resolve) => clock.after(ms, resolve));
    if (!process.alive) await never();
    yield event;
  }
}

export function faultyTransport(transport: HttpTransport, process: Process, watcher: Watcher): HttpTransport {
  return async (request) => {
    if (!process.alive) return never();
    const { origin, pathname } = new URL(request.url);
    const send = async () => {
      if (watcher.cloudIsOut()) throw new HttpError('unreachable', `${request.method} ${origin}: ECONNREFUSED`);
      return transport(request);
    };
    if (request.method === 'GET') {
      const answer = await send().catch((error: unknown) => (process.alive ? Promise.reject(error) : never()));
      return process.alive ? answer : never();
    }
    const what = `${request.method} ${pathname}`;
    return carryOut(process, watcher, { to: 'http', what }, send, (fault) => httpFailure(fault, request));
  };
}

function httpFailure(fault: Fault, request: HttpRequest): HttpResponse | undefined {
  if (fault === 'conflict') return undefined;
  if (fault === 'reset') throw new HttpError('lost', `${request.method}: Connection broke before the request arrived`);
  return { status: 503, headers: { 'content-type': 'text/html' }, body: textOf('<h1>Service Unavailable</h1>') };
}

async function* textOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function nameOf(object: unknown): string {
  const { metadata } = object as { metadata: { name?: string } };
  return metadata.name ?? '';
}

/** Which fields a patch has, for the trace: never their values. */
function keysOf(patch: unknown): string {
  return Object.entries(patch as Record<string, object>)
    .map(([key, value]) => (key === 'spec' ? key : `${key}{${Object.keys(value ?? {}).join()}}`))
    .join(' ');
}
