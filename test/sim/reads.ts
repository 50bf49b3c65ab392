import { HttpError, type HttpRequest, type HttpResponse } from '../../src/base/transport.ts';
import { KubeError } from '../../src/kube/api.ts';
import type { Fault } from './faults.ts';

/** What goes wrong at one look: a GET to the cloud or to a server, or a get or list of the Kubernetes API. */
export const READ_FAULTS = {
  unauthorized: 'the answer is 401, as if the token had expired',
  forbidden: 'the answer is 403',
  throttled: 'the answer is 429 with Retry-After: 30',
  failing: 'the answer is 500',
  misrouted: 'a router in front of the other side answers 404 with a page',
  truncated: 'the answer ends halfway, as if that were all',
  misshapen: 'the answer has numbers where names belong',
  hang: 'no answer comes for 20 s, or for 30 s from the Kubernetes API',
  missing: 'the answer is 404 or an empty List, as from a replica that is behind',
  missingTwice: 'the answer is 404, and so is the next one to the same request',
} as const;

export type ReadFault = keyof typeof READ_FAULTS;

export const READ_FAULT_NAMES = Object.keys(READ_FAULTS) as readonly ReadFault[];

/** Not for the API server: its gets are never behind, and it checks what it stores. */
const HTTP_ONLY: ReadonlySet<ReadFault> = new Set<ReadFault>(['misrouted', 'misshapen', 'missing', 'missingTwice']);

/** The faults of each side. HTTP servers that fail are played with effects, and in flaky weather. */
export const READ_FAULTS_OF: Readonly<Record<Read['to'], readonly ReadFault[]>> = {
  http: READ_FAULT_NAMES.filter((name) => name !== 'failing'),
  kube: READ_FAULT_NAMES.filter((name) => !HTTP_ONLY.has(name)),
};

/**
 * Reports whether the fault at this look differs from other faults there. A List that lies twice looks like the truth, and a 404
 * page does the same as an answer of 404.
 */
export function strikesRead({ to, what }: Pick<Read, 'to' | 'what'>, fault: ReadFault): boolean {
  if (!READ_FAULTS_OF[to].includes(fault)) return false;
  if (fault === 'misrouted') return EMPTY_LISTS.some(([path]) => path.test(what));
  return fault !== 'missingTwice' || /\/clusters\/[^/]+$/.test(what);
}

/** A look. Looks are counted from 1 over all processes. */
export interface Read {
  readonly index: number;
  readonly to: 'kube' | 'http';
  /** Such as `GET /v1/users` or `get secrets/orders-admin`. */
  readonly what: string;
  /** How many effects came before it. */
  readonly after: number;
}

export interface ReadStrike {
  readonly at: number;
  readonly fault: ReadFault;
}

/** How long the real transport waits. */
const PATIENCE_MS = 20_000;
/** How long the real client of the Kubernetes API waits. */
const KUBE_PATIENCE_MS = 30_000;
const AFTER_SECONDS = 30;
/** For effects as well. */
export const STATUSES: Readonly<Partial<Record<ReadFault | Fault, number>>> = {
  unauthorized: 401,
  forbidden: 403,
  throttled: 429,
  failing: 500,
};
const KUBE_REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'TooManyRequests',
  500: 'InternalError',
};

/** Lists exist as long as their parent does, however old they are. They are empty instead of 404. */
const EMPTY_LISTS: readonly (readonly [path: RegExp, body: string])[] = [
  [/\/clusters$/, '[]'],
  [/\/v1\/users$/, '{"users":[]}'],
  [/\/v1\/databases$/, '{"databases":[]}'],
];

function missing(request: HttpRequest): HttpResponse {
  const { pathname } = new URL(request.url);
  const empty = EMPTY_LISTS.find(([path]) => path.test(pathname))?.[1];
  const body = empty ?? '{"code":"NOT_FOUND","message":"There is no such thing"}';
  const headers = { 'content-type': 'application/json' };
  return { status: empty === undefined ? 404 : 200, headers, body: textOf(body) };
}

