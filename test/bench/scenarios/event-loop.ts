import type { Sheet } from '../figure.ts';
import { percentile } from '../measure/percentile.ts';
import type { EventLoop } from '../operator.ts';

const BLOCK_TARGET_MS = 50;

/** `eventLoop` undefined: not known. `indent`: precedes the names, if they are part of something. */
export function addEventLoop(sheet: Sheet, eventLoop: EventLoop | undefined, indent = ''): void {
  if (eventLoop === undefined) return;
  sheet.add(`${indent}event loop, longest block`, eventLoop.longestMs, 'ms', BLOCK_TARGET_MS);
  sheet.add(`${indent}  without waits for a core`, eventLoop.longestOwnMs, 'ms');
}

/** Adds the garbage collector's share of these blocks. */
export function addPauses(sheet: Sheet, pausesMs: readonly number[], indent = ''): void {
  const at = (share: number) => (pausesMs.length === 0 ? 0 : percentile(pausesMs, share));
  sheet.add(`${indent}garbage collector, pauses`, pausesMs.length, 'count');
  sheet.add(`${indent}  p99`, at(0.99), 'ms');
  sheet.add(`${indent}  longest`, at(1), 'ms');
}
