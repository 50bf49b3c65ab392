import { printable } from '../base/printable.ts';

/** A terminal's window that is redrawn again and again. */
export interface Screen {
  /** Replaces what is shown with as much of the text as fits. `note` goes below it and is always shown. */
  draw(text: string, note?: string): void;
}

/** Moves to the top left, and clears everything below. */
const REDRAW = '\u001B[H\u001B[J';
/** Cuts lines at the window's width (DECAWM): a wrapped line would move everything below it. */
const [CUT, WRAP] = ['\u001B[?7l', '\u001B[?7h'];

/** `rows`: the window's height now; undefined or 0, for a terminal without a size: unknown. `coloured`: as for printable(). */
export function screenOn(write: (text: string) => void, rows: () => number | undefined, coloured: boolean): Screen {
  return {
    draw(text, note = '') {
      const lines = fitting(text, note, rows() || Number.POSITIVE_INFINITY);
      write(`${REDRAW}${CUT}${printable(lines.join('\n'), coloured)}\n${WRAP}`);
    },
  };
}

/** The last row is left for the cursor. */
function fitting(text: string, note: string, rows: number): readonly string[] {
  const below = note === '' ? [] : ['', ...note.trimEnd().split('\n')];
  const lines = text.trimEnd().split('\n');
  const room = Math.max(1, rows - 1 - below.length);
  if (lines.length <= room) return [...lines, ...below];
  const shown = lines.slice(0, room - 1);
  return [...shown, `… ${lines.length - shown.length} more lines do not fit into this window`, ...below];
}
