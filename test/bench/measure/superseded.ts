import type { AnyObject } from '../../../src/kube/api.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { Status } from './tracker.ts';

/** A write that comes so soon after an edit was on its way already. */
const GRACE_MS = 50;

interface Seen {
  readonly status: string;
  readonly generation: number;
  /** Since when there is this generation. */
  readonly sinceMs: number;
}

/**
 * Counts status writes that came too late to matter: each tells of a generation that had not been the newest for a while. A
 * write is an event in which the status is not what it was in the one before.
 */
export class SupersededWrites {
  readonly #seen = new Map<string, Seen>();
  count = 0;

  /** Each object as it was written, in this order. */
  note(object: AnyObject, nowMs: number): void {
    const { metadata, status } = object as KubeObject<unknown, Status>;
    const { name, generation = 0 } = metadata;
    const before = this.#seen.get(name);
    const sinceMs = before?.generation === generation ? before.sinceMs : nowMs;
    const text = JSON.stringify(status);
    this.#seen.set(name, { status: text, generation, sinceMs });
    const wasWritten = before !== undefined && before.status !== text;
    if (wasWritten && (status?.observedGeneration ?? 0) < generation && nowMs - sinceMs >= GRACE_MS) this.count++;
  }
}
