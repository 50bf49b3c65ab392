import { MAX_TIMER_MS } from './clock.ts';

/**
 * A signal that aborts with the caller's, or when time is over. It ends with the exchange: signals and timers that run out by
 * themselves pile up by the thousand.
 */
export function startLimit(totalMs: number, caller: AbortSignal | undefined) {
  const controller = new AbortController();
  let over = false;
  const onTime = () => {
    over = true;
    controller.abort();
  };
  const onCaller = () => controller.abort(caller?.reason);
  const timer = totalMs > 0 ? setTimeout(onTime, Math.min(totalMs, MAX_TIMER_MS)) : undefined;
  if (caller?.aborted) onCaller();
  caller?.addEventListener('abort', onCaller, { once: true });
  return {
    signal: controller.signal,
    isOver: () => over,
    end: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onCaller);
    },
  };
}

/**
 * Rejects when the signal aborts, unless the request is sent by then. undici itself notices only when the request's turn has come: it
 * waits for a connection first.
 */
export function abortedUnsent(signal: AbortSignal, isSent: () => boolean): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => isSent() || reject(signal.reason), { once: true });
  });
}
