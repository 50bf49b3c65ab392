import { type Clock, sleep } from '../base/clock.ts';
import { type HttpResponse, type HttpTransport, readText } from '../base/transport.ts';
import { retryAfterMs } from '../http/retry-after.ts';

/** As in client-go. */
const TRIES = 10;
/** A person is told of a longer one instead. */
const LONGEST_PAUSE_MS = 10_000;
const MAX_ERROR_BYTES = 1 << 20;

/** Sends a request again if the answer says when to: an API server that is busy or starting takes none of what it puts off. */
export function patientTransport(transport: HttpTransport, clock: Clock): HttpTransport {
  return async (request) => {
    for (let tried = 1; ; tried++) {
      const response = await transport(request);
      const pauseMs = pauseAfter(response, clock.now());
      if (pauseMs === undefined || tried === TRIES) return response;
      // Which frees the connection.
      await readText(response, MAX_ERROR_BYTES);
      await sleep(clock, pauseMs, request.signal);
    }
  };
}

function pauseAfter({ status, headers }: HttpResponse, nowMs: number): number | undefined {
  const pauseMs = status === 429 || status >= 500 ? retryAfterMs(headers, nowMs) : undefined;
  return pauseMs !== undefined && pauseMs <= LONGEST_PAUSE_MS ? pauseMs : undefined;
}
