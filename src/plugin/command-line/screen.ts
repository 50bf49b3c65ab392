import stringWidth from 'string-width';
import { COLOUR, printable } from '../../base/printable.ts';
import { beginningOf } from './text.ts';

/** A terminal's window that is redrawn again and again. */
export interface Screen {
  /** Replaces what is shown with as much of the text as fits. `note` goes below it and is always shown. */
  draw(text: string, note?: string): void;
  /** Adds to what is said below everything; nothing: that is over. Returns false if nothing was drawn yet: then it is not shown. */
  say(text: string): boolean;
}

/** Moves to the top left, and clears everything below. */
const REDRAW = '\u001B[H\u001B[J';
/** Wraps no line at the window's width (DECAWM), even if it was made smaller just now: that would move everything below it. */
const [CUT, WRAP] = ['\u001B[?7l', '\u001B[?7h'];

/** The size of a window now; undefined or 0, for a terminal without a size: unknown. */
export interface WindowSize {
  readonly rows: number | undefined;
  readonly columns: number | undefined;
}

/** `coloured`: as for printable(). */
export function screenOn(write: (text: string) => void, size: () => WindowSize, coloured: boolean): Screen {
  let view: { readonly text: string; readonly note: string } | undefined;
  let said = '';
  const show = ({ text, note }: NonNullable<typeof view>) => {
    const { rows, columns } = size();
    const below = [note, said].map((each) => each.trimEnd()).filter((each) => each !== '');
    const lines = fitting(text, below.join('\n'), rows || Number.POSITIVE_INFINITY);
    const cut = printable(lines.join('\n'), coloured)
      .split('\n')
      .map((line) => cutLine(line, columns || Number.POSITIVE_INFINITY));
    write(`${REDRAW}${CUT}${cut.join('\n')}\n${WRAP}`);
  };
  return {
    draw(text, note = '') {
      view = { text, note };
      show(view);
    },
    say(text) {
      if (view === undefined) return false;
      const isOver = text === '';
      if (!isOver || said !== '') {
        said = isOver ? '' : said + text;
        show(view);
      }
      return true;
    },
  };
}

/** Terminals that do not wrap write the rest of a line over its last column. Styles stay, so that they end. */
function cutLine(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line;
  let room = columns - 1;
  return line
    .split(COLOUR)
    .map((part, index) => {
      if (index % 2 === 1 || part === '') return part;
      if (room < 0) return '';
      const shown = beginningOf(part, room);
      room = shown === part ? room - stringWidth(part) : -1;
      return shown === part ? part : `${shown}…`;
    })
    .join('');
}

/** The last row is left for the cursor. */
function fitting(text: string, note: string, rows: number): readonly string[] {
  const below = note === '' ? [] : ['', ...note.split('\n')].slice(2 - rows);
  const lines = text.trimEnd().split('\n');
  const room = Math.max(1, rows - 1 - below.length);
  if (lines.length <= room) return [...lines, ...below];
  const shown = lines.slice(0, room - 1);
  return [...shown, `… ${lines.length - shown.length} more lines do not fit into this window`, ...below];
}
