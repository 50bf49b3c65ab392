import { get } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Probe {
  readonly url: string;
  readonly certificates: string;
  readonly token?: string;
}

const ANSWER_TIMEOUT_MS = 2_000;

/** Reports whether a GET answers 200 in time. Never rejects. */
export function answers({ url, certificates, token }: Probe): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const request = get(url, { ca: certificates, headers, agent: false, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200));
      response.on('error', () => resolve(false));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

export interface Wait {
  readonly what: string;
  readonly timeoutMs: number;
  readonly pollMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Polls until `check` is true. Rejects if that takes too long, `signal` aborts, or `check` throws. */
export async function until(check: () => boolean | Promise<boolean>, wait: Wait): Promise<void> {
  const { what, timeoutMs, pollMs = 25, signal } = wait;
  const deadline = performance.now() + timeoutMs;
  while (!(await check())) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) throw new Error(`Timed out after ${timeoutMs / 1000} s: ${what}`);
    await sleep(pollMs);
  }
}
