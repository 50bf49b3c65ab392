import { printable } from '../base/printable.ts';

/** A terminal's window, drawn over again and again. */
export interface Screen {
  /** Shows the text in place of what was there, as much of it as fits. `note`: below it, and always shown. */
  draw(text: string, note?: string): void;
}

/** Moves to the top left, and clears what is below. */
const REDRAW = '\u001B[H\u001B[J';
/** What is wider than the window is cut there (DECAWM), for a line that goes on in the next one moves all below it. */
const [CUT, WRAP] = ['\u001B[?7l', '\u001B[?7h'];

/** `rows`: of the window now; undefined, or 0, as of a terminal that nobody gave a size: not known. `coloured`: as for printable(). */
export function screenOn(write: (text: string) => void, rows: () => number | undefined, coloured: boolean): Screen {
  return {
    draw(text, note = '') {
      const lines = fitting(text, note, rows() || Number.POSITIVE_INFINITY);
      write(`${REDRAW}${CUT}${printable(lines.join('\n'), coloured)}\n${WRAP}`);
    },
  };
}

/** The last row is the cursor's. */
function fitting(text: string, note: string, rows: number): readonly string[] {
  const below = note === '' ? [] : ['', ...note.trimEnd().split('\n')];
  const lines = text.trimEnd().split('\n');
  const room = Math.max(1, rows - 1 - below.length);
  if (lines.length <= room) return [...lines, ...below];
  const shown = lines.slice(0, room - 1);
  return [...shown, `… ${lines.length - shown.length} more lines, for which this window is too low`, ...below];
}
