import { type Clock, sleep } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { instant } from '../base/instant.ts';
import { HttpError } from '../base/transport.ts';
import { isBusy } from '../kube/api.ts';
import { INTERRUPTED } from './command-line/exit-code.ts';
import type { Screen } from './command-line/screen.ts';

/** Reports whether asking again may help: a broken connection, or a busy or starting server. An answer too large stays so. */
export function isPassing(error: unknown): boolean {
  if (error instanceof HttpError) return error.kind === 'unreachable' || error.kind === 'lost';
  return isBusy(error);
}

export interface WatchTools {
  readonly clock: Clock;
  /** Aborted by Ctrl-C, which is how watching ends. */
  readonly signal: AbortSignal;
  readonly stdout: (text: string) => void;
  /** The window that a person looks at; undefined: there is none, and texts follow each other. */
  readonly screen: Pick<Screen, 'draw'> | undefined;
}

const WATCH_MS = 2_000;

/**
 * Shows what `draw` returns, again and again until the signal aborts, then returns INTERRUPTED. If the API server goes away
 * in between, it is asked until it is back, and the last view stays. Rejects if the first drawing fails, and with any failure
 * that retrying does not mend.
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
      const line = `The API server has not answered since ${awaySince}, and is tried again every ${WATCH_MS / 1000} s: ${messageOf(error).trim()}\n`;
      // On a screen the last view stays above the line; elsewhere printing it once is enough.
      if (screen !== undefined) screen.draw(last, line);
      else if (isNew) stdout(line);
    }
    await sleep(clock, WATCH_MS, signal);
  }
  return INTERRUPTED;
}
