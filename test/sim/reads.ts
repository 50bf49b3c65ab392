import { HttpError, type HttpRequest, type HttpResponse } from '../../src/base/http.ts';

/** What goes wrong at one look: a GET to the cloud or to a server. */
export const READ_FAULTS = {
  unauthorized: 'it is answered 401, as if the token had ended',
  forbidden: 'it is answered 403',
  throttled: 'it is answered 429, with Retry-After: 30',
  truncated: 'the answer ends halfway, as if that were all',
  hang: 'no answer comes for 20 s',
} as const;

export type ReadFault = keyof typeof READ_FAULTS;

export const READ_FAULT_NAMES = Object.keys(READ_FAULTS) as readonly ReadFault[];

/** A look, counted from 1 over all processes. */
export interface Read {
  readonly index: number;
  /** Such as `GET /v1/users`. */
  readonly what: string;
  /** So many effects came before it. */
  readonly after: number;
}

export interface ReadStrike {
  readonly at: number;
  readonly fault: ReadFault;
}

/** As long as the real transport waits. */
const PATIENCE_MS = 20_000;
const STATUSES: Partial<Record<ReadFault, number>> = { unauthorized: 401, forbidden: 403, throttled: 429 };

/** The answer that comes of it. `pause` lets time pass. */
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
  const status = STATUSES[fault];
  if (status === undefined) {
    const answer = await send();
    return { ...answer, body: halfOf(answer.body) };
  }
  const headers = fault === 'throttled' ? { 'retry-after': '30' } : {};
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: halfOf([]) };
}

async function* halfOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  yield whole.subarray(0, Math.floor(whole.byteLength / 2));
}

/** Those to strike: of looks of one sort in a row, as while something is waited for, the first and the last stand for all. */
export function worthStriking(reads: readonly Read[]): readonly Read[] {
  const isLike = ({ what, after }: Read, other: Read | undefined) => other?.what === what && other.after === after;
  return reads.filter((read, at) => !isLike(read, reads[at - 1]) || !isLike(read, reads[at + 1]));
}
