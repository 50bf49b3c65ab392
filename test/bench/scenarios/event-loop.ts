import type { Sheet } from '../figure.ts';
import type { EventLoop } from '../operator.ts';

const BLOCK_TARGET_MS = 50;

/** `eventLoop` undefined: nobody knows. `indent`: of the names, where they are part of something. */
export function addEventLoop(sheet: Sheet, eventLoop: EventLoop | undefined, indent = ''): void {
  if (eventLoop === undefined) return;
  sheet.add(`${indent}event loop, longest block`, eventLoop.longestMs, 'ms', BLOCK_TARGET_MS);
  sheet.add(`${indent}  without waits for a core`, eventLoop.longestOwnMs, 'ms');
}
