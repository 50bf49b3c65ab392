import { HttpError, type HttpTransport } from '../base/transport.ts';

/**
 * Limits the transport to `limit` requests that wait for their answers at a time; others wait for their turn, in order. None of
 * the request's timeouts includes that wait. Throws HttpError `aborted` if the request's signal ends the wait: it was not sent.
 */
export function limitedTransport(transport: HttpTransport, limit: number): HttpTransport {
  let free = limit;
  const waiting: (() => void)[] = [];
  const release = () => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };
  return async (request) => {
    if (free > 0) free--;
    else await turn(waiting, request.signal);
    try {
      return await transport(request);
    } finally {
      release();
    }
  };
}

function turn(waiting: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      const place = waiting.indexOf(admit);
      if (place >= 0) waiting.splice(place, 1);
      reject(new HttpError('aborted', 'It was canceled before it was sent'));
    };
    const admit = () => {
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    if (signal?.aborted) return leave();
    waiting.push(admit);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