async function* textOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Returns the answer under this fault. `pause` lets time pass. */
export async function answerWith(
  fault: ReadFault,
  request: HttpRequest,
  send: () => Promise<HttpResponse>,
  pause: (ms: number) => Promise<void>,
): Promise<HttpResponse> {
  if (fault === 'hang') {
    await pause(request.timeouts?.headersMs ?? PATIENCE_MS);
    throw new HttpError('lost', `${request.method}: No complete answer in time`);
  }
  if (fault === 'missing' || fault === 'missingTwice') return missing(request);
  if (fault === 'misrouted') return page(404, 'Not Found');
  const status = STATUSES[fault];
  if (status === undefined) {
    const answer = await send();
    if (fault === 'misshapen') return { ...answer, body: misshapen(answer.body) };
    const isJSON = answer.headers['content-type']?.includes('json') ?? false;
    return { ...answer, body: isJSON ? halfOf(answer.body) : brokenOff(answer.body) };
  }
  return refusal(status);
}

/** An HTML page, as from a proxy in front of the other side. */
export function page(status: number, title: string): HttpResponse {
  return { status, headers: { 'content-type': 'text/html' }, body: textOf(`<h1>${title}</h1>`) };
}

/** A refusal: nothing was done. */
export function refusal(status: number): HttpResponse {
  const headers = status === STATUSES.throttled ? { 'retry-after': String(AFTER_SECONDS) } : {};
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: halfOf([]) };
}

/** Throws what the real client of the Kubernetes API would. A 401 remains a 401: the client has asked twice by then. */
export async function kubeAnswerWith(
  fault: ReadFault,
  what: string,
  pause: (ms: number) => Promise<void>,
): Promise<never> {
  const status = STATUSES[fault];
  if (status !== undefined) throw refusalOf(what, status);
  if (fault === 'hang') await pause(KUBE_PATIENCE_MS);
  throw new HttpError(
    'lost',
    `Cannot ${what}: ${fault === 'hang' ? 'No complete answer in time' : 'Answer is not JSON'}`,
  );
}

/** The same for the Kubernetes API. */
export function refusalOf(what: string, status: number): KubeError {
  const retryAfterMs = status === STATUSES.throttled ? AFTER_SECONDS * 1000 : undefined;
  return new KubeError(`Cannot ${what}: HTTP ${status}`, { status, reason: KUBE_REASONS[status] ?? '', retryAfterMs });
}

/** Half of a plain text may be a text as well. But the transport knows how long it should be. */
async function* brokenOff(body: HttpResponse['body']): AsyncGenerator<Uint8Array> {
  yield* halfOf(body);
  throw new HttpError('lost', 'The connection broke before the whole answer had arrived');
}

export async function* halfOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const whole = await wholeOf(body);
  yield whole.subarray(0, Math.floor(whole.byteLength / 2));
}

const NAMES: ReadonlySet<string> = new Set(['id', 'username', 'name']);

async function* misshapen(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const text = (await wholeOf(body)).toString('utf8');
  yield Buffer.from(JSON.stringify(JSON.parse(text, (key, value: unknown) => (NAMES.has(key) ? 17 : value))));
}

async function wholeOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Returns the looks to strike. Where a look repeats in a row, as in a wait, the first and the last stand for all. Looks at the
 * Kubernetes API take turns: there it is the first and the last between two effects.
 */
export function worthStriking(reads: readonly Read[]): readonly Read[] {
  const http = reads.filter(({ to }) => to === 'http');
  const kube = reads.filter(({ to }) => to === 'kube');
  const inRows = http.filter((read, at) => !isLike(read, http[at - 1]) || !isLike(read, http[at + 1]));
  const betweenEffects = kube.filter((read) => {
    const ends = [kube.find((other) => isLike(read, other)), kube.findLast((other) => isLike(read, other))];
    return ends.includes(read);
  });
  return [...inRows, ...betweenEffects];
}

function isLike({ what, after }: Read, other: Read | undefined): boolean {
  return other?.what === what && other.after === after;
}
