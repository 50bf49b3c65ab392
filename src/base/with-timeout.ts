import type { Clock } from './clock.ts';

/** Returns what `work` gives. If that takes longer than `limitMs`, or `signal` aborts, rejects and aborts the signal given to `work`. */
export async function withTimeout<T>(
  clock: Clock,
  limitMs: number,
  work: (limit: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const given = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(new Error('No answer in time')), { once: true });
  });
  const end = () => over.abort();
  signal?.addEventListener('abort', end, { once: true });
  const cancel = clock.after(limitMs, end);
  try {
    return await Promise.race([work(over.signal), given]);
  } catch (error) {
    // One part of the work may have failed while another is running.
    end();
    throw error;
  } finally {
    cancel();
    signal?.removeEventListener('abort', end);
  }
}
