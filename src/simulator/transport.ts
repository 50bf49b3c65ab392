import type { Clock } from '../base/clock.ts';
import { HttpError, type HttpRequest, type HttpResponse, type HttpTransport } from '../base/transport.ts';
import type { Answer, Incoming } from './exchange/message.ts';
import type { Outcome } from './faults/effects.ts';

export type Handle = (request: Incoming, signal?: AbortSignal) => Promise<Outcome>;

/** The same timeouts as the real transport's. */
const DEFAULT_TIMEOUTS = { headersMs: 20_000, totalMs: 60_000 };
const CHUNK_BYTES = 64 * 1024;

/**
 * HTTP without a network: requests to the base URL and to server addresses are answered in process, time follows the given
 * clock, and failures become the same HttpErrors as over undici.
 */
export function createTransport(handle: Handle, clock: Clock): HttpTransport {
  return async (request) => {
    if (request.signal?.aborted) throw aborted(request);
    const url = new URL(request.url);
    const patience = new AbortController();
    const cancel = startTimer(request, clock, patience);
    const abort = () => patience.abort();
    request.signal?.addEventListener('abort', abort);
    try {
      const outcome = await handle(
        {
          authority: authorityOf(request.url),
          method: request.method,
          path: url.pathname + url.search,
          headers: { ...request.headers, host: url.host },
          body: request.body ?? '',
        },
        patience.signal,
      );
      return responseOf(request, outcome, patience.signal);
    } finally {
      cancel();
      request.signal?.removeEventListener('abort', abort);
    }
  };
}

/** As it is written, as addresses are: a URL leaves out a port that is the usual one, and upper case. */
function authorityOf(url: string): string {
  return /^\w+:\/\/([^/?#]*)/.exec(url)?.[1] ?? '';
}

function startTimer(request: HttpRequest, clock: Clock, patience: AbortController): () => void {
  const { headersMs, totalMs } = { ...DEFAULT_TIMEOUTS, ...request.timeouts };
  const limits = [headersMs, totalMs].filter((ms) => ms > 0);
  return limits.length === 0 ? () => undefined : clock.after(Math.min(...limits), () => patience.abort());
}

function responseOf(request: HttpRequest, outcome: Outcome, patience: AbortSignal): HttpResponse {
  const where = `${request.method} ${new URL(request.url).origin}`;
  if (request.signal?.aborted) throw aborted(request);
  if (patience.aborted) throw new HttpError('lost', `${where}: No complete answer in time`);
  switch (outcome.kind) {
    case 'refused':
      throw new HttpError('unreachable', `${where}: Connection refused (ECONNREFUSED)`);
    case 'reset':
      throw new HttpError('lost', `${where}: Connection broke (ECONNRESET)`);
    case 'answer':
      return {
        status: outcome.answer.status,
        headers: outcome.answer.headers,
        body: bodyOf(outcome.answer, outcome.breaksHalfway ? where : undefined),
      };
  }
}

async function* bodyOf(answer: Answer, breaksAt: string | undefined): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(answer.body, 'utf8');
  const end = breaksAt === undefined ? bytes.byteLength : Math.floor(bytes.byteLength / 2);
  for (let start = 0; start < end; start += CHUNK_BYTES)
    yield bytes.subarray(start, Math.min(start + CHUNK_BYTES, end));
  if (breaksAt !== undefined) throw new HttpError('lost', `${breaksAt}: Connection broke (ECONNRESET)`);
}

function aborted(request: HttpRequest): HttpError {
  return new HttpError('aborted', `${request.method} ${new URL(request.url).origin}: Aborted`);
}
