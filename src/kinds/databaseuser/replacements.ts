import { TerminalError } from '../../base/errors.ts';
import { failureOf } from '../../kube/failure.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { Refusal } from '../password-tries.ts';

/** So many are made within this time. */
const MOST = 5;
const WITHIN_MS = 300_000;

/**
 * When a password that somebody else had taken out of its Secret was replaced. Each new one ends the sessions of the one before, so
 * whoever does that again and again, such as another controller, must not set the pace. Times are of the monotonic clock.
 */
export class Replacements {
  readonly #times = new Map<ObjectKey, readonly number[]>();

  made(key: ObjectKey, nowMs: number): void {
    this.#times.set(key, [...(this.#times.get(key) ?? []), nowMs].slice(-MOST));
  }

  /** Undefined: another may be made now, as a person asks for a look or there were few. */
  pause(
    { key, lookNow }: { readonly key: ObjectKey; readonly lookNow: boolean },
    secretName: string,
    nowMs: number,
  ): Refusal | undefined {
    const times = this.#times.get(key) ?? [];
    const [first = nowMs] = times;
    const forMs = first + WITHIN_MS - nowMs;
    if (lookNow || times.length < MOST || forMs <= 0) return undefined;
    const message = `The password in Secret "${secretName}" does not sign in, and Mooring has replaced it ${MOST} times within ${WITHIN_MS / 60_000} minutes, as somebody else changes or deletes it each time: find out who does. It is replaced again a few minutes later`;
    return { failure: failureOf(new TerminalError('PasswordOverwritten', message)), forMs };
  }

  forget(key: ObjectKey): void {
    this.#times.delete(key);
  }
}
