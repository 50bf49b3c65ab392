import { TerminalError } from '../../../base/errors.ts';
import { failureOf } from '../../../kube/failure.ts';
import type { ObjectKey } from '../../../kube/object.ts';
import type { Refusal } from '../../password-tries.ts';
import { writersInWords } from '../../secrets.ts';
import type { UserSubject } from '../observation.ts';

/** So many are made within this time. */
const MOST = 5;
const WITHIN_MS = 300_000;

/**
 * When a password that somebody else had taken out of its Secret was replaced. Each new one ends the sessions of the one before, so
 * whoever does that again and again, such as another controller, must not set the pace. Times are of the monotonic clock.
 */
export class Replacements {
  readonly #made = new Map<ObjectKey, { readonly generation: number; readonly times: readonly number[] }>();

  made(subject: Replaced, nowMs: number): void {
    const { generation = 0 } = subject.metadata;
    this.#made.set(subject.key, { generation, times: [...this.#timesOf(subject), nowMs].slice(-MOST) });
  }

  /** Undefined: another may be made now, as a person asks for a look, or there were few since the object was last changed. */
  pause(subject: Replaced & Pick<UserSubject, 'lookNow'>, secretName: string, nowMs: number): Refusal | undefined {
    const times = this.#timesOf(subject);
    const [first = nowMs] = times;
    const forMs = first + WITHIN_MS - nowMs;
    if (subject.lookNow || times.length < MOST || forMs <= 0) return undefined;
    const message = `The password in Secret "${secretName}" does not sign in, and Mooring has replaced it ${MOST} times within ${WITHIN_MS / 60_000} minutes, as somebody else changes or deletes it each time. Stop whatever that is: ${writersInWords(subject.metadata.namespace ?? '', secretName)}. It is replaced again a few minutes later`;
    return { failure: failureOf(new TerminalError('PasswordOverwritten', message)), forMs };
  }

  /** Those of another generation do not count: the server may have refused them for what a person has corrected since. */
  #timesOf({ key, metadata }: Replaced): readonly number[] {
    const made = this.#made.get(key);
    return made?.generation === (metadata.generation ?? 0) ? made.times : [];
  }

  forget(key: ObjectKey): void {
    this.#made.delete(key);
  }
}

type Replaced = Pick<UserSubject, 'key' | 'metadata'>;
