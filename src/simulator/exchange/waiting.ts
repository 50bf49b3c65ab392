import { aborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Wait } from './message.ts';

/** Resolves when the wait is over, or the client has gone. */
export function waitFor(clock: Clock, wait: Wait, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      unwatch?.();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(Math.max(0, wait.untilMs - clock.now()), done);
    const unwatch = wait.wake?.(done);
    signal?.addEventListener('abort', done);
  });
}

/** Resolves when the client has gone; without a signal, never. */
export function untilGone(signal: AbortSignal | undefined): Promise<void> {
  return signal === undefined ? new Promise(() => {}) : aborted(signal);
}
