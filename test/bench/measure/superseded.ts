import type { AnyObject } from '../../../src/kube/api.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { Status } from './tracker.ts';

/** A write this soon after an edit was already on its way. */
const GRACE_MS = 50;

interface Seen {
  readonly status: string;
  readonly generation: number;
  /** When this generation was first seen. */
  readonly sinceMs: number;
}

/**
 * Counts status writes that came too late to matter, for a generation that had been superseded for a while. An event counts as
 * a write if the status differs from that of the event before.
 */
export class SupersededWrites {
  readonly #seen = new Map<string, Seen>();
  count = 0;

  /** Must be called with each object as it was written, in order. */
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
