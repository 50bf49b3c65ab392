import { type Clock, sleep } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { HttpError } from '../base/http.ts';
import { instant } from '../base/instant.ts';
import { isBusy } from '../kube/api.ts';
import { INTERRUPTED } from './exit-code.ts';
import type { Screen } from './screen.ts';

/** A connection that broke, or a server that is busy or starts: asking again may help. An answer that is too large stays so. */
export function isPassing(error: unknown): boolean {
  if (error instanceof HttpError) return error.kind === 'unreachable' || error.kind === 'lost';
  return isBusy(error);
}

export interface WatchTools {
  readonly clock: Clock;
  /** Ctrl-C: it is how this ends. */
  readonly signal: AbortSignal;
  readonly stdout: (text: string) => void;
  /** What a person looks at; undefined: nobody does, and texts follow each other. */
  readonly screen: Screen | undefined;
}

const WATCH_MS = 2_000;

/**
 * Shows what `draw` returns, again and again until the signal aborts: then INTERRUPTED. An API server that goes away
 * meanwhile is asked until it is back; what was seen last stays. Rejects with what the first drawing failed of, and with
 * any failure that asking again does not mend.
 */
export async function watchDrawing(draw: () => Promise<string>, tools: WatchTools): Promise<number> {
  const { clock, signal, stdout, screen } = tools;
  const show = (text: string) => (screen === undefined ? stdout(text) : screen.draw(text));
  let last: string | undefined;
  let awaySince: string | undefined;
  while (!signal.aborted) {
    try {
      last = await draw();
      if (signal.aborted) break;
      show(last);
      awaySince = undefined;
    } catch (error) {
      if (signal.aborted) break;
      if (last === undefined || !isPassing(error)) throw error;
      const isNew = awaySince === undefined;
      awaySince ??= instant(clock.now());
      const line = `The API server does not answer since ${awaySince}, and is asked again every ${WATCH_MS / 1000} s: ${messageOf(error).trim()}\n`;
      // On a screen what was seen last stays above it; elsewhere once is enough.
      if (screen !== undefined) screen.draw(last, line);
      else if (isNew) stdout(line);
    }
    await sleep(clock, WATCH_MS, signal);
  }
  return INTERRUPTED;
}
